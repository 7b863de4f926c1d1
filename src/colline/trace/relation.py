"""The result of tracing an operator: the flow of each output column, and what decides which rows there are."""

from __future__ import annotations

from collections.abc import Mapping
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

    @property
    def all_dependencies(self) -> Dependencies:
        """The dependencies of all output columns together."""
        return merge(flow.dependencies for flow in self.flows)
