"""Converts columns of Arrow tables to numpy arrays."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from colline.flat.arrow_values import one_array, rank_texts
from colline.graph.snapshot.strings import Strings, to_strings

_MAX_SAFE_INTEGER = 2**53 - 1  # of JavaScript


def public_ids(ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ids of answers: the low 53 bits of the lake's ids, so that JavaScript reads them as exact numbers.

    Two of 100 million ids are expected to have the same low bits; then the larger id gets the next free number.
    """
    out = ids & _MAX_SAFE_INTEGER
    while len(out):
        order = np.lexsort((ids, out))
        is_repeated = np.append(False, out[order][1:] == out[order][:-1])
        if not is_repeated.any():
            break
        out[order[is_repeated]] = (out[order[is_repeated]] + 1) & _MAX_SAFE_INTEGER
    return out


def booleans(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """A column of booleans, null as false."""
    return np.asarray(pc.fill_null(column, False).to_numpy(), dtype=np.bool_)


def texts(column: pa.ChunkedArray) -> Strings:
    """A column of strings, null as an empty one."""
    return _strings(one_array(pc.fill_null(column, "").cast(pa.large_string())))


def _strings(array: pa.Array) -> Strings:
    if not len(array):
        return to_strings([])
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    raw = np.frombuffer(data, dtype=np.uint8) if data else np.empty(0, np.uint8)
    return Strings(ends - ends[0], raw[ends[0] : ends[-1]])


def dictionary(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], Strings]:
    """The code of each row, and the distinct strings sorted by their bytes; null is an empty string."""
    found = rank_texts(pc.fill_null(column, "").cast(pa.large_string()))
    return found.ranks.astype(np.int32), _strings(found.values)
