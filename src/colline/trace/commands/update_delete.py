"""Statements that change rows in place: UPDATE, DELETE, TRUNCATE."""

from __future__ import annotations

from dataclasses import replace

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.commands.target import resolved, without_itself, write
from colline.trace.flow import NO_WAYS, Flow, Ways, merge
from colline.trace.result import Lifecycle, Write
from colline.trace.rule_registry import command
from colline.trace.tracer import Scope, Trace, schema_of


def leaf(node: Node) -> Node:
    """The relation at the bottom of a target, below its aliases."""
    while node.children:
        node = node.children[0]
    return node


def set_under(columns: dict[str, Flow], condition: Ways) -> dict[str, Flow]:
    """Columns that are set only where a condition holds."""
    return {name: replace(flow, ways=merge((flow.ways, condition)), column=None) for name, flow in columns.items()}


def conditional(condition: Node | None, scope: Scope) -> Ways:
    """What a clause's condition adds to the columns that it sets."""
    return scope.ways([condition], Effect.CONDITIONAL) if condition is not None else NO_WAYS


@command("UpdateCommand")
def update_delta(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`update t set a = b + 1 where c > 0` → a from t.b, conditional on t.c"""
    target = leaf(node.node("target"))
    scope = trace.scope(trace(node.node("target")))
    names = [a.text("name") for a in target.nodes("output")]
    flows = [scope(item) for item in node.nodes("updateExpressions")]
    columns = without_itself(dict(zip(names, flows, strict=False)), resolved(target), trace)
    return (_updated(target, columns, conditional(node.maybe("condition"), scope), trace),)


@command("UpdateTable")
def update_catalog(node: Node, trace: Trace) -> tuple[Write, ...]:
    """The same for a catalog that takes the statement as it is."""
    table = node.node("table")
    scope = trace.scope(trace(table))
    columns = {_assigned(item): scope(item.node("value")) for item in node.nodes("assignments")}
    target = leaf(table)
    kept = without_itself(columns, resolved(target), trace)
    return (_updated(target, kept, conditional(node.maybe("condition"), scope), trace),)


def _assigned(assignment: Node) -> str:
    key = assignment.node("key")
    return key.text("name") or key.text("field")


def _updated(target: Node, columns: dict[str, Flow], condition: Ways, trace: Trace) -> Write:
    return write(resolved(target), set_under(columns, condition), trace, schema=schema_of(target.nodes("output")))


@command("DeleteCommand", "DeleteFromTable")
def delete(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`delete from t where a > 0` → rows of t by t.a"""
    table = node.maybe("target") or node.node("table")
    target = leaf(table)
    condition = node.maybe("condition")
    kept = trace.scope(trace(table)).ways([condition], Effect.FILTER) if condition is not None else NO_WAYS
    lifecycle = Lifecycle.TRUNCATE if not kept else None
    return (
        write(resolved(target), {}, trace, rows=kept, schema=schema_of(target.nodes("output")), lifecycle=lifecycle),
    )
