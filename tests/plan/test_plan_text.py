"""A plan as text."""

from __future__ import annotations

from colline.plan import decode, format_plan
from tests.trace.plans import PlanWriter


def test_plan_text_has_one_line_per_operator_and_a_shared_one_once() -> None:
    writer = PlanWriter()
    a = writer.attribute("a")
    scan = writer.files("/data/t", [a])
    alias, _ = writer.alias(writer.call("abs", a), "b")
    branch = writer.node("Project", projectList=[a, alias], child=scan)
    union = writer.node("Union", children=[branch, branch], byName=False, output=[a])
    assert format_plan(decode(writer.plan(union)).root).splitlines() == [
        "Union children=[Project(…), Project(…)], byName=False, output=[a#1]",
        "  Project projectList=[a#1, abs([a#1]) as b#2]",
        "    LogicalRelation relation=HadoopFsRelation([/data/t], ParquetFileFormat, [], []), output=[a#1]",
        f"  Project … as @{branch}",
    ]
