"""Wide, deep and shared plans: every operator is traced once, and no recursion limit is near."""

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


def traced(writer: PlanWriter, root: int) -> ColumnLineage:
    return trace_lineage(decode(writer.plan(root)), CONTEXT)


@pytest.fixture
def applied(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often the rule of each kind was applied."""
    counts: dict[str, int] = {}

    def counting(kind, rule):
        def counted(node, trace):
            counts[kind] = counts.get(kind, 0) + 1
            return rule(node, trace)

        return counted

    monkeypatch.setattr(
        rule_registry.operator, "rules", {k: counting(k, r) for k, r in rule_registry.operator.rules.items()}
    )
    return counts


def test_a_chain_of_500_steps_over_2000_columns_is_traced_step_by_step(applied: dict[str, int]) -> None:
    writer = PlanWriter()
    columns = [writer.attribute(f"c{place}") for place in range(2000)]
    plan, last = writer.files("/data/t", columns), columns[0]
    for step in range(500):
        made, last = writer.alias(writer.call("abs", last), f"s{step}")
        plan = writer.node("Project", projectList=[*columns, made], child=plan)
    found = traced(writer, writer.node("Project", projectList=[*columns, last], child=plan))
    assert applied == {"LogicalRelation": 1, "Project": 501}
    assert len(found.fields) == 2001
    assert [(d.column, d.transformations[0].effect) for d in found.fields["s499"]] == [
        (ColumnRef(T, "c0"), Effect.TRANSFORMATION)
    ]


def test_a_plan_deeper_than_any_recursion_limit() -> None:
    writer = PlanWriter()
    a, b = writer.attribute("a"), writer.attribute("b")
    plan = writer.files("/data/t", [a, b])
    for _ in range(20_000):
        plan = writer.node("Filter", condition=b, child=plan)
    found = traced(writer, writer.node("Project", projectList=[a], child=plan))
    assert [d.column.field for d in found.dataset] == ["b"]


def test_an_expression_deeper_than_any_recursion_limit() -> None:
    writer = PlanWriter()
    a = writer.attribute("a")
    value = a
    for _ in range(20_000):
        value = writer.call("abs", value)
    made, _ = writer.alias(value, "x")
    found = traced(writer, writer.node("Project", projectList=[made], child=writer.files("/data/t", [a])))
    [entry] = found.fields["x"]
    assert entry.column == ColumnRef(T, "a")
    assert entry.transformations[0].description.endswith("…")
    assert len(entry.transformations[0].description) == 500


def test_a_sub_plan_shared_by_doubling_is_traced_once(applied: dict[str, int]) -> None:
    writer = PlanWriter()
    a = writer.attribute("a")
    plan = writer.files("/data/t", [a])
    for _ in range(60):  # 2^60 branches if it were walked as a tree
        plan = writer.node("Union", children=[plan, plan], byName=False, output=[a])
    traced(writer, plan)
    assert applied == {"LogicalRelation": 1, "Union": 60}


def test_a_union_of_100_branches_has_them_all() -> None:
    writer = PlanWriter()
    first = writer.attribute("a")
    branches = [writer.files("/data/t0", [first])]
    branches += [writer.files(f"/data/t{n}", [writer.attribute("a")]) for n in range(1, 100)]
    found = traced(writer, writer.node("Union", children=branches, byName=False, output=[first]))
    assert [d.column.dataset.name for d in found.fields["a"]] == [f"/data/t{n}" for n in range(100)]


def test_a_common_table_read_50_times_is_traced_once(applied: dict[str, int]) -> None:
    writer = PlanWriter()
    a = writer.attribute("a")
    table = writer.node("CTERelationDef", child=writer.files("/data/t", [a]), id="7")
    readings = [writer.node("CTERelationRef", cteId="7", output=[writer.attribute("a")]) for _ in range(50)]
    output = writer.attribute("a")
    plan = writer.node("Union", children=readings, byName=False, output=[output])
    found = traced(writer, writer.node("WithCTE", plan=plan, cteDefs=[table]))
    assert applied == {"LogicalRelation": 1, "CTERelationDef": 1, "CTERelationRef": 50, "Union": 1, "WithCTE": 1}
    assert [d.column for d in found.fields["a"]] == [ColumnRef(T, "a")]
