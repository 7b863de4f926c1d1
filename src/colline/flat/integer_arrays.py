"""Groups, ranges and sets of integers in numpy arrays, and the constants that stand for missing times."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.signedinteger]  # of any width
Scalar = TypeVar("Scalar", bound=np.generic)
NEVER = np.iinfo(np.int64).max  # the end of something that has not ended
UNKNOWN = np.iinfo(np.int64).min  # a time that is not known


def expand(start: NDArray[np.int64], nodes: Integers) -> tuple[Integers, Integers]:
    """The positions of all rows of the given nodes, one after the other, and the number of rows of each node."""
    first, counts = row_ranges(start, nodes)
    return positions(first, counts), counts


def row_ranges(start: NDArray[np.int64], nodes: Integers) -> tuple[Integers, Integers]:
    """The position of the first row of each node, and the number of its rows."""
    first = start.take(nodes)
    return first, start[1:].take(nodes) - first


def positions(first: Integers, counts: Integers) -> Integers:
    """All positions of some ranges, each given by its first position and its length: 7, 2 and 3, 1 → 7, 8, 3."""
    ends = counts.cumsum()
    # the n-th position overall is the (n - rows before its range)-th of its range
    out: Integers = (first - ends + counts).repeat(counts)
    out += np.arange(len(out))
    return out


def distinct(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """The values sorted, each once. `np.unique` would import numpy's masked arrays, 50 ms of a first answer."""
    if len(values) < 2:
        return values
    ordered = np.sort(values)
    is_first = np.empty(len(ordered), dtype=np.bool_)
    is_first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered.compress(is_first)


def is_among(values: NDArray[Scalar], wanted: NDArray[Scalar]) -> NDArray[np.bool_]:
    """Whether each value is one of the wanted ones, which are sorted."""
    if not len(wanted):
        return np.zeros(len(values), dtype=np.bool_)
    place = np.minimum(np.searchsorted(wanted, values), len(wanted) - 1)
    return np.asarray(wanted[place] == values)


def take_integers(values: Integers, places: Integers) -> Integers:
    """The values at some places; any value where the place is -1."""
    return values[places] if len(values) else places


def row_starts(keys: Integers, count: int) -> NDArray[np.int64]:
    """The row pointers of a CSR array whose rows are sorted by `keys`."""
    out = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(keys, minlength=count), out=out[1:])
    return out


def order_by(*keys: Integers) -> Integers:
    """The rows in the order of some keys, the first one being the most significant."""
    return np.lexsort(keys[::-1])


def starts_of_groups(*sorted_keys: Integers) -> Integers:
    """The first row of each group of equal keys; the rows are sorted by them."""
    changed = np.zeros(len(sorted_keys[0]), np.bool_)
    changed[:1] = True
    for key in sorted_keys:
        changed[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(changed)


def dense_ranks(*keys: Integers) -> Integers:
    """The rank of each row in the order of some keys; every row has another rank."""
    out = np.empty(len(keys[0]), np.int64)
    out[order_by(*keys)] = np.arange(len(out))
    return out
