"""What a statement writes: the columns of its target, matched with those of a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlglot import exp

from colline.sql_lineage.named_relation import NamedRelation, union_relation
from colline.sql_lineage.sql_scope import StatementContext
from colline.sql_lineage.sql_sources import table_key
from colline.sql_lineage.table_schema import TableSchema
from colline.trace import ColumnLineage, DatasetName
from colline.trace.flow import Dependencies, Flow, dependency_entries, merge_flows

WriteKind = Literal["TABLE", "VIEW"]


@dataclass(frozen=True, slots=True)
class SqlColumn:
    """A column of a table that DDL defines."""

    name: str
    type: str = ""
    description: str = ""


@dataclass(frozen=True)
class SqlWrite:
    """What one statement writes. DDL without a query defines columns and has no lineage."""

    target: DatasetName
    kind: WriteKind | None = None  # None if the statement does not create the target
    columns: tuple[SqlColumn, ...] = ()
    lineage: ColumnLineage | None = None
    inputs: tuple[DatasetName, ...] = ()
    description: str = ""
    sql: str = ""
    line: int = 1
    procedure: str = ""


@dataclass(frozen=True, slots=True)
class TableComment:
    """A description that COMMENT ON gives to a table, or to one of its columns."""

    table: DatasetName
    text: str
    column: str = ""


@dataclass(frozen=True)
class Written:
    """What a statement writes to tables, to temporary tables, and to descriptions."""

    writes: tuple[SqlWrite, ...] = ()
    temporary: Mapping[str, NamedRelation] = field(default_factory=dict)
    comments: tuple[TableComment, ...] = ()


NOTHING = Written()


@dataclass(frozen=True, slots=True)
class Target:
    """The table that a statement names. `names` are its columns in the order of the query; empty: all of them.

    `kind` is set if the statement creates the table.
    """

    table: Any
    names: tuple[str, ...] = ()
    kind: WriteKind | None = None
    columns: tuple[SqlColumn, ...] = ()
    description: str = ""


def table_write(target: Target, relation: NamedRelation, context: StatementContext, sql: str = "") -> Written:
    """The rows of a relation go to a table, or to a temporary table of the script."""
    key = table_key(target.table)
    if key in context.temporary or is_temporary(target.table):
        return Written(temporary={key: _extended_temporary(context, key, relation.rename(target.names))})
    table = context.tables.find(context.parts(target.table))
    flows = _target_flows(table, relation, target)
    _report_unknown_columns(table, relation, flows, context)
    write = SqlWrite(
        target=table.name,
        kind=target.kind,
        columns=target.columns or tuple(SqlColumn(name) for name in flows if target.kind is not None),
        lineage=column_lineage(flows, relation.row_dependencies),
        inputs=tuple(context.inputs),
        description=target.description,
        sql=sql,
    )
    return Written((write,))


def column_lineage(flows: Mapping[str, Flow], rows: Dependencies) -> ColumnLineage:
    """The lineage of a target from the flows of its columns and what decides its rows."""
    fields = {name: dependency_entries(flow.dependencies, flow.description) for name, flow in flows.items()}
    return ColumnLineage(fields=fields, dataset=dependency_entries(rows))


def is_temporary(table: Any) -> bool:
    """`#orders` and `@orders` of T-SQL, whose names show that they are temporary."""
    name = table.this
    return isinstance(name, exp.Parameter) or bool(name is not None and name.args.get("temporary"))


def _extended_temporary(context: StatementContext, key: str, relation: NamedRelation) -> NamedRelation:
    """A temporary table after another insert."""
    known = context.temporary.get(key)
    if known is None:
        return relation
    named = relation if relation.names != () else known
    by_name = {name.lower(): flow for name, flow in named.columns}
    aligned = NamedRelation(
        tuple((name, by_name.get(name.lower(), named.flow_at(at))) for at, name in enumerate(known.names)),
        relation.row_dependencies,
        relation.open_tables,
    )
    return union_relation([known, aligned]) if known.names else relation


def _target_flows(table: TableSchema, relation: NamedRelation, target: Target) -> dict[str, Flow]:
    """The flow of each column of the target: by position for an INSERT, by name for what is created."""
    names = target.names
    is_insert = target.kind is None and not relation.is_open and len(table.columns) >= len(relation.columns)
    if not names and is_insert:
        names = table.columns[: len(relation.columns)]
    columns = relation.columns if relation.open_tables else relation.rename(names).columns
    flows: dict[str, list[Flow]] = {}
    for name, flow in columns:
        flows.setdefault(name, []).append(flow)
    for name in (names or table.columns) if relation.open_tables else ():
        found = relation.find(name)
        if found is not None and name not in flows:
            flows[name] = [found]
    return {name: merge_flows(each) for name, each in flows.items()}


def _report_unknown_columns(
    table: TableSchema, relation: NamedRelation, flows: Mapping[str, Flow], context: StatementContext
) -> None:
    if relation.open_tables and len(flows) == len(relation.columns) and not table.columns:
        tables = ", ".join(each.name for each in relation.open_tables)
        context.problems.append(f"`*` stands for the columns of {tables}, which are not known")
