"""The result of tracing an operator: the flow of each output column, and what decides which rows there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from colline.trace.flow import EMPTY_FLOW, NO_DEPENDENCIES, Dependencies, Flow, merge


@dataclass(frozen=True, slots=True)
class Relation:
    """The output of an operator.

    `columns` maps Spark's expression ids to flows, `output` has the ids in order. `row_dependencies` are the columns
    that decide which rows there are, how many, and in which order.
    """

    columns: Mapping[str, Flow]
    output: tuple[str, ...]
    row_dependencies: Dependencies = field(default_factory=lambda: NO_DEPENDENCIES)

    def with_row_dependencies(self, *more: Dependencies) -> Relation:
        """The same columns, with more row dependencies."""
        return replace(self, row_dependencies=merge((self.row_dependencies, *more)))

    def flow(self, position: int) -> Flow:
        """The flow of the column at a position."""
        return self.columns.get(self.output[position], EMPTY_FLOW)

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The flows of the output columns, in order."""
        return tuple(self.columns.get(key, EMPTY_FLOW) for key in self.output)

    @classmethod
    def side_by_side(cls, relations: Iterable[Relation]) -> Relation:
        """The columns of several relations as those of one."""
        parts = tuple(relations)
        columns = {key: flow for part in parts for key, flow in part.columns.items()}
        output = tuple(dict.fromkeys(key for part in parts for key in part.output))
        return cls(columns, output, merge(part.row_dependencies for part in parts))

    @property
    def all_dependencies(self) -> Dependencies:
        """The dependencies of all output columns together."""
        return merge(flow.dependencies for flow in self.flows)
