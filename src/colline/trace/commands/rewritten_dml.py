"""UPDATE, DELETE and MERGE that Spark's analyzer has rewritten into a replacement of rows, as it does for Iceberg.

MERGE becomes `MergeRows` over a join, UPDATE a projection of all columns, DELETE a filter for the rows that remain.
"""

from __future__ import annotations

from collections.abc import Iterator

from colline.plan.node import Node, Value
from colline.trace.columns import Effect
from colline.trace.commands.target import build_write, drop_self_assignments, target_source
from colline.trace.commands.update_delete import (
    add_condition,
    clauses_with_positions,
    condition_dependencies,
    conditions_of,
    target_relation,
)
from colline.trace.flow import NO_DEPENDENCIES, Dependencies, Flow, merge, merge_flows
from colline.trace.result import Write
from colline.trace.rule_registry import command
from colline.trace.tracer import Scope, Trace, schema_of

# the operation code of a deleted row, see RowDeltaUtils.DELETE_OPERATION of Spark
_DELETE_CODE = "1"
_CLAUSES = ("matchedInstructions", "notMatchedInstructions", "notMatchedBySourceInstructions")


@command("ReplaceData", "WriteDelta")
def replace_rows(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`update t set a = b where c > 0` → a from t.b, conditional on t.c. MERGE and DELETE arrive here too."""
    target, query = target_relation(node.node("originalTable")), node.node("query")
    merging = _find_merge_rows(query)
    if merging is not None:
        return (_merge_write(merging, target, trace),)
    scope = trace.scope(trace(target))
    source, schema = target_source(target), schema_of(target.nodes("output"))
    condition = node.optional("condition")
    trace(query)  # for the inputs of subqueries in the condition
    updated = _updated_rows(query)
    if updated is not None:
        updates = _updated_columns(updated, target, trace)
        where = [condition] if condition is not None else []
        columns = add_condition(updates, condition_dependencies(where, scope))
        return (build_write(source, columns, trace, schema=schema),)
    rows = scope.dependencies([condition], Effect.FILTER) if condition is not None else NO_DEPENDENCIES
    return (build_write(source, {}, trace, row_dependencies=rows, schema=schema),)


def _find_merge_rows(query: Node) -> Node | None:
    node = query
    while node.kind != "MergeRows":
        if len(node.children) != 1:
            return None
        node = node.children[0]
    return node


def _updated_rows(query: Node) -> Node | None:
    """The operator that computes the rows of an UPDATE; None for a DELETE, which computes none.

    It is a projection of `if(condition, b, a) as a`, or an Expand for a merge on read. With a sub-query in WHERE, the
    query is a UNION of the changed rows and the others.
    """
    node = query
    while node.kind in {"Project", "Union"} and not any(_new_value(item) for item in node.nodes("projectList")):
        node = node.children[0]
    return node if node.kind in {"Project", "Expand"} else None


def _new_value(item: Node) -> Node | None:
    """`if(condition, b, a) as a` → b"""
    choice = item.optional("child") if item.kind == "Alias" else None
    return choice.node("trueValue") if choice is not None and choice.kind == "If" else None


def _updated_columns(updated: Node, target: Node, trace: Trace) -> dict[str, Flow]:
    """The columns that an UPDATE sets. The analyzer adds the others: with their own value."""
    relation, scope = trace(updated), trace.scope(trace(updated.children[0]))
    items = {item.text("name"): item for item in updated.nodes("projectList") or updated.nodes("output")}
    columns = {}
    for name in (column.text("name") for column in target.nodes("output")):
        if name in items:
            value = _new_value(items[name])
            columns[name] = scope(value) if value is not None else relation.columns[items[name].text("id")]
    return drop_self_assignments(columns, target_source(target), trace)


def _merge_write(node: Node, target: Node, trace: Trace) -> Write:
    """`merge into t using s on t.k = s.k when matched then update set a = s.b` → a from s.b; t.k, s.k decide rows."""
    child = trace(node.node("child"))
    scope = trace.scope(child)
    positions = _column_positions(node, target)
    flows: dict[str, list[Flow]] = {}
    deletions: list[Dependencies] = []
    for clauses, position, clause in clauses_with_positions(node, _CLAUSES):
        if _deletes(clause, node):
            deletions.append(scope.dependencies(conditions_of(clauses[: position + 1]), Effect.FILTER))
        columns = drop_self_assignments(_clause_values(clause, positions, scope), target_source(target), trace)
        conditions = conditions_of([each for each in clauses[:position] if not _deletes(each, node)] + [clause])
        for name, flow in add_condition(columns, condition_dependencies(conditions, scope)).items():
            flows.setdefault(name, []).append(flow)
    columns = {name: merge_flows(found) for name, found in flows.items()}
    rows = merge((child.row_dependencies, *deletions))
    schema = schema_of(target.nodes("output"))
    return build_write(target_source(target), columns, trace, row_dependencies=rows, schema=schema)


def _deletes(clause: Node, node: Node) -> bool:
    """Whether a clause deletes rows: it discards them, or marks them as deleted where the table merges on read."""
    if clause.kind != "Keep":
        return clause.kind == "Discard"
    row = clause.get("output")
    code = row[0] if isinstance(row, tuple) and row else None
    has_codes = node.nodes("output")[0].text("name") == "__row_operation"
    return has_codes and isinstance(code, Node) and code.text("sql") == _DELETE_CODE


def _column_positions(node: Node, target: Node) -> dict[str, int]:
    """The positions of the target's columns in a rewritten row, which starts with an operation code since Spark 4."""
    names = [a.text("name") for a in node.nodes("output")]
    return {name: names.index(name) for name in (a.text("name") for a in target.nodes("output")) if name in names}


def _clause_values(clause: Node, positions: dict[str, int], scope: Scope) -> dict[str, Flow]:
    """The values that a clause writes; a row that is copied or deleted has none."""
    if clause.get("context") == "Copy":
        return {}
    columns: dict[str, Flow] = {}
    for row in (clause.get("output"), clause.get("otherOutput")):
        columns.update(_row_values(row, positions, scope))
    return columns


def _row_values(row: Value, positions: dict[str, int], scope: Scope) -> Iterator[tuple[str, Flow]]:
    """The values of one rewritten row by column; a row with literals only is a deletion and has none."""
    items = row if isinstance(row, tuple) else ()
    pairs = ((name, items[position]) for name, position in positions.items() if position < len(items))
    values = [(name, item) for name, item in pairs if isinstance(item, Node)]
    if all(item.kind == "Literal" for _, item in values):
        return
    yield from ((name, scope(item)) for name, item in values)
