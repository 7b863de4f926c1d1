"""MERGE: values per column from all clauses; ON decides the rows, a clause's condition the columns that it sets."""

from __future__ import annotations

from collections.abc import Iterator

from colline.plan.node import Node
from colline.trace.columns import Effect
from colline.trace.commands.target import build_write, drop_self_assignments, target_source
from colline.trace.commands.update_delete import (
    add_condition,
    assigned_flow,
    clauses_with_positions,
    condition_dependencies,
    conditions_of,
    target_relation,
)
from colline.trace.flow import Dependencies, Flow, merge, merge_flows
from colline.trace.operators.joins import join_dependencies
from colline.trace.result import SchemaField, Write
from colline.trace.rule_registry import command
from colline.trace.tracer import Scope, Trace, schema_of

# names of the same argument in Delta's commands and in Spark's own
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


@command("MergeIntoCommand", "MergeIntoTable")
def merge_into(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`merge into t using s on t.k = s.k when matched then update set a = s.b` → a from s.b; t.k, s.k decide rows."""
    source, target_plan = trace(_first_child(node, _SOURCE)), _first_child(node, _TARGET)
    target = target_relation(target_plan)
    scope = trace.scope(source, trace(target_plan))
    on = join_dependencies(_first_child(node, _CONDITION), scope.columns, trace)
    flows: dict[str, list[Flow]] = {}
    deletions: list[Dependencies] = []
    for clauses, position, clause in clauses_with_positions(node, _CLAUSES):
        if _deletes(clause):
            deletions.append(scope.dependencies(conditions_of(clauses[: position + 1]), Effect.FILTER))
        columns = drop_self_assignments(_assignments(clause, target, scope), target_source(target), trace)
        conditions = conditions_of([each for each in clauses[:position] if not _deletes(each)] + [clause])
        for name, flow in add_condition(columns, condition_dependencies(conditions, scope)).items():
            flows.setdefault(name, []).append(flow)
    columns = {name: merge_flows(found) for name, found in flows.items()}
    rows = merge((source.row_dependencies, on, *deletions))
    schema = _schema(node, target)
    return (build_write(target_source(target), columns, trace, row_dependencies=rows, schema=schema),)


def _deletes(clause: Node) -> bool:
    return "Delete" in clause.kind


def _first_child(node: Node, names: tuple[str, ...]) -> Node:
    return next(found for found in (node.optional(name) for name in names) if found is not None)


def _assignments(clause: Node, target: Node, scope: Scope) -> dict[str, Flow]:
    """`update set a = s.b` → a, and the flow of s.b."""
    flows: dict[str, list[Flow]] = {}
    for name, flow in _each_assignment(clause, target, scope):
        flows.setdefault(name, []).append(flow)
    return {name: merge_flows(found) for name, found in flows.items()}


def _each_assignment(clause: Node, target: Node, scope: Scope) -> Iterator[tuple[str, Flow]]:
    """The assignments of one clause, in their order."""
    for action in (*clause.nodes("actions"), *clause.nodes("assignments")):
        if action.kind == "Assignment":
            yield assigned_flow(action, target, scope)
        else:
            # to set a nested column, Delta rebuilds and assigns the whole struct
            yield action.strings("targetColNameParts")[0], scope(action.node("expr"))


def _schema(node: Node, target: Node) -> tuple[SchemaField, ...]:
    """The schema of the target after the statement, with columns that schema evolution adds."""
    evolved = node.pairs("migratedSchema")
    return tuple(SchemaField(name, kind) for name, kind in evolved) or schema_of(target.nodes("output"))
