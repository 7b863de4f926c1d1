"""A table of strings as two mapped arrays, offsets and bytes: opening costs nothing, a text is read when asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Strings:
    """Text by position. `first_at_least` and `starting_with` need the texts sorted by their UTF-8 bytes."""

    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]

    # plain views of the same memory: a number of numpy costs more than what it is used for
    _bytes: memoryview = field(init=False, repr=False, compare=False)
    _ends: memoryview = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_bytes", np.ascontiguousarray(self.data).data)
        object.__setattr__(self, "_ends", np.ascontiguousarray(self.offsets, dtype=np.int64).data)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        return str(self._bytes[self._ends[index] : self._ends[index + 1]], "utf-8", "replace")

    def raw(self, index: int) -> bytes:
        """The UTF-8 bytes at a position."""
        return self._bytes[self._ends[index] : self._ends[index + 1]].tobytes()

    def first_at_least(self, wanted: bytes) -> int:
        """The first position whose text is not smaller than `wanted`."""
        return bisect_left(range(len(self)), wanted, key=self.raw)

    def find(self, wanted: str) -> int:
        """The position of a text, or -1."""
        key = wanted.encode()
        found = self.first_at_least(key)
        return found if found < len(self) and self.raw(found) == key else -1

    def starting_with(self, prefix: str) -> tuple[int, int]:
        """The range of positions whose text begins with `prefix`."""
        key = prefix.encode()
        low = self.first_at_least(key)
        width = 1  # most ranges are short: look near by before searching the whole table again
        while low + width < len(self) and self.raw(low + width).startswith(key):
            width *= 2
        return low, bisect_left(range(min(low + width, len(self))), key + b"\xff", lo=low, key=self.raw)


def to_strings(texts: Iterable[str]) -> Strings:
    """A table of the given texts, in their order."""
    encoded = [text.encode("utf-8", "replace") for text in texts]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    return Strings(offsets, np.frombuffer(b"".join(encoded), dtype=np.uint8))
