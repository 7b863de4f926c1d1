"""The flat table `datasets`: what mentions, lineage, rules and descriptions know about each dataset."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from colline.flat.arrow_values import Extremes, as_lists, as_times, member, one_array, rank_texts, unnest
from colline.flat.dataset_schemas import schema_history
from colline.flat.flat_columns import Lake, dataset_names, newest_texts
from colline.flat.integer_arrays import UNKNOWN, Integers, order_by, starts_of_groups
from colline.flat.tag_lists import tag_lists, tags_in
from colline.lake.flat_shapes import FLAT_DATASETS
from colline.lake.table_reader import arrow_schema

KINDS = ("OTHER", "FILE", "JDBC", "TOPIC", "TABLE", "VIEW")  # a later one takes precedence
_KEPT_SCHEMAS = 100


def flat_datasets(lake: Lake) -> pa.Table:
    """One row per dataset that was observed, and one per alias that was observed under its own name."""
    datasets, mentions = lake.datasets, lake.mentions
    count = len(datasets.ids)
    reads = _reads_of_lineage(lake)
    seen = Extremes(count)
    seen.add(mentions.dataset, mentions.first, mentions.last)
    seen.add(datasets.number[reads[0]], reads[1], reads[2])
    names = dataset_names(datasets)
    descriptions = _descriptions(lake, names)
    owners = _owners(lake, reads[0])
    out = {
        "id": pa.array(datasets.ids),
        "namespace": pa.array([namespace for namespace, _ in names], pa.string()),
        "name": pa.array([name for _, name in names], pa.string()),
        "kind": _kinds(lake),
        "layer": _with_descriptions(_rule(lake, "layer"), descriptions, "layer"),
        "owner": _with_descriptions(owners, descriptions, "owner"),
        "domain": _with_descriptions(_rule(lake, "domain"), descriptions, "domain"),
        "symlinks": _symlinks(lake),
        "tags": _tags(lake, names),
        "first_seen": as_times(seen.first),
        "last_seen": as_times(seen.last),
        **_usage_times(lake, reads[0], reads[2]),
        "schemas": _schemas(lake),
        "merged_into": pa.nulls(count, pa.int64()),
        "description": newest_texts(mentions.table.column("description"), mentions.dataset, mentions.last, count),
    }
    schema = arrow_schema(FLAT_DATASETS)
    table = pa.table([out[field.name].cast(field.type) for field in schema], schema)
    observed = table.filter(pa.array(seen.is_seen))
    return pa.concat_tables([observed, _alias_rows(lake, reads[0], schema)])


def _usage_times(lake: Lake, read_rows: Integers, read_times: Integers) -> dict[str, pa.Array]:
    """When each dataset was last written, read and dropped; `read_rows` are those that lineage reads."""
    count, mentions = len(lake.datasets.ids), lake.mentions
    written = _last_times(count, mentions.dataset, mentions.last, _writes(lake))
    dropped = _last_times(count, mentions.dataset, mentions.last, mentions.has("lifecycle", "DROP"))
    read = _last_times(count, mentions.dataset, mentions.last, mentions.has("role", "I"))
    np.maximum.at(read, lake.datasets.number[read_rows], read_times)
    return {
        "last_written": as_times(written),
        "last_read": as_times(read),
        "dropped_at": as_times(np.where(written > dropped, UNKNOWN, dropped)),
    }


def _writes(lake: Lake) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return lake.mentions.has("role", "O") & ~lake.mentions.has("lifecycle", "DROP", "RENAME", "ALTER")


def _last_times(count: int, places: Integers, times: Integers, chosen: Any) -> Integers:
    out = np.full(count, UNKNOWN, np.int64)
    np.maximum.at(out, places[chosen], times[chosen])
    return out


def _reads_of_lineage(lake: Lake) -> tuple[Integers, Integers, Integers]:
    """The reported datasets that lineage reads: their rows, and the times of the fingerprints."""
    edges = lake.edges
    times = lake.mentions.fingerprint_times(len(edges.fingerprints))
    fingerprint = np.repeat(np.arange(len(edges.fingerprints)), np.diff(edges.start))
    rows = np.flatnonzero(times.is_seen[fingerprint] & (edges.source_dataset >= 0))
    return edges.source_dataset[rows], times.first[fingerprint[rows]], times.last[fingerprint[rows]]


def _kinds(lake: Lake) -> pa.Array:
    kind = lake.mentions.table.column("kind")
    rank = np.zeros(len(lake.datasets.ids), np.int64)
    found = pc.fill_null(pc.index_in(kind, value_set=pa.array(KINDS)), 0).to_numpy()
    np.maximum.at(rank, lake.mentions.dataset, np.asarray(found, np.int64))
    return pa.array(KINDS).take(pa.array(rank))


def _largest_texts(texts: pa.ChunkedArray, places: Integers, count: int) -> list[str | None]:
    """The largest text of each object."""
    found = rank_texts(texts)
    out = np.full(count, -1, np.int64)
    np.maximum.at(out, places, found.ranks)
    return list(found.take(out).to_pylist())


def _rule(lake: Lake, name: str) -> list[str | None]:
    rows = pa.chunked_array([pa.array(lake.datasets.rules[name], pa.string())])
    return _largest_texts(rows, lake.datasets.number, len(lake.datasets.ids))


def _owners(lake: Lake, read_rows: Integers) -> list[str | None]:
    """The owner by rules of the reported name, else by events."""
    rules = pa.array(lake.datasets.rules["owner"], pa.string())
    of_mention = pc.coalesce(rules.take(pa.array(lake.mentions.row)), lake.mentions.table.column("owner"))
    rows = np.unique(read_rows)
    texts = pa.chunked_array([*of_mention.chunks, rules.take(pa.array(rows))], pa.string())
    places = np.concatenate([lake.mentions.dataset, lake.datasets.number[rows]])
    return _largest_texts(texts, places, len(lake.datasets.ids))


def _descriptions(lake: Lake, names: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """The user's description of each dataset; empty without one."""
    rows = lake.descriptions.filter(pc.is_null(lake.descriptions.column("column"))).to_pylist()
    found = {(row["namespace"], row["name"]): row for row in rows}
    return [found.get(name, {}) for name in names]


