"""Finds rows by the ids that objects have in the lake."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colline.flat.arrow_values import integers


@dataclass(frozen=True)
class IdIndex:
    """Finds the place of a row in the snapshot by the stable id it has in the lake."""

    ids: NDArray[np.int64]  # sorted
    places: NDArray[np.int64]

    def places_of(self, column: pa.ChunkedArray) -> NDArray[np.int64]:
        """The place of each id; -1 for null and for ids that do not exist."""
        wanted = integers(column, null=-1)
        if not len(self.ids):
            return np.full(len(wanted), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        return np.where(self.ids[at] == wanted, self.places[at], -1)


def index_ids(ids: NDArray[np.int64], places: NDArray[np.int64] | None = None) -> IdIndex:
    """The index of some ids; without places, each id is at its own position."""
    by_id = np.argsort(ids, kind="stable")
    return IdIndex(ids[by_id], by_id.astype(np.int64) if places is None else places[by_id])
