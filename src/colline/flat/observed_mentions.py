"""The mentions of datasets that runs reported, with the times of their observations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colline.flat.arrow_values import Extremes, moments, rank_texts, ranks_among
from colline.flat.canonical_ids import CanonicalDatasets
from colline.flat.flat_edges import StoredEdges
from colline.flat.integer_arrays import Integers


@dataclass(frozen=True)
class ObservedMentions:
    """The rows of `silver/mentions` that some run reported."""

    table: pa.Table
    dataset: Integers  # number of the canonical dataset
    row: Integers  # of the reported dataset in `CanonicalDatasets`
    first: Integers
    last: Integers
    fingerprint: Integers  # -1 without lineage

    def has(self, column: str, *values: str) -> NDArray[np.bool_]:
        """Whether each mention has one of some values in a column."""
        return ranks_among(self.table.column(column), pa.array(values)) >= 0

    def fingerprint_times(self, count: int) -> Extremes:
        """The first and last time of each fingerprint."""
        times = Extremes(count)
        found = self.fingerprint >= 0
        times.add(self.fingerprint[found], self.first[found], self.last[found])
        return times


def observed_mentions(
    mentions: pa.Table, observations: pa.Table, datasets: CanonicalDatasets, edges: StoredEdges
) -> ObservedMentions:
    """The mentions that some run reported, of datasets that are known."""
    digest = rank_texts(mentions.column("digest"))
    of_observation = ranks_among(observations.column("digest"), digest.values)
    known = of_observation >= 0
    times = Extremes(len(digest.values))
    first, last = (moments(observations.column(name))[known] for name in ("first_seen", "last_seen"))
    times.add(of_observation[known], first, last)
    number = datasets.canonical.places_of(mentions.column("dataset_id"))
    keep = np.flatnonzero(times.is_seen[digest.ranks] & (number >= 0))
    rows, table = digest.ranks[keep], mentions.take(pa.array(keep))
    return ObservedMentions(
        table,
        number[keep],
        datasets.reported.places_of(table.column("dataset_id")),
        times.first[rows],
        times.last[rows],
        ranks_among(table.column("fingerprint"), edges.fingerprints),
    )
