"""What a command writes to, and how a query's columns become the target's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from colline.plan.node import Node
from colline.plan.source import Source, SourceKind
from colline.trace.columns import ColumnRef, Effect
from colline.trace.flow import (
    NO_DEPENDENCIES,
    Dependencies,
    Flow,
    apply_effect,
    dependency_entries,
    describe_dependencies,
    merge,
)
from colline.trace.relation import Relation
from colline.trace.result import ColumnLineage, Lifecycle, SchemaField, Write
from colline.trace.scan_source import source_of, table_source
from colline.trace.tracer import Trace


def write(
    target: Source,
    columns: Mapping[str, Flow],
    trace: Trace,
    *,
    rows: Dependencies = NO_DEPENDENCIES,
    schema: Iterable[SchemaField] = (),
    lifecycle: Lifecycle | None = None,
) -> Write:
    """One write, with the lineage of its columns; inputs and opaque steps are filled in for the whole statement."""
    fields = {name: dependency_entries(flow.dependencies, flow.description) for name, flow in columns.items()}
    lineage = ColumnLineage(fields, dependency_entries(rows))
    return Write(trace.context.name(target), target, lineage, tuple(schema), lifecycle)


def write_rows(
    target: Source, names: Sequence[str], node: Node, trace: Trace, lifecycle: Lifecycle | None = None
) -> Write:
    """The write of a command's query; its columns go by the target's `names`, or by their own where none are given."""
    query = node.optional("query") or node.optional("plan") or node.node("child")
    relation, listed = trace(query), names or output_names(query)
    columns, schema = map_by_position(relation, listed), written_schema(node, listed)
    return write(target, columns, trace, rows=relation.row_dependencies, schema=schema, lifecycle=lifecycle)


def map_by_position(relation: Relation, names: Sequence[str]) -> dict[str, Flow]:
    """The query's columns under the target's names; a name that occurs twice has the ways of both."""
    columns: dict[str, Flow] = {}
    for position, name in enumerate(names[: len(relation.output)]):
        flow = relation.flow(position)
        known = columns.get(name)
        columns[name] = (
            flow if known is None else Flow(merge((describe_dependencies(known), describe_dependencies(flow))))
        )
    return columns


def add_generated_columns(columns: Mapping[str, Flow], table: Node) -> dict[str, Flow]:
    """`c int generated always as (a * 2)` → c from what was written to a, unless c was given itself."""
    describe_dependencies = table.optional("table")
    given = describe_dependencies.get("generated") if describe_dependencies is not None else None
    found = dict(columns)
    written = {name.lower(): flow for name, flow in columns.items()}
    for item in given if isinstance(given, tuple) else ():
        name, text, *others = item if isinstance(item, tuple) else ()
        flows = [written[str(other).lower()] for other in others if str(other).lower() in written]
        if str(name).lower() not in written and flows:
            dependencies = merge(apply_effect(flow.dependencies, Effect.TRANSFORMATION) for flow in flows)
            found[str(name)] = Flow(dependencies, text=str(text), description=str(text))
    return found


def target_source(node: Node) -> Source:
    """The source of a target that a catalog resolved: a relation, a table, or an identifier not there yet."""
    if node.kind == "SubqueryAlias":
        return target_source(node.children[0])
    if node.kind == "ResolvedIdentifier":
        catalog = node.optional("catalog")
        parts = ((catalog.text("name"),) if catalog is not None else ()) + node.strings("identifier")
        location = node.text("location")
        return Source(SourceKind.TABLE, paths=(location,) if location else (), table=parts)
    if node.kind in {"ResolvedTable", "ResolvedPersistentView"}:
        table = node.optional("table") or node.optional("metadata")
        inner = table.optional("catalog_table") if table is not None else None
        if inner is not None:
            return table_source(inner)
    return source_of(node)


def output_names(node: Node) -> tuple[str, ...]:
    """The names of an operator's output columns as the plan writes them, looked up through what only passes them on."""
    while True:
        listed = node.nodes("projectList") or node.nodes("aggregateExpressions") or node.nodes("output")
        if listed:
            return tuple(item.text("name") for item in listed)
        below = node.optional("plan") if node.kind == "WithCTE" else (node.children or (None,))[0]
        if below is None:
            return ()
        node = below


def written_schema(node: Node, names: Sequence[str]) -> tuple[SchemaField, ...]:
    """The columns a command writes, with the types of its query's columns in the same places."""
    types = node.strings("types")
    return tuple(
        SchemaField(name, types[position] if position < len(types) else "") for position, name in enumerate(names)
    )


def type_text(column: Node) -> str:
    """The type of a defined column; a struct's stands in the plan as its members."""
    members = column.pairs("dataType")
    return f"struct<{','.join(f'{name}:{kind}' for name, kind in members)}>" if members else column.text("dataType")


def schema_fields(table: Node, name: str = "schema") -> tuple[SchemaField, ...]:
    """A described table's own schema."""
    return tuple(SchemaField(key, kind) for key, kind in table.pairs(name))


def drop_self_assignments(columns: Mapping[str, Flow], target: Source, trace: Trace) -> dict[str, Flow]:
    """Columns less those that were only set to themselves: the analyzer's way to say that they stay as they are."""
    name = trace.context.name(target)
    return {key: flow for key, flow in columns.items() if flow.column != ColumnRef(name, key)}
