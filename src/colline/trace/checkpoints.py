"""What earlier plans left behind: a checkpoint or an RDD cuts a plan off from the one that made it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from colline.trace.columns import DatasetName
from colline.trace.flow import Dependencies, Flow
from colline.trace.relation import Relation
from colline.trace.result import DatasetRead


@dataclass(frozen=True, slots=True)
class RddOrigin:
    """The query an RDD was made from. A checkpoint is a copy of its rows; any other RDD may hold anything."""

    relation: Relation
    is_copy: bool = False


class QueryMemory(Protocol):
    """Recalls what a column was made of, by the expression id that a checkpoint keeps."""

    def remember(self, relation: Relation, inputs: Iterable[DatasetRead] = ()) -> None:
        """Remember the columns a query gave, and the datasets it read."""

    def dataset(self, name: DatasetName) -> DatasetRead | None:
        """A dataset that an earlier query read."""

    def recall(self, key: str) -> tuple[Flow, Dependencies] | None:
        """The flow of that column and what decided its rows."""

    def origin(self, rdds: Sequence[str]) -> RddOrigin | None:
        """The query that one of these RDDs, the nearest first, was made from."""


class NoMemory:
    """A plan on its own."""

    def remember(self, relation: Relation, inputs: Iterable[DatasetRead] = ()) -> None:
        """Nothing is kept."""

    def dataset(self, name: DatasetName) -> DatasetRead | None:
        """Nothing is known."""

    def recall(self, key: str) -> tuple[Flow, Dependencies] | None:
        """Nothing is known."""

    def origin(self, rdds: Sequence[str]) -> RddOrigin | None:
        """Nothing is known."""


class RecentQueries:
    """The columns of the last queries, up to `most`; the oldest are forgotten first."""

    def __init__(self, most: int = 20_000) -> None:
        self._most = most
        self._known: OrderedDict[str, tuple[Flow, Dependencies]] = OrderedDict()
        self._datasets: OrderedDict[DatasetName, DatasetRead] = OrderedDict()

    def remember(self, relation: Relation, inputs: Iterable[DatasetRead] = ()) -> None:
        """Remember the columns a query gave, and the datasets it read."""
        for dataset in inputs:
            self._datasets[dataset.name] = dataset
            self._datasets.move_to_end(dataset.name)
        for key in relation.output[: self._most]:
            self._known[key] = (relation.columns[key], relation.row_dependencies)
            self._known.move_to_end(key)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        while len(self._datasets) > self._most:
            self._datasets.popitem(last=False)

    def dataset(self, name: DatasetName) -> DatasetRead | None:
        """A dataset that an earlier query read."""
        return self._datasets.get(name)

    def recall(self, key: str) -> tuple[Flow, Dependencies] | None:
        """The flow of that column and what decided its rows."""
        return self._known.get(key)

    def origin(self, rdds: Sequence[str]) -> RddOrigin | None:
        """Known only where something watches RDDs being made."""
