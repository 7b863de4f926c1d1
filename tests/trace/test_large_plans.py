"""Wide, deep and shared plans: every operator is traced once, without recursion."""

from __future__ import annotations

import pytest

from colline.naming.dataset import NameContext
from colline.naming.rules import identify
from colline.plan import decode
from colline.trace import ColumnLineage, ColumnRef, Context, DatasetName, Effect, rule_registry
from colline.trace import lineage as trace_lineage
from tests.trace.plans import PlanWriter

CONTEXT = Context(lambda source: identify(source, NameContext()).name)
T = DatasetName("file", "/data/t")


def trace_plan(writer: PlanWriter, root: int) -> ColumnLineage:
    return trace_lineage(decode(writer.plan(root)), CONTEXT)


@pytest.fixture
def rule_counts(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often each rule was applied."""
    counts: dict[str, int] = {}

    def count_calls(kind, rule):
        def call_rule(node, trace):
            counts[kind] = counts.get(kind, 0) + 1
            return rule(node, trace)

        return call_rule

    monkeypatch.setattr(
        rule_registry.operator, "rules", {k: count_calls(k, r) for k, r in rule_registry.operator.rules.items()}
    )
    return counts


def test_chain_of_500_steps_over_2000_columns_traces_each_step_once(rule_counts: dict[str, int]) -> None:
    writer = PlanWriter()
    columns = [writer.attribute(f"c{place}") for place in range(2000)]
    plan, last = writer.files("/data/t", columns), columns[0]
    for step in range(500):
        alias, last = writer.alias(writer.call("abs", last), f"s{step}")
        plan = writer.node("Project", projectList=[*columns, alias], child=plan)
    found = trace_plan(writer, writer.node("Project", projectList=[*columns, last], child=plan))
    assert rule_counts == {"LogicalRelation": 1, "Project": 501}
    assert len(found.fields) == 2001
    assert [(d.column, d.transformations[0].effect) for d in found.fields["s499"]] == [
        (ColumnRef(T, "c0"), Effect.TRANSFORMATION)
    ]


def test_plan_deeper_than_any_recursion_limit() -> None:
    writer = PlanWriter()
    a, b = writer.attribute("a"), writer.attribute("b")
    plan = writer.files("/data/t", [a, b])
    for _ in range(20_000):
        plan = writer.node("Filter", condition=b, child=plan)
    found = trace_plan(writer, writer.node("Project", projectList=[a], child=plan))
    assert [d.column.field for d in found.dataset] == ["b"]


def test_expression_deeper_than_any_recursion_limit() -> None:
    writer = PlanWriter()
    a = writer.attribute("a")
    value = a
    for _ in range(20_000):
        value = writer.call("abs", value)
    alias, _ = writer.alias(value, "x")
    found = trace_plan(writer, writer.node("Project", projectList=[alias], child=writer.files("/data/t", [a])))
    [entry] = found.fields["x"]
    assert entry.column == ColumnRef(T, "a")
    assert entry.transformations[0].description.endswith("…")
    assert len(entry.transformations[0].description) == 500


def test_subplan_shared_by_doubling_is_traced_once(rule_counts: dict[str, int]) -> None:
    writer = PlanWriter()
    a = writer.attribute("a")
    plan = writer.files("/data/t", [a])
    for _ in range(60):  # as a tree this plan would have 2^60 branches
        plan = writer.node("Union", children=[plan, plan], byName=False, output=[a])
    trace_plan(writer, plan)
    assert rule_counts == {"LogicalRelation": 1, "Union": 60}


def test_union_of_100_branches_has_the_inputs_of_all() -> None:
    writer = PlanWriter()
    first = writer.attribute("a")
    branches = [writer.files("/data/t0", [first])]
    branches += [writer.files(f"/data/t{n}", [writer.attribute("a")]) for n in range(1, 100)]
    found = trace_plan(writer, writer.node("Union", children=branches, byName=False, output=[first]))
    assert [d.column.dataset.name for d in found.fields["a"]] == [f"/data/t{n}" for n in range(100)]


def test_common_table_that_is_read_50_times_is_traced_once(rule_counts: dict[str, int]) -> None:
    writer = PlanWriter()
    a = writer.attribute("a")
    table = writer.node("CTERelationDef", child=writer.files("/data/t", [a]), id="7")
    readings = [writer.node("CTERelationRef", cteId="7", output=[writer.attribute("a")]) for _ in range(50)]
    output = writer.attribute("a")
    plan = writer.node("Union", children=readings, byName=False, output=[output])
    found = trace_plan(writer, writer.node("WithCTE", plan=plan, cteDefs=[table]))
    assert rule_counts == {"LogicalRelation": 1, "CTERelationDef": 1, "CTERelationRef": 50, "Union": 1, "WithCTE": 1}
    assert [d.column for d in found.fields["a"]] == [ColumnRef(T, "a")]
