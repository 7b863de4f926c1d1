"""The target of a command, and how the columns of a query become columns of the target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from colline.plan.node import Node
from colline.plan.source import Source, SourceKind
from colline.trace.columns import ColumnRef, Effect
from colline.trace.expressions.basics import literal_string
from colline.trace.flow import (
    NO_DEPENDENCIES,
    UNCHANGED,
    Dependencies,
    Flow,
    apply_effect,
    dependency_entries,
    describe_dependencies,
    merge,
    values_without_inputs,
)
from colline.trace.relation import Relation
from colline.trace.result import ColumnLineage, Lifecycle, SchemaField, Write, quoted_names, with_quoted_names
from colline.trace.scan_source import source_of, table_source
from colline.trace.tracer import Trace


def build_write(
    target: Source,
    columns: Mapping[str, Flow],
    trace: Trace,
    *,
    row_dependencies: Dependencies = NO_DEPENDENCIES,
    schema: Iterable[SchemaField] = (),
    lifecycle: Lifecycle | None = None,
) -> Write:
    """A write with the lineage of its columns. `statement` adds the inputs and opaque steps."""
    written = tuple(schema)
    quoted = quoted_names(written)
    columns = {quoted.get(name, name): flow for name, flow in columns.items()}
    fields = {name: dependency_entries(flow.dependencies, flow.description) for name, flow in columns.items()}
    lineage = ColumnLineage(fields, dependency_entries(row_dependencies), values=values_without_inputs(columns))
    return Write(trace.context.name(target), target, lineage, with_quoted_names(written), lifecycle)


def write_query(
    target: Source, names: Sequence[str], node: Node, trace: Trace, *, lifecycle: Lifecycle | None = None
) -> Write:
    """The write of a command's query under the column names of the target, or under its own if `names` is empty."""
    query = node.optional("query") or node.optional("plan") or node.optional("inputQuery") or node.node("child")
    relation = trace(query)
    existing = _existing_columns(node)
    known = existing.strings("columns") if existing else ()
    column_names = match_names(names or output_names(query), known)
    replaced = replaced_rows(node, target, known or column_names, trace)
    return build_write(
        target,
        add_generated_columns(map_by_position(relation, column_names), existing),
        trace,
        row_dependencies=merge((relation.row_dependencies, replaced)),
        schema=written_schema(node, column_names),
        lifecycle=None if replaced else lifecycle,
    )


def replaced_rows(node: Node, target: Source, columns: Sequence[str], trace: Trace) -> Dependencies:
    """`option("replaceWhere", "k > 0")` → the target's k decides which of its rows are replaced."""
    text, *names = node.strings("replaced") or ("",)
    dataset = trace.context.name(target)
    found = {ColumnRef(dataset, name): UNCHANGED for name in match_names(names, columns)}
    return apply_effect(found, Effect.FILTER, text=text)


def _existing_columns(node: Node) -> Node | None:
    """What is known about the columns of the target of a command that writes by name."""
    table = node.optional("table")
    return (
        node.optional("target_columns") or node.optional("sink") or (table if table and table.kind == "Table" else None)
    )


def match_names(names: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """`ID` → `id`, if the target has a column `id` and none named `ID`; a new column keeps its name."""
    known = {column.lower(): column for column in columns}
    return tuple(name if name in columns else known.get(name.lower(), name) for name in names)


def map_by_position(relation: Relation, names: Sequence[str]) -> dict[str, Flow]:
    """The columns of a query under the names of the target; two columns with one name are merged."""
    columns: dict[str, Flow] = {}
    for position, name in enumerate(names[: len(relation.output)]):
        flow = relation.flow(position)
        if name in columns:
            flow = Flow(merge((describe_dependencies(columns[name]), describe_dependencies(flow))))
        columns[name] = flow
    return columns


def add_generated_columns(columns: Mapping[str, Flow], definition: Node | None) -> dict[str, Flow]:
    """`c int generated always as (a * 2)` → c from what is written to a, unless the statement writes c itself."""
    generated = definition.get("generated") if definition is not None else None
    written = {name.lower(): flow for name, flow in columns.items()}
    found = dict(columns)
    for item in generated if isinstance(generated, tuple) else ():
        name, text, *inputs = item if isinstance(item, tuple) else ()
        flows = [written[str(each).lower()] for each in inputs if str(each).lower() in written]
        if str(name).lower() not in written and flows:
            dependencies = merge(apply_effect(flow.dependencies, Effect.TRANSFORMATION) for flow in flows)
            found[str(name)] = Flow(dependencies, text=str(text), description=str(text))
    return found


def target_source(node: Node) -> Source:
    """The source of a resolved target: a relation, a table, or the identifier of a table to be created."""
    if node.kind == "SubqueryAlias":
        return target_source(node.children[0])
    if node.kind == "ResolvedIdentifier":
        catalog = node.optional("catalog")
        identifier = ((catalog.text("name"),) if catalog is not None else ()) + node.strings("identifier")
        location = node.text("location")
        return Source(SourceKind.TABLE, paths=(location,) if location else (), table=identifier)
    if node.kind in {"ResolvedTable", "ResolvedPersistentView"}:
        table = node.optional("table") or node.optional("metadata")
        catalog_table = table.optional("catalog_table") if table is not None else None
        if catalog_table is not None:
            return table_source(catalog_table)
    return source_of(node)


def kafka_target(options: tuple[tuple[str, str], ...], node: Node) -> Source:
    """The topic of the options, or the constant in the query's column `topic`."""
    topic = next((value for key, value in options if key.lower() == "topic"), "") or _constant_topic(node)
    others = tuple((key, value) for key, value in options if key.lower() != "topic")
    return Source(SourceKind.KAFKA, "kafka", options=(*others, *((("topic", topic),) if topic else ())))


def _constant_topic(node: Node) -> str:
    query = node.optional("query") or node.optional("inputQuery")
    for item in query.nodes("projectList") if query is not None else ():
        value = item.optional("child") if item.kind == "Alias" and item.text("name") == "topic" else None
        if value is not None and value.kind == "Literal":
            return literal_string(value)
    return ""


def output_names(node: Node) -> tuple[str, ...]:
    """The column names of an operator, taken from its first descendant that lists columns."""
    while True:
        items = node.nodes("projectList") or node.nodes("aggregateExpressions") or node.nodes("output")
        if items:
            return tuple(item.text("name") for item in items)
        child = node.optional("plan") if node.kind == "WithCTE" else (node.children or (None,))[0]
        if child is None:
            return ()
        node = child


def written_schema(node: Node, names: Sequence[str]) -> tuple[SchemaField, ...]:
    """The columns that a command writes, with the types of its query's columns, by position."""
    types = node.strings("types")
    return tuple(
        SchemaField(name, types[position] if position < len(types) else "") for position, name in enumerate(names)
    )


def column_type(column: Node) -> str:
    """The type of a column definition; the plan has a struct type as a list of members."""
    members = column.pairs("dataType")
    return f"struct<{','.join(f'{name}:{kind}' for name, kind in members)}>" if members else column.text("dataType")


def declared_schema(table: Node, argument: str = "schema") -> tuple[SchemaField, ...]:
    """The schema in the description of a table."""
    return tuple(SchemaField(name, kind) for name, kind in table.pairs(argument))


def drop_self_assignments(columns: Mapping[str, Flow], target: Source, trace: Trace) -> dict[str, Flow]:
    """`update set a = t.a, b = 1` → b. The analyzer adds `a = t.a` for every column that a statement does not set."""
    name = trace.context.name(target)
    return {key: flow for key, flow in columns.items() if flow.column != ColumnRef(name, key)}
