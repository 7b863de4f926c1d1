"""A list of strings as two arrays, offsets and UTF-8 bytes: nothing is decoded until a string is read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


class Strings:
    """Strings by position. `find` and `starting_with` need them sorted by their UTF-8 bytes."""

    def __init__(self, offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> None:
        self.offsets, self.data = offsets, data
        # memoryviews of the same memory: their items are Python integers, which slice faster than numpy's
        self._bytes = np.ascontiguousarray(data).data
        self._ends = np.ascontiguousarray(offsets, dtype=np.int64).data

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        return str(self._bytes[self._ends[index] : self._ends[index + 1]], "utf-8", "replace")

    def raw_bytes(self, index: int) -> bytes:
        """The UTF-8 bytes at a position."""
        return self._bytes[self._ends[index] : self._ends[index + 1]].tobytes()

    def first_at_least(self, wanted: bytes) -> int:
        """The first position whose bytes are not smaller than `wanted`."""
        return bisect_left(range(len(self)), wanted, key=self.raw_bytes)

    def find(self, wanted: str) -> int:
        """The position of a string, or -1."""
        key = wanted.encode()
        found = self.first_at_least(key)
        return found if found < len(self) and self.raw_bytes(found) == key else -1

    def starting_with(self, prefix: str) -> tuple[int, int]:
        """The range of positions whose strings start with `prefix`."""
        low = self.first_at_least(prefix.encode())
        return low, bisect_left(range(len(self)), prefix.encode() + b"\xff", lo=low, key=self.raw_bytes)

    def arrays(self, name: str) -> dict[str, NDArray[np.int64] | NDArray[np.uint8]]:
        """The two arrays under the names by which `Arrays.strings` finds them."""
        return {f"{name}.offsets": self.offsets, f"{name}.data": self.data}


def to_strings(texts: Iterable[str]) -> Strings:
    """The given strings, in their order."""
    encoded = [text.encode("utf-8", "replace") for text in texts]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    return Strings(offsets, np.frombuffer(b"".join(encoded), dtype=np.uint8))
