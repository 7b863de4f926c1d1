"""Which dataset or column a reported id stands for.

Stored rows have the ids of reported names. An alias is the same dataset under another name, so its columns are those
of the dataset it stands for. Datasets and columns are numbered here by their position in the order of their ids.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from colline.errors import LakeError
from colline.flat.arrow_values import Ranked, integers, rank_texts
from colline.flat.id_index import IdIndex, index_ids
from colline.flat.integer_arrays import Integers, distinct, order_by, starts_of_groups, take_integers
from colline.flat.tag_lists import PlacedTags, tags_in


@dataclass(frozen=True)
class CanonicalDatasets:
    """The datasets of `gold/datasets`, one row per reported id."""

    reported: IdIndex  # reported id → row
    canonical: IdIndex  # reported id → number of the dataset it stands for
    ids: Integers  # of the canonical datasets, sorted
    number: Integers  # of the dataset that each row stands for
    namespaces: list[str]
    names: list[str]
    rules: dict[str, list[str | None]]  # layer, owner and domain of each row by user rules


@dataclass(frozen=True)
class CanonicalColumns:
    """The columns that reported columns stand for."""

    index: IdIndex  # reported id → number of the column
    ids: Integers  # sorted
    dataset: Integers  # number of the dataset
    field: Ranked  # the largest spelling
    tags: PlacedTags  # by user rules


def canonical_datasets(table: pa.Table, aliases: pa.Table) -> CanonicalDatasets:
    """The datasets of a lake; a LakeError if two names have the same id."""
    order = order_by(integers(table.column("dataset_id")))
    table = table.take(pa.array(order))
    ids = integers(table.column("dataset_id"))
    starts = starts_of_groups(ids)
    for column in ("namespace", "name"):
        _check_equal(ids, rank_texts(table.column(column)).ranks, starts, "datasets")
    targets = index_ids(integers(aliases.column("dataset_id"))).places_of(pa.chunked_array([pa.array(ids[starts])]))
    canonical = np.where(targets < 0, ids[starts], take_integers(integers(aliases.column("target_id")), targets))
    numbers = distinct(canonical)
    number = np.searchsorted(numbers, canonical)
    first = table.take(pa.array(starts))
    rules = {
        name: _largest_texts(rank_texts(table.column(name)), starts).to_pylist()
        for name in ("layer", "owner", "domain")
    }
    return CanonicalDatasets(
        IdIndex(ids[starts], np.arange(len(starts))),
        IdIndex(ids[starts], number),
        numbers,
        number,
        first.column("namespace").to_pylist(),
        first.column("name").to_pylist(),
        rules,
    )


def canonical_columns(table: pa.Table, datasets: CanonicalDatasets) -> CanonicalColumns:
    """The columns of a lake; a LakeError if two names have the same id."""
    table = table.take(pa.array(order_by(integers(table.column("column_id")))))
    ids, owner_ids = integers(table.column("column_id")), integers(table.column("dataset_id"))
    field = rank_texts(table.column("field"))
    key = rank_texts(pc.utf8_lower(table.column("field"))).ranks
    starts = starts_of_groups(ids)
    _check_equal(ids, owner_ids, starts, "columns")
    _check_spellings(table, key, starts)
    owner = datasets.canonical.places_of(table.column("dataset_id"))
    is_alias = owner_ids != datasets.ids[owner]
    # the column of the canonical dataset; if it has none, the one with the smallest id
    order = order_by(owner, key, is_alias.astype(np.int64), ids)
    groups = starts_of_groups(owner[order], key[order])
    of_group = np.repeat(ids[order][groups], np.diff(np.append(groups, len(order))))
    canonical = np.empty(len(ids), np.int64)
    canonical[order] = of_group
    canonical = np.where(is_alias, canonical, ids)
    numbers = distinct(canonical)
    number = np.searchsorted(numbers, canonical)
    spelling = np.full(len(numbers), -1, np.int64)
    np.maximum.at(spelling, number, field.ranks)
    dataset = np.empty(len(numbers), np.int64)
    dataset[number] = owner
    return CanonicalColumns(
        IdIndex(ids[starts], number[starts]),
        numbers,
        dataset,
        Ranked(spelling, field.values),
        tags_in(table.column("tags"), number),
    )


def _largest_texts(texts: Ranked, starts: Integers) -> pa.Array:
    """The largest string of each group, null without one."""
    return texts.take(np.maximum.reduceat(texts.ranks, starts))


def _check_equal(ids: Integers, values: Integers, starts: Integers, what: str) -> None:
    differs = np.maximum.reduceat(values, starts) != np.minimum.reduceat(values, starts)
    if differs.any():
        raise _collision(int(ids[starts[np.flatnonzero(differs)[0]]]), what)


def _check_spellings(table: pa.Table, key: Integers, starts: Integers) -> None:
    """Spellings of one column differ in case only. Arrow and Java lower a few letters differently, so ask Python."""
    ends = np.append(starts[1:], len(key))
    differs: NDArray[np.bool_] = np.maximum.reduceat(key, starts) != np.minimum.reduceat(key, starts)
    for group in np.flatnonzero(differs).tolist():
        found = table.slice(int(starts[group]), int(ends[group] - starts[group]))
        if len({field.lower() for field in found.column("field").to_pylist()}) > 1:
            raise _collision(found.column("column_id")[0].as_py(), "columns")


def _collision(found: int, what: str) -> LakeError:
    return LakeError(
        f"two {what} of the lake have the same id {found}",
        hint="rename one of them with a rule in colline.toml, and run `colline rebuild`",
    )
