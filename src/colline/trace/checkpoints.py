"""Lineage of earlier queries, for plans that start at a checkpoint or an RDD instead of a table."""

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
    """The query an RDD was created from. A checkpoint is a copy of the query's rows, any other RDD may differ."""

    relation: Relation
    is_copy: bool = False


class QueryMemory(Protocol):
    """Remembers the lineage of earlier queries of a session, by expression id and by RDD id."""

    def remember(self, relation: Relation, inputs: Iterable[DatasetRead] = ()) -> None:
        """Store the output columns of a query and the datasets it read."""

    def dataset(self, name: DatasetName) -> DatasetRead | None:
        """A dataset that an earlier query read."""

    def recall(self, expression_id: str) -> tuple[Flow, Dependencies] | None:
        """The flow of an earlier query's column, and the row dependencies of that query."""

    def origin(self, rdds: Sequence[str]) -> RddOrigin | None:
        """The query that one of these RDDs was created from; `rdds` are ids, an RDD before its parents."""


class NoMemory:
    """Remembers nothing: each plan is traced independently."""

    def remember(self, relation: Relation, inputs: Iterable[DatasetRead] = ()) -> None:
        """Do nothing."""

    def dataset(self, name: DatasetName) -> DatasetRead | None:
        """Always None."""

    def recall(self, expression_id: str) -> tuple[Flow, Dependencies] | None:
        """Always None."""

    def origin(self, rdds: Sequence[str]) -> RddOrigin | None:
        """Always None."""


class RecentQueries:
    """Remembers up to `max_entries` columns and datasets; the oldest are dropped first."""

    def __init__(self, max_entries: int = 20_000) -> None:
        self._max_entries = max_entries
        self._columns: OrderedDict[str, tuple[Flow, Dependencies]] = OrderedDict()
        self._datasets: OrderedDict[DatasetName, DatasetRead] = OrderedDict()

    def remember(self, relation: Relation, inputs: Iterable[DatasetRead] = ()) -> None:
        """Store the output columns of a query and the datasets it read."""
        for dataset in inputs:
            self._datasets[dataset.name] = dataset
            self._datasets.move_to_end(dataset.name)
        for key in relation.output[: self._max_entries]:
            self._columns[key] = (relation.columns[key], relation.row_dependencies)
            self._columns.move_to_end(key)
        while len(self._columns) > self._max_entries:
            self._columns.popitem(last=False)
        while len(self._datasets) > self._max_entries:
            self._datasets.popitem(last=False)

    def dataset(self, name: DatasetName) -> DatasetRead | None:
        """A dataset that an earlier query read."""
        return self._datasets.get(name)

    def recall(self, expression_id: str) -> tuple[Flow, Dependencies] | None:
        """The flow of an earlier query's column, and the row dependencies of that query."""
        return self._columns.get(expression_id)

    def origin(self, rdds: Sequence[str]) -> RddOrigin | None:
        """None: a subclass that observes how RDDs are created can answer."""
