"""Converts columns of Arrow tables to numpy arrays."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from colline.flat.integer_arrays import UNKNOWN
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


def integers(column: pa.ChunkedArray, null: int = 0) -> NDArray[np.int64]:
    """A column of numbers."""
    return np.asarray(pc.fill_null(column, null).to_numpy(), dtype=np.int64)


def booleans(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """A column of booleans, null as false."""
    return np.asarray(pc.fill_null(column, False).to_numpy(), dtype=np.bool_)


def times(column: pa.ChunkedArray, null: int = UNKNOWN) -> NDArray[np.int64]:
    """A column of times as microseconds since 1970."""
    return integers(column.cast(pa.int64()), int(null))


def texts(column: pa.ChunkedArray) -> Strings:
    """A column of strings, null as an empty one."""
    return _strings(pc.fill_null(column, "").cast(pa.large_string()))


def _strings(column: pa.ChunkedArray | pa.Array) -> Strings:
    array = pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) and column.num_chunks else column
    if not len(array):
        return to_strings([])
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    raw = np.frombuffer(data, dtype=np.uint8) if data else np.empty(0, np.uint8)
    return Strings(ends - ends[0], raw[ends[0] : ends[-1]])


def dictionary(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], Strings]:
    """The code of each row, and the distinct strings sorted by their bytes; null is an empty string."""
    encoded = pc.fill_null(column, "").cast(pa.large_string()).dictionary_encode()
    chunks = encoded.unify_dictionaries().chunks
    if not chunks:
        return np.empty(0, dtype=np.int32), to_strings([])
    values = chunks[0].dictionary
    by_text = pc.sort_indices(values)
    rank = np.empty(len(values), dtype=np.int32)
    rank[by_text.to_numpy()] = np.arange(len(values), dtype=np.int32)
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in chunks])
    return rank[codes], _strings(values.take(by_text))
