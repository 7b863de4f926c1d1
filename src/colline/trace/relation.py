"""What an operator gives: its columns' flows, in order, and what decides its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from colline.trace.flow import EMPTY, NO_WAYS, Flow, Ways, merge


@dataclass(frozen=True, slots=True)
class Relation:
    """The flow of each column by expression id, the ids in order, and what decides the rows."""

    columns: Mapping[str, Flow]
    output: tuple[str, ...]
    rows: Ways = field(default_factory=lambda: NO_WAYS)

    def with_rows(self, *more: Ways) -> Relation:
        """The same columns, with more that decides the rows."""
        return replace(self, rows=merge((self.rows, *more)))

    def flow(self, place: int) -> Flow:
        """The flow of the column at that position."""
        return self.columns.get(self.output[place], EMPTY)

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The flows of the columns in order."""
        return tuple(self.columns.get(key, EMPTY) for key in self.output)

    @property
    def everything(self) -> Ways:
        """All that reaches any column."""
        return merge(flow.ways for flow in self.flows)