def _with_descriptions(texts: list[str | None], descriptions: list[dict[str, Any]], name: str) -> pa.Array:
    """Texts with those of descriptions in their place."""
    pairs = zip(descriptions, texts, strict=True)
    return pa.array([text if row.get(name) is None else row[name] for row, text in pairs], pa.string())


def _tags(lake: Lake, names: list[tuple[str, str]]) -> pa.Array:
    rows = lake.descriptions.filter(pc.is_null(lake.descriptions.column("column")))
    number = {name: place for place, name in enumerate(names)}
    described = [number.get((row["namespace"], row["name"]), -1) for row in rows.to_pylist()]
    sources = (
        tags_in(lake.mentions.table.column("tags"), lake.mentions.dataset),
        tags_in(rows.column("tags"), np.array(described, np.int64)),
    )
    return tag_lists(sources, len(lake.datasets.ids))


def _symlinks(lake: Lake) -> pa.Array:
    """The other names of each dataset, sorted, with the last time of each."""
    rows, _, found = unnest(lake.mentions.table, "symlinks")
    named = pc.greater(pc.fill_null(pc.utf8_length(pc.struct_field(found, "name")), 0), 0)
    keep = np.flatnonzero(named.to_numpy(zero_copy_only=False))
    rows, found = rows[keep], found.take(pa.array(keep))
    place = lake.mentions.dataset[rows]
    parts = [rank_texts(member(found, name)) for name in ("namespace", "name", "type")]
    keys = (place, *(part.ranks for part in parts))
    order = order_by(*keys)
    starts = starts_of_groups(*(key[order] for key in keys))
    seen = np.maximum.reduceat(lake.mentions.last[rows][order], starts)
    one = order[starts]
    links = [*(part.take(part.ranks[one]) for part in parts), as_times(seen)]
    structs = pa.StructArray.from_arrays(links, ["namespace", "name", "type", "seen"])
    return as_lists(place[one], structs, len(lake.datasets.ids))


def _schemas(lake: Lake) -> pa.Array:
    """The schemas of each dataset, the newest first."""
    history = schema_history(lake.mentions)
    rank = np.arange(len(history.dataset)) - np.searchsorted(history.dataset, history.dataset)
    keep = np.flatnonzero(rank < _KEPT_SCHEMAS)
    mentions = lake.mentions.table.take(pa.array(history.mention[keep]))
    rows, _, found = unnest(mentions, "columns")
    fields = pa.StructArray.from_arrays(
        [one_array(member(found, "name")), one_array(member(found, "type"))], ["name", "type"]
    )
    columns = as_lists(rows, fields, len(keep))
    times = (as_times(history.first[keep]), as_times(history.last[keep]))
    names = ["digest", "first_seen", "last_seen", "fields"]
    structs = pa.StructArray.from_arrays([one_array(mentions.column("schema_digest")), *times, columns], names)
    return as_lists(history.dataset[keep], structs, len(lake.datasets.ids))


def _alias_rows(lake: Lake, read_rows: Integers, schema: pa.Schema) -> pa.Table:
    """A row for each alias that events reported as a dataset, so that its id is found."""
    datasets = lake.datasets
    rows = np.unique(np.concatenate([lake.mentions.row, read_rows]))
    ids = datasets.reported.ids
    rows = rows[ids[rows] != datasets.ids[datasets.number[rows]]]
    known = {
        "id": pa.array(ids[rows]),
        "namespace": pa.array([datasets.namespaces[row] for row in rows.tolist()], pa.string()),
        "name": pa.array([datasets.names[row] for row in rows.tolist()], pa.string()),
        "merged_into": pa.array(datasets.ids[datasets.number[rows]]),
    }
    return pa.table([known.get(field.name, pa.nulls(len(rows), field.type)) for field in schema], schema)
