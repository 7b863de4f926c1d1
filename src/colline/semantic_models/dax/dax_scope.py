"""What a DAX expression can refer to: the model, its own variables, and the rows that it is evaluated for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from colline.semantic_models.dax.dax_syntax import FieldReference
from colline.semantic_models.model_names import ModelNames
from colline.semantic_models.semantic_model import ModelTable, Relationship
from colline.sql_lineage.named_relation import NamedRelation
from colline.trace import ColumnRef, Effect
from colline.trace.flow import NO_DEPENDENCIES, UNCHANGED, Dependencies, apply_effect, column_flow, merge


@dataclass(frozen=True)
class DaxTable:
    """A table value: its columns, and the model's tables whose rows it has. `is_base`: a table of the model itself."""

    relation: NamedRelation
    tables: tuple[str, ...] = ()
    is_base: bool = False

    @property
    def rows(self) -> Dependencies:
        """What decides which rows there are."""
        return self.relation.row_dependencies


DaxValue = Dependencies | DaxTable


@dataclass
class DaxFindings:
    """References that nothing in the model fits, and functions that cannot be analyzed, each with its line."""

    unresolved: dict[str, int] = field(default_factory=dict)
    opaque: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class DaxScope:
    """The scope of a part of an expression. `rows` are the tables that are iterated, innermost last."""

    names: ModelNames
    findings: DaxFindings
    measure_tables: Callable[[ColumnRef], frozenset[str]]
    home: str = ""  # the table that the expression belongs to
    variables: Mapping[str, DaxValue] = field(default_factory=dict)
    rows: tuple[DaxTable, ...] = ()
    used_relationships: tuple[Relationship, ...] = ()

    def for_rows(self, table: DaxTable) -> DaxScope:
        """The scope of an expression that is evaluated for each row of a table."""
        return replace(self, rows=(*self.rows, table))

    def with_variable(self, name: str, value: DaxValue) -> DaxScope:
        """The scope after `VAR name = …`."""
        return replace(self, variables={**self.variables, name: value})

    def with_relationships(self, relationships: Iterable[Relationship]) -> DaxScope:
        """The scope inside a CALCULATE that activates relationships."""
        return replace(self, used_relationships=(*self.used_relationships, *relationships))

    def field(self, node: FieldReference) -> Dependencies:
        """The column or measure that a reference means; one that does not exist is reported."""
        if node.table:
            found = self.names.field(node.table, node.name)
            written = f"'{node.table}'[{node.name}]"
        else:
            flow = self._column_of_rows(node.name)
            if flow is not None:
                return flow
            found, written = self.names.field(self.home, node.name), f"[{node.name}]"
        if found is None:
            self.findings.unresolved.setdefault(written, node.line)
            return NO_DEPENDENCIES
        return {found: UNCHANGED}

    def _column_of_rows(self, name: str) -> Dependencies | None:
        """`[x]`: a column that an iterated expression adds, else a measure, else a column of an iterated table."""
        for each in reversed(self.rows):
            added = None if each.is_base else _column(each, name)
            if added is not None:
                return added
        measure = self.names.measure(name)
        if measure is not None:
            return {measure: UNCHANGED}
        return next((found for each in reversed(self.rows) if (found := _column(each, name)) is not None), None)

    def base_table(self, table: ModelTable) -> DaxTable:
        """All rows of a table of the model."""
        fields = (self.names.field(table.name, column.name) for column in table.columns)
        columns = tuple((found.field, column_flow(found)) for found in fields if found is not None)
        return DaxTable(NamedRelation(columns), (table.name,), is_base=True)

    def tables_of(self, dependencies: Dependencies) -> frozenset[str]:
        """The tables whose values decide a value: those of its columns, and those behind its measures."""
        found: set[str] = set()
        for column in dependencies:
            table = self.names.table_of(column)
            found |= self.measure_tables(column) if self.names.is_measure(column) else {table} if table else set()
        return frozenset(found)

    def joins(self, filters: Iterable[str], values: Iterable[str]) -> Dependencies:
        """The keys of the relationships through which filters on some tables reach the values of others."""
        targets = sorted(set(values))
        keys = (
            self.names.relationship_keys(source, targets, self.used_relationships) for source in sorted(set(filters))
        )
        return merge(apply_effect({key: UNCHANGED}, Effect.JOIN) for found in keys for key in found)


def _column(table: DaxTable, name: str) -> Dependencies | None:
    flow = table.relation.listed_flow(name)
    return None if flow is None else flow.dependencies
