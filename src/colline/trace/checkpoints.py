"""Lineage of earlier queries, for plans that start at a checkpoint or an RDD instead of a table."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from colline.trace.columns import DatasetName
from colline.trace.flow import EMPTY_FLOW, Dependencies, Flow, describe_dependencies, merge
from colline.trace.relation import Relation
from colline.trace.result import DatasetRead


@dataclass(frozen=True, slots=True)
class RddOrigin:
    """The queries and files an RDD was created from. A checkpoint has the rows of its query, another RDD may not."""

    relation: Relation | None = None
    files: tuple[str, ...] = ()
    is_copy: bool = False


def transposed_key(expression_id: object) -> str:
    """The key of a transposed DataFrame, by the id of its first column; keys of RDDs are numbers."""
    return f"transposed {expression_id}"


@dataclass(frozen=True, slots=True)
class RddGraph:
    """An RDD and those it depends on, by id: `parents` of each, and the paths of those that read `files`."""

    root: str
    parents: Mapping[str, tuple[str, ...]]
    files: Mapping[str, str]

    def find_origins(self, is_origin: Callable[[str], bool]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The RDDs for which `is_origin` is true and which do not feed another of them, and the files of the others."""
        found: dict[str, None] = {}
        files: dict[str, None] = {}
        stack, seen = [self.root], set[str]()
        while stack:
            rdd = stack.pop()
            if rdd in seen:
                continue
            seen.add(rdd)
            if is_origin(rdd):
                found[rdd] = None
                continue
            if rdd in self.files:
                files[self.files[rdd]] = None
            stack.extend(reversed(self.parents.get(rdd, ())))
        return tuple(found), tuple(files)


class QueryMemory(Protocol):
    """Remembers the lineage of earlier queries of a session, by expression id and by RDD id."""

    def remember(
        self, relation: Relation, inputs: Iterable[DatasetRead] = (), output: Mapping[str, Flow] | None = None
    ) -> None:
        """Store the output columns of a query and the datasets it read."""

    def dataset(self, name: DatasetName) -> DatasetRead | None:
        """A dataset that an earlier query read."""

    def recall(self, expression_id: str) -> tuple[Flow, Dependencies] | None:
        """The flow of an earlier query's column, and the row dependencies of that query."""

    def origin(self, graph: RddGraph) -> RddOrigin:
        """The queries and files that an RDD was created from."""

    def set_variable(self, name: str, flow: Flow) -> None:
        """Store what was assigned to a variable, named `namespace.name`."""

    def variable(self, name: str, /) -> Flow:
        """What was last assigned to a variable; `x` is the variable x of any namespace."""

    def last_output(self, column: str, /) -> Flow:
        """The column of the last query."""


class NoMemory:
    """Remembers nothing: each plan is traced independently."""

    def remember(
        self, relation: Relation, inputs: Iterable[DatasetRead] = (), output: Mapping[str, Flow] | None = None
    ) -> None:
        """Do nothing."""

    def dataset(self, name: DatasetName) -> DatasetRead | None:
        """Always None."""

    def recall(self, expression_id: str) -> tuple[Flow, Dependencies] | None:
        """Always None."""

    def origin(self, graph: RddGraph) -> RddOrigin:
        """The files only."""
        return RddOrigin(files=graph.find_origins(lambda _: False)[1])

    def set_variable(self, name: str, flow: Flow) -> None:
        """Do nothing."""

    def variable(self, _name: str, /) -> Flow:
        """Always without inputs."""
        return EMPTY_FLOW

    def last_output(self, _column: str, /) -> Flow:
        """Always without inputs."""
        return EMPTY_FLOW


class RecentQueries:
    """Remembers up to `max_entries` columns and datasets; the oldest are dropped first."""

    def __init__(self, max_entries: int = 20_000) -> None:
        self._max_entries = max_entries
        self._columns: OrderedDict[str, tuple[Flow, Dependencies]] = OrderedDict()
        self._datasets: OrderedDict[DatasetName, DatasetRead] = OrderedDict()
        self._variables: OrderedDict[str, Flow] = OrderedDict()
        self._last_output: dict[str, Flow] = {}

    def remember(
        self, relation: Relation, inputs: Iterable[DatasetRead] = (), output: Mapping[str, Flow] | None = None
    ) -> None:
        """Store the output columns of a query, also by name if `output` is given, and the datasets it read."""
        if output is not None:
            self._last_output = {
                name.lower(): Flow(merge((describe_dependencies(flow), relation.row_dependencies)))
                for name, flow in output.items()
            }
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

    def origin(self, graph: RddGraph) -> RddOrigin:
        """The files only: a subclass that observes how RDDs are created knows the queries."""
        return RddOrigin(files=graph.find_origins(lambda _: False)[1])

    def set_variable(self, name: str, flow: Flow) -> None:
        """Store what was assigned to a variable, named `namespace.name`."""
        self._variables[name] = flow
        self._variables.move_to_end(name)
        while len(self._variables) > self._max_entries:
            self._variables.popitem(last=False)

    def variable(self, name: str) -> Flow:
        """What was last assigned to a variable; `x` is the variable x of any namespace."""
        if name in self._variables:
            return self._variables[name]
        matches = [flow for known, flow in self._variables.items() if known.endswith(f".{name}")]
        return matches[-1] if matches else EMPTY_FLOW

    def last_output(self, column: str) -> Flow:
        """The column of the last query."""
        return self._last_output.get(column, EMPTY_FLOW)
