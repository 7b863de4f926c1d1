"""The flat table `columns`: what mentions, lineage, rules and descriptions know about each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from colline.flat.arrow_values import NULL, Extremes, as_times, member, one_array, rank_texts, unnest
from colline.flat.canonical_ids import CanonicalColumns, CanonicalDatasets
from colline.flat.dataset_schemas import removal_times, schema_history
from colline.flat.flat_edges import StoredEdges
from colline.flat.integer_arrays import Integers, dense_ranks, take_integers
from colline.flat.observed_mentions import ObservedMentions
from colline.flat.tag_lists import tag_lists, tags_in


@dataclass(frozen=True)
class Lake:
    """The parts of a lake that columns and datasets are derived from."""

    datasets: CanonicalDatasets
    columns: CanonicalColumns
    edges: StoredEdges
    mentions: ObservedMentions
    descriptions: pa.Table


@dataclass(frozen=True)
class MentionedColumns:
    """The columns in the schemas of mentions, one row for each mention and column."""

    place: Integers  # number of the column
    mention: Integers
    ordinal: Integers
    name: pa.ChunkedArray
    type: pa.ChunkedArray
    tags: pa.ChunkedArray
    description: pa.ChunkedArray


def _mentioned_columns(lake: Lake) -> MentionedColumns:
    rows, ordinal, found = unnest(lake.mentions.table, "columns")
    place = lake.columns.index.places_of(member(found, "column_id"))
    keep = np.flatnonzero((place >= 0) & ~lake.mentions.has("lifecycle", "DROP")[rows])
    parts = (member(found, part).take(pa.array(keep)) for part in ("name", "type", "tags", "description"))
    return MentionedColumns(place[keep], rows[keep], ordinal[keep], *parts)


def flat_columns(lake: Lake) -> dict[str, Any]:
    """The columns of the flat table, one row per column that was observed."""
    columns, datasets, found = lake.columns, lake.datasets, _mentioned_columns(lake)
    times = _times(lake, found)
    newest = _newest_mentions(lake, found)
    spelled = pc.coalesce(_take(found.name, newest), columns.field.take(columns.field.ranks))
    keys = [str(text).lower() for text in spelled.to_pylist()]
    removed = removal_times(schema_history(lake.mentions), lake.mentions, columns, times.last, keys=keys)
    owner = np.asarray(datasets.reported.places_of(pa.chunked_array([pa.array(datasets.ids)])))[columns.dataset]
    out = {
        "id": pa.array(columns.ids),
        "dataset_id": pa.array(datasets.ids[columns.dataset]),
        "kind": pc.if_else(pc.equal(spelled, "*"), "rows", "column"),
        "namespace": pa.array(datasets.namespaces, pa.string()).take(pa.array(owner, mask=owner < 0)),
        "name": pa.array(datasets.names, pa.string()).take(pa.array(owner, mask=owner < 0)),
        "field": spelled,
        "type": _take(found.type, newest),
        "ordinal": pa.array(take_integers(found.ordinal, newest), mask=newest == NULL),
        "tags": _tags(lake, found, keys),
        "first_seen": as_times(times.first),
        "last_seen": as_times(times.last),
        "removed_at": as_times(removed),
        "description": newest_texts(
            found.description, found.place, lake.mentions.last[found.mention], len(columns.ids)
        ),
        "expression": _expressions(lake),
    }
    seen = pa.array(np.flatnonzero(times.is_seen))
    return {name: values.take(seen) for name, values in out.items()}


def _times(lake: Lake, found: MentionedColumns) -> Extremes:
    """First and last time of each column: as part of a schema, as source and as target of lineage."""
    times = Extremes(len(lake.columns.ids))
    times.add(found.place, lake.mentions.first[found.mention], lake.mentions.last[found.mention])
    edges = lake.edges
    of_fingerprint = lake.mentions.fingerprint_times(len(edges.fingerprints))
    fingerprint = np.repeat(np.arange(len(edges.fingerprints)), np.diff(edges.start))
    for side in (edges.source, edges.target):
        rows = np.flatnonzero((side >= 0) & of_fingerprint.is_seen[fingerprint])
        times.add(side[rows], of_fingerprint.first[fingerprint[rows]], of_fingerprint.last[fingerprint[rows]])
    return times


def _newest_mentions(lake: Lake, found: MentionedColumns) -> Integers:
    """The row of the newest mention of each column, which decides its type, position and spelling."""
    types, names = rank_texts(found.type).ranks, rank_texts(found.name).ranks
    order = np.argsort(dense_ranks(lake.mentions.last[found.mention], types, found.ordinal, names))
    out = np.full(len(lake.columns.ids), NULL, np.int64)
    out[found.place[order]] = order  # the last one remains
    return out


def newest_texts(texts: pa.ChunkedArray, places: Integers, times: Integers, count: int) -> pa.Array:
    """The newest text of each of `count` objects; null without one."""
    found = rank_texts(texts)
    rows = np.flatnonzero((places >= 0) & (found.ranks >= 0))
    order = rows[np.argsort(dense_ranks(times[rows], found.ranks[rows]))]
    newest = np.full(count, NULL, np.int64)
    newest[places[order]] = order  # the last one remains
    return _take(texts, newest)


def _expressions(lake: Lake) -> pa.Array:
    """The value of each column that is derived from no column, where events report it."""
    rows, _, found = unnest(lake.mentions.table, "expressions")
    places = lake.columns.index.places_of(member(found, "column_id"))
    return newest_texts(member(found, "text"), places, lake.mentions.last[rows], len(lake.columns.ids))


def _take(column: pa.ChunkedArray, rows: Integers) -> pa.Array:
    """The values of a column at some rows; null where the row is -1."""
    return one_array(column).take(pa.array(rows, mask=rows == NULL))


def _tags(lake: Lake, found: MentionedColumns, keys: list[str]) -> pa.Array:
    """The tags of each column by events, rules and descriptions."""
    described = lake.descriptions.filter(pc.is_valid(lake.descriptions.column("column")))
    places = _described_columns(lake, described, keys) if described.num_rows else np.empty(0, np.int64)
    sources = (tags_in(found.tags, found.place), lake.columns.tags, tags_in(described.column("tags"), places))
    return tag_lists(sources, len(lake.columns.ids))


def _described_columns(lake: Lake, described: pa.Table, keys: list[str]) -> Integers:
    """The number of the column that each description is about; -1 if there is no such column."""
    numbers = {name: number for number, name in enumerate(dataset_names(lake.datasets))}
    pairs = zip(lake.columns.dataset.tolist(), keys, strict=True)
    place_of = {pair: place for place, pair in enumerate(pairs)}
    rows = described.select(["namespace", "name", "column"]).to_pylist()
    found = ((numbers.get((row["namespace"], row["name"]), -1), row["column"].lower()) for row in rows)
    return np.array([place_of.get(pair, -1) for pair in found], np.int64)


def dataset_names(datasets: CanonicalDatasets) -> list[tuple[str, str]]:
    """Namespace and name of each canonical dataset, by its number."""
    rows = datasets.reported.places_of(pa.chunked_array([pa.array(datasets.ids)])).tolist()
    return [(datasets.namespaces[row], datasets.names[row]) if row >= 0 else ("", "") for row in rows]
