"""Arrow columns as integer arrays and back: strings become ranks, times microseconds, lists rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from colline.flat.integer_arrays import UNKNOWN, Integers
from colline.lake.table_reader import TIME

NULL = -1  # the rank of a null


@dataclass(frozen=True)
class Ranked:
    """Strings as ranks: equal ranks are equal strings, and a larger rank is a larger string by its bytes."""

    ranks: Integers
    values: pa.Array  # the distinct strings, sorted

    def take(self, ranks: Integers) -> pa.Array:
        """The strings of some ranks."""
        return self.values.take(pa.array(ranks, mask=ranks == NULL))


def rank_texts(column: pa.ChunkedArray) -> Ranked:
    """The strings of a column by rank."""
    encoded = column.dictionary_encode().unify_dictionaries()
    if not encoded.num_chunks:
        return Ranked(np.empty(0, np.int64), pa.array([], pa.string()))
    values = encoded.chunk(0).dictionary
    order = pc.sort_indices(values).to_numpy()
    rank = np.empty(len(order) + 1, np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = NULL
    codes = [pc.fill_null(chunk.indices, len(order)).to_numpy() for chunk in encoded.chunks]
    return Ranked(rank[np.concatenate(codes)], values.take(pa.array(order)))


def ranks_among(column: pa.ChunkedArray | pa.Array, values: pa.Array) -> Integers:
    """The ranks of strings among the values of another column; -1 for those that it does not have."""
    return np.asarray(
        pc.fill_null(pc.index_in(column, value_set=values), NULL).to_numpy(zero_copy_only=False), np.int64
    )


def integers(column: pa.ChunkedArray, null: int = 0) -> Integers:
    """A column of integers."""
    return np.asarray(pc.fill_null(column, null).to_numpy(), dtype=np.int64)


def moments(column: pa.ChunkedArray, null: int = UNKNOWN) -> Integers:
    """A column of times as microseconds since 1970."""
    return integers(column.cast(pa.int64()), int(null))


def as_times(values: Integers) -> pa.Array:
    """Microseconds since 1970 as an Arrow column."""
    return pa.array(values, mask=values == UNKNOWN).cast(TIME)


def unnest(table: pa.Table, column: str) -> tuple[Integers, Integers, Any]:
    """The elements of a list column: the row of each one, its position in the list, and the elements as an array."""
    lists = one_array(table.column(column))
    counts = integers(pa.chunked_array([pc.list_value_length(lists)]))
    rows = np.repeat(np.arange(len(counts)), counts)
    starts = np.cumsum(counts) - counts
    return rows, np.arange(len(rows)) - np.repeat(starts, counts), lists.flatten()


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def member(structs: Any, name: str) -> pa.ChunkedArray:
    """A field of an array of structs, null where the struct is null."""
    return pa.chunked_array([pc.struct_field(structs, name)])


def as_lists(owner: Integers, values: pa.Array, count: int) -> pa.Array:
    """Lists from their elements, which are sorted by the row that owns them."""
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(owner, minlength=count), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), values)


class Extremes:
    """The first and last time of each of `count` objects, from many observations."""

    def __init__(self, count: int) -> None:
        self.first = np.full(count, np.iinfo(np.int64).max)
        self.last = np.full(count, UNKNOWN, np.int64)

    def add(self, places: Integers, first: Integers, last: Integers) -> None:
        """Observations of the objects at some places."""
        np.minimum.at(self.first, places, first)
        np.maximum.at(self.last, places, last)

    @property
    def is_seen(self) -> NDArray[np.bool_]:
        """Whether each object was observed."""
        return np.asarray(self.first != np.iinfo(np.int64).max)
