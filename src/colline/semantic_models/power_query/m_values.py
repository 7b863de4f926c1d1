"""The values of M that lineage needs: tables, places in a source, texts, lists, records and functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from colline.semantic_models.power_query.m_nodes import MFunction, MNode
from colline.sql_lineage.named_relation import NamedFlow, NamedRelation, union_by_name
from colline.trace import Effect
from colline.trace.flow import EMPTY_FLOW, NO_DEPENDENCIES, Dependencies, Flow, apply_effect, merge


@dataclass(frozen=True)
class ScalarValue:
    """A value computed from columns; `text` if it is a text that is known."""

    dependencies: Dependencies = field(default_factory=lambda: NO_DEPENDENCIES)
    text: str | None = None


@dataclass(frozen=True)
class ListValue:
    """A list."""

    items: tuple[MValue, ...]


@dataclass(frozen=True)
class RecordValue:
    """A record."""

    fields: Mapping[str, MValue]


@dataclass(frozen=True)
class SourcePlace:
    """A place inside a source: the function that opens it, its arguments, and the keys of each navigation step."""

    connector: str
    arguments: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[Mapping[str, str], ...] = ()
    others: tuple[SourcePlace, ...] = ()  # places that a condition may choose instead: test and production

    def step(self, keys: Mapping[str, str]) -> SourcePlace:
        """The place after one more navigation step: `{[Schema = "dbo", Item = "Sales"]}`."""
        others = tuple(other.step(keys) for other in self.others)
        return replace(self, steps=(*self.steps, keys), others=others)


@dataclass(frozen=True)
class FunctionValue:
    """A function with the environment it was defined in."""

    function: MFunction
    environment: Environment


@dataclass(frozen=True)
class TableValue:
    """A table, or a row of it. `nested` are the tables in its columns that a join added."""

    relation: NamedRelation
    nested: Mapping[str, TableValue] = field(default_factory=dict)

    def column(self, name: str) -> Flow | None:
        """The flow of a column."""
        return self.relation.find(name)

    def with_columns(self, columns: Iterable[NamedFlow]) -> TableValue:
        """Other columns of the same rows."""
        return replace(self, relation=self.relation.with_columns(columns))

    def with_rows(self, *rows: Dependencies) -> TableValue:
        """The same columns, with more that decides the rows."""
        return replace(self, relation=self.relation.with_rows(*rows))

    def set_columns(self, changed: Mapping[str, Flow]) -> TableValue:
        """Some columns with other flows; new names are added at the end."""
        known = {name.lower() for name, _ in self.relation.columns}
        lowered = {name.lower(): flow for name, flow in changed.items()}
        kept = [(name, lowered.get(name.lower(), flow)) for name, flow in self.relation.columns]
        return self.with_columns(
            [*kept, *((name, flow) for name, flow in changed.items() if name.lower() not in known)]
        )

    def select(self, names: Iterable[str]) -> TableValue:
        """Only these columns."""
        chosen = [(name, self.column(name) or EMPTY_FLOW) for name in names]
        relation = replace(self.relation, columns=tuple(chosen), open_tables=(), fallback=None)
        return TableValue(relation, {name: table for name, table in self.nested.items() if name in dict(chosen)})

    def remove(self, names: Iterable[str]) -> TableValue:
        """All columns but these."""
        gone = frozenset(name.lower() for name in names)
        kept = tuple((name, flow) for name, flow in self.relation.columns if name.lower() not in gone)
        relation = replace(self.relation, columns=kept, hidden=self.relation.hidden | gone)
        return TableValue(relation, {name: table for name, table in self.nested.items() if name.lower() not in gone})

    def rename(self, names: Mapping[str, str]) -> TableValue:
        """Columns with new names; a column that is not listed may exist in an open table."""
        new = {old.lower(): name for old, name in names.items()}
        columns = [(new.get(name.lower(), name), flow) for name, flow in self.relation.columns]
        listed = {name.lower() for name, _ in self.relation.columns}
        columns += [
            (name, flow) for old, name in names.items() if old.lower() not in listed and (flow := self.column(old))
        ]
        hidden = self.relation.hidden | {old.lower() for old in names}
        relation = replace(self.relation, columns=tuple(columns), hidden=hidden - {name.lower() for name, _ in columns})
        return TableValue(relation, {names.get(name, name): table for name, table in self.nested.items()})

    def as_opaque(self) -> TableValue:
        """Every column as a transformation: a step that cannot be analyzed keeps their names, as far as is known."""
        columns = [(name, transformed_flow(flow)) for name, flow in self.relation.columns]
        everything = apply_effect(self.relation.all_dependencies, Effect.TRANSFORMATION)
        fallback = None if self.relation.open_tables else Flow(everything)
        return TableValue(replace(self.relation, columns=tuple(columns), fallback=fallback), self.nested)


MValue = ScalarValue | ListValue | RecordValue | SourcePlace | FunctionValue | TableValue
UNKNOWN = ScalarValue()


@dataclass
class Environment:
    """Names in scope. A step is evaluated when its name is first used."""

    parent: Environment | None = None
    nodes: dict[str, MNode] = field(default_factory=dict)
    values: dict[str, MValue] = field(default_factory=dict)

    def holder(self, name: str) -> Environment | None:
        """The innermost environment that defines a name."""
        scope: Environment | None = self
        while scope is not None and name not in scope.nodes and name not in scope.values:
            scope = scope.parent
        return scope


def transformed_flow(flow: Flow) -> Flow:
    """A value after a step that may change it."""
    return Flow(apply_effect(flow.dependencies, Effect.TRANSFORMATION), text=flow.text)


def dependencies_of(value: MValue) -> Dependencies:
    """Everything that a value depends on."""
    if isinstance(value, ScalarValue):
        return value.dependencies
    if isinstance(value, TableValue):
        return merge((value.relation.all_dependencies, value.relation.row_dependencies))
    if isinstance(value, ListValue):
        return merge(dependencies_of(item) for item in value.items)
    if isinstance(value, RecordValue):
        return merge(dependencies_of(item) for item in value.fields.values())
    return NO_DEPENDENCIES


def text_of(value: MValue) -> str | None:
    """A text that is known."""
    return value.text if isinstance(value, ScalarValue) else None


def combine_tables(tables: list[TableValue]) -> TableValue:
    """The rows of several tables, matched by the names of their columns."""
    nested = {name: inner for table in tables for name, inner in table.nested.items()}
    return TableValue(union_by_name([table.relation for table in tables]), nested)
