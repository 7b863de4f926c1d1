"""Row-level statements that Spark's analyzer has already rewritten into a replacement of rows, as it does for Iceberg.

MERGE is a `MergeRows` over a join, UPDATE a projection of the target's columns, DELETE the rows that stay.
"""

from __future__ import annotations

from collections.abc import Iterator

from colline.plan.node import Node, Value
from colline.trace.columns import Effect
from colline.trace.commands.target import drop_self_assignments, target_source, write
from colline.trace.commands.update_delete import add_condition, condition_dependencies, target_relation
from colline.trace.flow import Dependencies, Flow, merge, merge_flows
from colline.trace.operators.opaque import depends_on_every_column
from colline.trace.relation import Relation
from colline.trace.result import Write
from colline.trace.rule_registry import command, operator
from colline.trace.tracer import Scope, Trace, schema_of

_INSTRUCTIONS = ("matchedInstructions", "notMatchedInstructions", "notMatchedBySourceInstructions")


@operator("MergeRows")
def merged_rows(node: Node, trace: Trace) -> Relation:
    """The rows of a MERGE, read by the statement's own rule."""
    return depends_on_every_column(node, trace(node.node("child")))


@command("ReplaceData", "WriteDelta")
def replace_rows(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`update t set a = b where c` → a from t.b, conditional on t.c; MERGE and DELETE likewise"""
    target, query = target_relation(node.node("originalTable")), node.node("query")
    merging = _merge_rows(query)
    if merging is not None:
        return (_merge(merging, target, trace),)
    scope = trace.scope(trace(target))
    columns = _updated_columns(query, target, trace)
    schema = schema_of(target.nodes("output"))
    condition = node.optional("condition")
    if columns:
        return (
            write(
                target_source(target),
                add_condition(columns, condition_dependencies(condition, scope)),
                trace,
                schema=schema,
            ),
        )
    rows = scope.dependencies([condition], Effect.FILTER) if condition is not None else {}
    trace(query)  # a sub-query in the condition reads tables of its own
    return (write(target_source(target), {}, trace, rows=rows, schema=schema),)


def _merge_rows(query: Node) -> Node | None:
    found = query
    while found.kind != "MergeRows":
        if len(found.children) != 1:
            return None
        found = found.children[0]
    return found


def _updated_columns(query: Node, target: Node, trace: Trace) -> dict[str, Flow]:
    """The columns an UPDATE sets: those of the rewritten rows that are not the target's own column as it was."""
    relation = trace(query)
    kept = {item.text("id") for item in _unchanged(query)}
    named = {a.text("name"): a for a in _output(query)}
    columns = {
        name: relation.columns[named[name].text("id")]
        for name in (a.text("name") for a in target.nodes("output"))
        if name in named and named[name].text("id") in relation.columns and named[name].text("id") not in kept
    }
    return drop_self_assignments(columns, target_source(target), trace)


def _output(query: Node) -> tuple[Node, ...]:
    return query.nodes("projectList") or query.nodes("output")


def _unchanged(query: Node) -> Iterator[Node]:
    """`if(condition, a, a) as a`: what the analyzer writes for a column that no one sets."""
    for node in (query, *query.children):
        for item in node.nodes("projectList"):
            choice = item.optional("child")
            if choice is not None and choice.kind == "If" and choice.get("trueValue") is choice.get("falseValue"):
                yield item


def _merge(node: Node, target: Node, trace: Trace) -> Write:
    below = trace(node.node("child"))
    scope = trace.scope(below)
    places = _column_positions(node, target)
    found: dict[str, list[Flow]] = {}
    deleted: list[Dependencies] = []
    for instruction in (item for name in _INSTRUCTIONS for item in node.nodes(name)):
        condition = _clause_condition(instruction)
        if instruction.kind == "Discard" and condition is not None:
            deleted.append(scope.dependencies([condition], Effect.FILTER))
        columns = drop_self_assignments(_clause_values(instruction, places, scope), target_source(target), trace)
        for name, flow in add_condition(columns, condition_dependencies(condition, scope)).items():
            found.setdefault(name, []).append(flow)
    columns = {name: merge_flows(flows) for name, flows in found.items()}
    rows = merge((below.row_dependencies, *deleted))
    return write(target_source(target), columns, trace, rows=rows, schema=schema_of(target.nodes("output")))


def _clause_condition(instruction: Node) -> Node | None:
    """The condition of a clause; `true` is one that nobody wrote."""
    condition = instruction.optional("condition")
    return None if condition is None or condition.kind == "Literal" else condition


def _column_positions(node: Node, target: Node) -> dict[str, int]:
    """Where the target's columns stand in a rewritten row: from Spark 4 on the operation's number comes first."""
    listed = [a.text("name") for a in node.nodes("output")]
    return {name: listed.index(name) for name in (a.text("name") for a in target.nodes("output")) if name in listed}


def _clause_values(instruction: Node, places: dict[str, int], scope: Scope) -> dict[str, Flow]:
    """The values a clause gives to the target's columns; a row that is copied or deleted gives none."""
    if instruction.get("context") == "Copy":
        return {}
    columns: dict[str, Flow] = {}
    for row in (instruction.get("output"), instruction.get("otherOutput")):
        columns.update(_row_values(row, places, scope))
    return columns


def _row_values(row: Value, places: dict[str, int], scope: Scope) -> Iterator[tuple[str, Flow]]:
    """The target's columns in one rewritten row; a row of nothing but literals deletes."""
    items = row if isinstance(row, tuple) else ()
    given = ((name, items[position]) for name, position in places.items() if position < len(items))
    values = [(name, item) for name, item in given if isinstance(item, Node)]
    if all(item.kind == "Literal" for _, item in values):
        return
    yield from ((name, scope(item)) for name, item in values)
