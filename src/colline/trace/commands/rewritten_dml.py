"""Row-level statements that Spark's analyzer has already rewritten into a replacement of rows, as it does for Iceberg.

MERGE is a `MergeRows` over a join, UPDATE a projection of the target's columns, DELETE the rows that stay.
"""

from __future__ import annotations

from collections.abc import Iterator

from colline.plan.node import Node, Value
from colline.trace.columns import Effect
from colline.trace.commands.target import resolved, without_itself, write
from colline.trace.commands.update_delete import conditional, leaf, set_under
from colline.trace.flow import Flow, Ways, either, merge
from colline.trace.operators.opaque import expanded
from colline.trace.relation import Relation
from colline.trace.result import Write
from colline.trace.rule_registry import command, operator
from colline.trace.tracer import Scope, Trace, schema_of

_INSTRUCTIONS = ("matchedInstructions", "notMatchedInstructions", "notMatchedBySourceInstructions")


@operator("MergeRows")
def merged_rows(node: Node, trace: Trace) -> Relation:
    """The rows of a MERGE, read by the statement's own rule."""
    return expanded(node, trace(node.node("child")))


@command("ReplaceData", "WriteDelta")
def replace_rows(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`update t set a = b where c` → a from t.b, conditional on t.c; MERGE and DELETE likewise"""
    target, query = leaf(node.node("originalTable")), node.node("query")
    merging = _merge_rows(query)
    if merging is not None:
        return (_merged(merging, target, trace),)
    scope = trace.scope(trace(target))
    columns = _set(query, target, trace)
    schema = schema_of(target.nodes("output"))
    condition = node.maybe("condition")
    if columns:
        return (write(resolved(target), set_under(columns, conditional(condition, scope)), trace, schema=schema),)
    rows = scope.ways([condition], Effect.FILTER) if condition is not None else {}
    trace(query)  # a sub-query in the condition reads tables of its own
    return (write(resolved(target), {}, trace, rows=rows, schema=schema),)


def _merge_rows(query: Node) -> Node | None:
    found = query
    while found.kind != "MergeRows":
        if len(found.children) != 1:
            return None
        found = found.children[0]
    return found


def _set(query: Node, target: Node, trace: Trace) -> dict[str, Flow]:
    """The columns an UPDATE sets: those of the rewritten rows that are not the target's own column as it was."""
    relation = trace(query)
    kept = {item.text("id") for item in _unchanged(query)}
    named = {a.text("name"): a for a in _output(query)}
    columns = {
        name: relation.columns[named[name].text("id")]
        for name in (a.text("name") for a in target.nodes("output"))
        if name in named and named[name].text("id") in relation.columns and named[name].text("id") not in kept
    }
    return without_itself(columns, resolved(target), trace)


def _output(query: Node) -> tuple[Node, ...]:
    return query.nodes("projectList") or query.nodes("output")


def _unchanged(query: Node) -> Iterator[Node]:
    """`if(condition, a, a) as a`: what the analyzer writes for a column that no one sets."""
    for node in (query, *query.children):
        for item in node.nodes("projectList"):
            choice = item.maybe("child")
            if choice is not None and choice.kind == "If" and choice.get("trueValue") is choice.get("falseValue"):
                yield item


def _merged(node: Node, target: Node, trace: Trace) -> Write:
    below = trace(node.node("child"))
    scope = trace.scope(below)
    places = _places(node, target)
    found: dict[str, list[Flow]] = {}
    deleted: list[Ways] = []
    for instruction in (item for name in _INSTRUCTIONS for item in node.nodes(name)):
        condition = _written(instruction)
        if instruction.kind == "Discard" and condition is not None:
            deleted.append(scope.ways([condition], Effect.FILTER))
        columns = without_itself(_given(instruction, places, scope), resolved(target), trace)
        for name, flow in set_under(columns, conditional(condition, scope)).items():
            found.setdefault(name, []).append(flow)
    columns = {name: either(flows) for name, flows in found.items()}
    rows = merge((below.rows, *deleted))
    return write(resolved(target), columns, trace, rows=rows, schema=schema_of(target.nodes("output")))


def _written(instruction: Node) -> Node | None:
    """The condition of a clause; `true` is one that nobody wrote."""
    condition = instruction.maybe("condition")
    return None if condition is None or condition.kind == "Literal" else condition


def _places(node: Node, target: Node) -> dict[str, int]:
    """Where the target's columns stand in a rewritten row: from Spark 4 on the operation's number comes first."""
    listed = [a.text("name") for a in node.nodes("output")]
    return {name: listed.index(name) for name in (a.text("name") for a in target.nodes("output")) if name in listed}


def _given(instruction: Node, places: dict[str, int], scope: Scope) -> dict[str, Flow]:
    """The values a clause gives to the target's columns; a row that is copied or deleted gives none."""
    if instruction.get("context") == "Copy":
        return {}
    columns: dict[str, Flow] = {}
    for row in (instruction.get("output"), instruction.get("otherOutput")):
        columns.update(_row(row, places, scope))
    return columns


def _row(row: Value, places: dict[str, int], scope: Scope) -> Iterator[tuple[str, Flow]]:
    """The target's columns in one rewritten row; a row of nothing but literals deletes."""
    items = row if isinstance(row, tuple) else ()
    given = ((name, items[place]) for name, place in places.items() if place < len(items))
    values = [(name, item) for name, item in given if isinstance(item, Node)]
    if all(item.kind == "Literal" for _, item in values):
        return
    yield from ((name, scope(item)) for name, item in values)
