"""A relation whose columns have names: the result of a query, a table, or a step that transforms one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from colline.sql_lineage.table_schema import TableSchema
from colline.trace import ColumnRef, DatasetName, Effect
from colline.trace.flow import (
    EMPTY_FLOW,
    NO_DEPENDENCIES,
    Dependencies,
    Flow,
    apply_effect,
    column_flow,
    merge,
    merge_flows,
    merge_structs,
)

NamedFlow = tuple[str, Flow]


@dataclass(frozen=True)
class NamedRelation:
    """The name and flow of each column in order, and what decides the rows. Two columns may have the same name.

    A relation over a table with unknown columns has that table in `open_tables`: any other column may come from it,
    except for the names in `hidden`. `fallback` is the flow of every column that nothing else describes.
    """

    columns: tuple[NamedFlow, ...] = ()
    row_dependencies: Dependencies = field(default_factory=lambda: NO_DEPENDENCIES)
    open_tables: tuple[DatasetName, ...] = ()
    hidden: frozenset[str] = frozenset()
    fallback: Flow | None = None
    flow_of: Mapping[str, Flow] = field(init=False, repr=False, compare=False)  # by the lower-case name of a column

    def __post_init__(self) -> None:
        by_key: dict[str, list[Flow]] = {}
        for name, flow in self.columns:
            by_key.setdefault(name.lower(), []).append(flow)
        object.__setattr__(self, "flow_of", {key: merge_flows(flows) for key, flows in by_key.items()})

    @property
    def is_open(self) -> bool:
        """Whether a column that is not listed may exist."""
        return bool(self.open_tables) or self.fallback is not None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the listed columns."""
        return tuple(name for name, _ in self.columns)

    def listed_flow(self, name: str) -> Flow | None:
        """The flow of a listed column, in any case of its name."""
        return self.flow_of.get(name.lower())

    def find(self, name: str) -> Flow | None:
        """The flow of a column, or of a column that an open table may have; None if there is no such column."""
        found = self.listed_flow(name)
        if found is not None:
            return found
        if name.lower() in self.hidden:
            return None
        if self.open_tables:
            return merge_flows([column_flow(ColumnRef(table, name)) for table in self.open_tables])
        return self.fallback

    def flow_at(self, position: int) -> Flow:
        """The flow of the column at a position."""
        return self.columns[position][1] if position < len(self.columns) else self.fallback or EMPTY_FLOW

    @property
    def all_dependencies(self) -> Dependencies:
        """The dependencies of all columns together."""
        flows = [*(flow for _, flow in self.columns), *([self.fallback] if self.fallback else [])]
        return merge(flow.dependencies for flow in flows)

    def with_rows(self, *more: Dependencies) -> NamedRelation:
        """The same columns, with more row dependencies."""
        return replace(self, row_dependencies=merge((self.row_dependencies, *more)))

    def with_columns(self, columns: Iterable[NamedFlow]) -> NamedRelation:
        """Other columns of the same rows."""
        return replace(self, columns=tuple(columns))

    def rename(self, names: Iterable[str]) -> NamedRelation:
        """The columns with new names, by position: `(select a, b) as t(x, y)`."""
        new = list(names)
        missing = [("", self.fallback or EMPTY_FLOW)] * max(0, len(new) - len(self.columns))
        columns = [*self.columns, *missing]
        old = [name for name, _ in columns[len(new) :]]
        return self.with_columns(zip([*new, *old], (flow for _, flow in columns), strict=True))

    def compared_columns(self, effect: Effect) -> Dependencies:
        """The dependencies of all columns as one that decides the rows: DISTINCT, EXCEPT."""
        return apply_effect(self.all_dependencies, effect)


def table_relation(table: TableSchema) -> NamedRelation:
    """A table that is read: each of its columns, or every column if they are not known."""
    columns = tuple((name, column_flow(ColumnRef(table.name, name))) for name in table.columns)
    return NamedRelation(columns, open_tables=() if table.columns else (table.name,))


def union_by_name(branches: list[NamedRelation]) -> NamedRelation:
    """The rows of several branches, matched by the names of their columns."""
    names = list(dict.fromkeys(name for branch in branches for name in branch.names))
    return union_relation(
        [branch.with_columns((name, branch.find(name) or EMPTY_FLOW) for name in names) for branch in branches]
    )


def union_relation(branches: list[NamedRelation]) -> NamedRelation:
    """The rows of several branches, matched by position and named by the first one."""
    columns = tuple(
        (name, merge_structs([branch.flow_at(position) for branch in branches]))
        for position, name in enumerate(branches[0].names)
    )
    rows = merge(branch.row_dependencies for branch in branches)
    tables = tuple(dict.fromkeys(table for branch in branches for table in branch.open_tables))
    fallbacks = [branch.fallback for branch in branches if branch.fallback is not None]
    return NamedRelation(columns, rows, tables, fallback=merge_flows(fallbacks) if fallbacks else None)
