"""The schemas that each dataset had, from the mentions that report one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from colline.flat.arrow_values import member, rank_texts, unnest
from colline.flat.canonical_ids import CanonicalColumns
from colline.flat.integer_arrays import UNKNOWN, Integers, distinct, is_among, order_by, starts_of_groups
from colline.flat.observed_mentions import ObservedMentions


@dataclass(frozen=True)
class SchemaHistory:
    """One row per dataset and schema, sorted by dataset, the newest schema first."""

    dataset: Integers
    mention: Integers  # a mention with this schema
    first: Integers
    last: Integers

    def newest_rows(self) -> Integers:
        """The rows of the newest schema of each dataset."""
        return starts_of_groups(self.dataset)


def schema_history(mentions: ObservedMentions) -> SchemaHistory:
    """The schemas of all datasets."""
    digest = rank_texts(mentions.table.column("schema_digest")).ranks
    counts = (
        mentions.table.column("columns").combine_chunks().value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    )
    rows = np.flatnonzero(
        mentions.has("role", "O", "D") & ~mentions.has("lifecycle", "DROP") & (digest >= 0) & (counts > 0)
    )
    order = rows[order_by(mentions.dataset[rows], digest[rows])]
    starts = starts_of_groups(mentions.dataset[order], digest[order])
    dataset, one = mentions.dataset[order][starts], order[starts]
    first = np.minimum.reduceat(mentions.first[order], starts)
    last = np.maximum.reduceat(mentions.last[order], starts)
    newest_first = order_by(dataset, -last, -digest[one])
    return SchemaHistory(dataset[newest_first], one[newest_first], first[newest_first], last[newest_first])


def removal_times(
    history: SchemaHistory,
    mentions: ObservedMentions,
    columns: CanonicalColumns,
    last_seen: Integers,
    *,
    keys: list[str],
) -> Integers:
    """When the dataset's newest schema appeared, for each column that it does not have; else unknown.

    A nested field exists while the schema has the column that contains it.
    """
    newest = history.newest_rows()
    out = np.full(len(columns.ids), UNKNOWN, np.int64)
    if not len(newest):
        return out
    since = np.full(int(columns.dataset.max(initial=0)) + 1, UNKNOWN, np.int64)
    known = history.dataset[newest] < len(since)
    since[history.dataset[newest][known]] = history.first[newest][known]
    listed = _columns_of(mentions, columns, history.mention[newest])
    removed = since[columns.dataset]
    is_missing = (last_seen < removed) & ~is_among(np.arange(len(columns.ids)), listed)
    candidates = [place for place in np.flatnonzero(is_missing).tolist() if keys[place] != "*"]
    containers = _container_keys(candidates, keys, columns, listed)
    for place in candidates:
        if (int(columns.dataset[place]), keys[place].split(".", 1)[0]) not in containers:
            out[place] = removed[place]
    return out


def _container_keys(
    candidates: list[int], keys: list[str], columns: CanonicalColumns, listed: Integers
) -> set[tuple[int, str]]:
    """The listed columns of the datasets of nested candidates, by dataset and key."""
    nested = {int(columns.dataset[place]) for place in candidates if "." in keys[place]}
    if not nested:
        return set()
    wanted = listed[np.isin(columns.dataset[listed], list(nested))]
    return {(int(columns.dataset[place]), keys[place]) for place in wanted.tolist()}


def _columns_of(mentions: ObservedMentions, columns: CanonicalColumns, rows: Integers) -> Integers:
    """The numbers of the columns that some mentions have, sorted."""
    _, _, found = unnest(mentions.table.take(pa.array(rows)), "columns")
    places = columns.index.places_of(member(found, "column_id"))
    return distinct(places[places >= 0])
