"""What an operator gives: its columns' flows, in order, and what decides its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from colline.trace.flow import EMPTY_FLOW, NO_DEPENDENCIES, Dependencies, Flow, merge


@dataclass(frozen=True, slots=True)
class Relation:
    """The flow of each column by expression id, the ids in order, and what decides the rows."""

    columns: Mapping[str, Flow]
    output: tuple[str, ...]
    row_dependencies: Dependencies = field(default_factory=lambda: NO_DEPENDENCIES)

    def with_row_dependencies(self, *more: Dependencies) -> Relation:
        """The same columns, with more that decides the rows."""
        return replace(self, row_dependencies=merge((self.row_dependencies, *more)))

    def flow(self, position: int) -> Flow:
        """The flow of the column at that position."""
        return self.columns.get(self.output[position], EMPTY_FLOW)

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The flows of the columns in order."""
        return tuple(self.columns.get(key, EMPTY_FLOW) for key in self.output)

    @property
    def all_dependencies(self) -> Dependencies:
        """All that reaches any column."""
        return merge(flow.dependencies for flow in self.flows)
