"""Session variables and the variables of SQL scripts. What is assigned to one flows on into the queries that use it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from colline.plan.node import Node
from colline.trace.checkpoints import QueryMemory
from colline.trace.flow import Flow, describe_dependencies, merge
from colline.trace.relation import Relation
from colline.trace.rule_registry import expression
from colline.trace.tracer import Scope, Trace

_GENERATED_LABEL = re.compile(r"[0-9a-f-]{36}")
VARIABLE_COMMANDS = ("SetVariable", "CreateVariable")


def assign_variables(node: Node, trace: Trace) -> None:
    """`set var x = (select max(a) from t)` → x from t.a, AGGREGATION; `declare x int` → x without an input."""
    memory = trace.context.memory
    if node.kind == "CreateVariable":
        for each in node.nodes("names"):
            if not _is_of_loop(_name(each)):
                memory.set_variable(_name(each), _default(node, trace))
        return
    relation = trace(node.node("sourceQuery"))
    for position, each in enumerate(node.nodes("targetVariables")[: len(relation.output)]):
        flow = relation.flow(position)
        dependencies = merge((describe_dependencies(flow), relation.row_dependencies))
        memory.set_variable(_name(each), Flow(dependencies) if dependencies else _loop_value(_name(each), memory))


def _default(node: Node, trace: Trace) -> Flow:
    value = node.optional("defaultExpr")
    child = value.optional("child") if value is not None else None
    return Scope(trace, {})(child) if child is not None else Flow()


def _loop_value(name: str, memory: QueryMemory) -> Flow:
    """The value of `r.a` in `for r as select a from t do …`: Spark assigns the rows of the query as constants."""
    if not _is_of_loop(name):
        return Flow()
    known = memory.variable(name)
    return known if known.dependencies else memory.last_output(name.rpartition(".")[2])


def _is_of_loop(name: str) -> bool:
    """`r.a`: the label of a loop is the name of its rows; other variables of a script have a generated label."""
    label = name.rpartition(".")[0]
    return bool(label) and label != "session" and not _GENERATED_LABEL.fullmatch(label)


def _name(node: Node) -> str:
    """The variable's namespace and name, such as `session.x`."""
    parts = node.strings("identifier") or node.strings("nameParts")
    return ".".join(parts[-2:]).lower()


@expression("VariableReference")
def variable(node: Node, scope: Scope) -> Flow:
    """`x` → what was assigned to it."""
    name = _name(node)
    flow = scope.trace.context.memory.variable(name)
    return Flow(flow.dependencies, text=name.rpartition(".")[2])


def variables_in_text(names: Iterable[str], memory: QueryMemory) -> Relation | None:
    """The variables that `values (x, r.a)` mentions: Spark evaluates them before the plan can be read."""
    found = [memory.variable(name) for name in names]
    columns = {str(index): flow for index, flow in enumerate(found) if flow.dependencies}
    return Relation(columns, tuple(columns)) if columns else None
