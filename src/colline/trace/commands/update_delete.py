"""UPDATE and DELETE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.commands.target import build_write, drop_self_assignments, target_source
from colline.trace.flow import NO_DEPENDENCIES, Dependencies, Flow, apply_effect, merge, merge_flows
from colline.trace.result import Lifecycle, Write
from colline.trace.rule_registry import command
from colline.trace.tracer import Scope, Trace, schema_of


def target_relation(node: Node) -> Node:
    """The relation of a target, below its aliases."""
    while node.children:
        node = node.children[0]
    return node


def add_condition(columns: dict[str, Flow], condition: Dependencies) -> dict[str, Flow]:
    """Columns that are set only where a condition holds."""
    return {
        name: replace(flow, dependencies=merge((flow.dependencies, condition)), column=None)
        for name, flow in columns.items()
    }


def condition_dependencies(conditions: Sequence[Node], scope: Scope) -> Dependencies:
    """`update t set a = b where c > 0` → t.c CONDITIONAL."""
    return scope.dependencies(conditions, Effect.CONDITIONAL) if conditions else NO_DEPENDENCIES


def assigned_flow(assignment: Node, target: Node, scope: Scope) -> tuple[str, Flow]:
    """`A = b` → the target's own spelling of a, and the flow of b; `s.x = b` → s, and b TRANSFORMATION."""
    key, flow = assignment.node("key"), scope(assignment.node("value"))
    while key.kind == "GetStructField":
        key, flow = key.node("child"), Flow(apply_effect(flow.dependencies, Effect.TRANSFORMATION), text=flow.text)
    names = {column.text("id"): column.text("name") for column in target.nodes("output")}
    return names.get(key.text("id")) or key.text("name"), flow


def clause_condition(clause: Node) -> Node | None:
    """The condition of a MERGE clause; the analyzer writes `true` for a clause without one."""
    condition = clause.optional("condition")
    return None if condition is None or condition.kind == "Literal" else condition


def clauses_with_positions(node: Node, kinds: Sequence[str]) -> Iterator[tuple[tuple[Node, ...], int, Node]]:
    """Each clause of a MERGE, after the clauses of the same kind and its position among them."""
    for kind in kinds:
        clauses = node.nodes(kind)
        yield from ((clauses, position, clause) for position, clause in enumerate(clauses))


def conditions_of(clauses: Sequence[Node]) -> list[Node]:
    """The conditions of clauses: whether one applies depends on its own and on those of the clauses before it."""
    conditions = (clause_condition(clause) for clause in clauses)
    return [condition for condition in conditions if condition is not None]


@command("UpdateCommand")
def update_delta(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`update t set a = b + 1 where c > 0` on a Delta table → a from t.b, conditional on t.c."""
    target = target_relation(node.node("target"))
    scope = trace.scope(trace(node.node("target")))
    names = [a.text("name") for a in target.nodes("output")]
    flows = [scope(item) for item in node.nodes("updateExpressions")]
    return (_update(node, target, dict(zip(names, flows, strict=False)), scope),)


@command("UpdateTable")
def update_table(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`update t set a = b + 1 where c > 0` on a DataSource V2 table → a from t.b, conditional on t.c."""
    table = node.node("table")
    scope = trace.scope(trace(table))
    target = target_relation(table)
    columns: dict[str, list[Flow]] = {}
    for item in node.nodes("assignments"):
        name, flow = assigned_flow(item, target, scope)
        columns.setdefault(name, []).append(flow)
    return (_update(node, target, {name: merge_flows(flows) for name, flows in columns.items()}, scope),)


def _update(node: Node, target: Node, columns: dict[str, Flow], scope: Scope) -> Write:
    source = target_source(target)
    where = [each for each in [node.optional("condition")] if each is not None]
    condition = condition_dependencies(where, scope)
    changed = add_condition(drop_self_assignments(columns, source, scope.trace), condition)
    return build_write(source, changed, scope.trace, schema=schema_of(target.nodes("output")))


@command("DeleteCommand", "DeleteFromTable")
def delete(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`delete from t where a > 0` → t.a decides the rows of t."""
    table = node.optional("target") or node.node("table")
    target = target_relation(table)
    condition = node.optional("condition")
    is_all = condition is None or (condition.kind == "Literal" and condition.text("sql") == "true")
    selection = NO_DEPENDENCIES
    if condition is not None:
        selection = trace.scope(trace(table)).dependencies([condition], Effect.FILTER)
    return (
        build_write(
            target_source(target),
            {},
            trace,
            row_dependencies=selection,
            schema=schema_of(target.nodes("output")),
            lifecycle=Lifecycle.TRUNCATE if is_all else None,
        ),
    )
