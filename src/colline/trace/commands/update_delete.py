"""Statements that change rows in place: UPDATE, DELETE, TRUNCATE."""

from __future__ import annotations

from dataclasses import replace

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.commands.target import drop_self_assignments, target_source, write
from colline.trace.flow import NO_DEPENDENCIES, Dependencies, Flow, merge
from colline.trace.result import Lifecycle, Write
from colline.trace.rule_registry import command
from colline.trace.tracer import Scope, Trace, schema_of


def target_relation(node: Node) -> Node:
    """The relation at the bottom of a target, below its aliases."""
    while node.children:
        node = node.children[0]
    return node


def add_condition(columns: dict[str, Flow], condition: Dependencies) -> dict[str, Flow]:
    """Columns that are set only where a condition holds."""
    return {
        name: replace(flow, dependencies=merge((flow.dependencies, condition)), column=None)
        for name, flow in columns.items()
    }


def condition_dependencies(condition: Node | None, scope: Scope) -> Dependencies:
    """What a clause's condition adds to the columns that it sets."""
    return scope.dependencies([condition], Effect.CONDITIONAL) if condition is not None else NO_DEPENDENCIES


@command("UpdateCommand")
def update_delta(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`update t set a = b + 1 where c > 0` → a from t.b, conditional on t.c"""
    target = target_relation(node.node("target"))
    scope = trace.scope(trace(node.node("target")))
    names = [a.text("name") for a in target.nodes("output")]
    flows = [scope(item) for item in node.nodes("updateExpressions")]
    columns = drop_self_assignments(dict(zip(names, flows, strict=False)), target_source(target), trace)
    return (_update(target, columns, condition_dependencies(node.optional("condition"), scope), trace),)


@command("UpdateTable")
def update_catalog(node: Node, trace: Trace) -> tuple[Write, ...]:
    """The same for a catalog that takes the statement as it is."""
    table = node.node("table")
    scope = trace.scope(trace(table))
    columns = {_assigned_column(item): scope(item.node("value")) for item in node.nodes("assignments")}
    target = target_relation(table)
    kept = drop_self_assignments(columns, target_source(target), trace)
    return (_update(target, kept, condition_dependencies(node.optional("condition"), scope), trace),)


def _assigned_column(assignment: Node) -> str:
    key = assignment.node("key")
    return key.text("name") or key.text("field")


def _update(target: Node, columns: dict[str, Flow], condition: Dependencies, trace: Trace) -> Write:
    return write(
        target_source(target), add_condition(columns, condition), trace, schema=schema_of(target.nodes("output"))
    )


@command("DeleteCommand", "DeleteFromTable")
def delete(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`delete from t where a > 0` → rows of t by t.a"""
    table = node.optional("target") or node.node("table")
    target = target_relation(table)
    condition = node.optional("condition")
    kept = (
        trace.scope(trace(table)).dependencies([condition], Effect.FILTER) if condition is not None else NO_DEPENDENCIES
    )
    lifecycle = Lifecycle.TRUNCATE if not kept else None
    return (
        write(
            target_source(target), {}, trace, rows=kept, schema=schema_of(target.nodes("output")), lifecycle=lifecycle
        ),
    )
