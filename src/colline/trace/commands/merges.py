"""MERGE: values per column over all clauses, ON for the rows, a clause's own condition for what it sets."""

from __future__ import annotations

from collections.abc import Iterable

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.commands.target import drop_self_assignments, target_source, write
from colline.trace.commands.update_delete import add_condition, condition_dependencies, target_relation
from colline.trace.flow import Dependencies, Flow, merge, merge_flows
from colline.trace.operators.joins import join_dependencies
from colline.trace.result import SchemaField, Write
from colline.trace.rule_registry import command
from colline.trace.tracer import Scope, Trace, schema_of

# Delta's command and Spark's own statement call the same things by other names
_SOURCE = ("source", "sourceTable")
_TARGET = ("target", "targetTable")
_CONDITION = ("condition", "mergeCondition")
_CLAUSES = (
    "matchedClauses",
    "notMatchedClauses",
    "notMatchedBySourceClauses",
    "matchedActions",
    "notMatchedActions",
    "notMatchedBySourceActions",
)


@command("MergeIntoCommand", "MergeIntoTable", "DeltaMergeInto")
def merge_into(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`merge into t using s on t.k = s.k when matched then update set a = s.b` → a from s.b; rows by t.k and s.k"""
    source, target_plan = trace(_first(node, _SOURCE)), _first(node, _TARGET)
    target = target_relation(target_plan)
    scope = trace.scope(source, trace(target_plan))
    on = join_dependencies(_first(node, _CONDITION), dict(scope.columns), trace)
    set_columns: dict[str, list[Flow]] = {}
    deleted: list[Dependencies] = []
    for clause in (item for name in _CLAUSES for item in node.nodes(name)):
        columns = drop_self_assignments(dict(_assignments(clause, scope)), target_source(target), trace)
        condition = clause.optional("condition")
        if "Delete" in clause.kind and condition is not None:
            deleted.append(scope.dependencies([condition], Effect.FILTER))
        for name, flow in add_condition(columns, condition_dependencies(condition, scope)).items():
            set_columns.setdefault(name, []).append(flow)
    merged = {name: merge_flows(flows) for name, flows in set_columns.items()}
    rows = merge((source.row_dependencies, on, *deleted))
    return (write(target_source(target), merged, trace, rows=rows, schema=_schema(node, target)),)


def _first(node: Node, names: tuple[str, ...]) -> Node:
    return next(found for found in (node.optional(name) for name in names) if found is not None)


def _assignments(clause: Node, scope: Scope) -> Iterable[tuple[str, Flow]]:
    for action in (*clause.nodes("actions"), *clause.nodes("assignments")):
        if action.kind == "Assignment":
            key = action.node("key")
            yield key.text("name") or key.text("field"), scope(action.node("value"))
        else:
            # a nested column is set as a whole: Delta rebuilds its struct
            yield action.strings("targetColNameParts")[0], scope(action.node("expr"))


def _schema(node: Node, target: Node) -> tuple[SchemaField, ...]:
    evolved = node.pairs("migratedSchema")
    return tuple(SchemaField(name, kind) for name, kind in evolved) or schema_of(target.nodes("output"))
