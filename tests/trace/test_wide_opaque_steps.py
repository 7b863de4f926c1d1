"""An opaque step over many columns has a size that is linear in the columns, in memory and in the event."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from colline.events.event_builder import run_event
from colline.events.event_context import EventContext, RunName
from colline.events.lineage_facets import LineageForm
from colline.events.model import RunState
from colline.plan import decode
from colline.trace import ColumnRef, DatasetName, Statement, Use, statement
from colline.trace.opaque_flow import StepColumn
from tests.trace.plans import PlanWriter
from tests.trace.recorded import CONTEXT

SOURCE = DatasetName("file", "/in")


def write_of(width: int, steps: int = 1) -> Statement:
    """`df.mapInPandas(clean)`, `steps` times, over columns c0, c1, …, written to /out with one more column."""
    writer = PlanWriter()
    columns = [writer.attribute(f"c{place}") for place in range(width)]
    filtered = writer.attribute("k")
    plan = writer.node("Filter", condition=filtered, child=writer.files("/in", [*columns, filtered]))
    plan = writer.node("Project", projectList=columns, child=plan)
    for _ in range(steps):
        columns = [writer.attribute(f"o{place}") for place in range(width)]
        function = writer.node("PythonUDF", "e", None, name="clean")
        plan = writer.node("MapInPandas", functionExpr=function, output=columns, child=plan)
    alias, _ = writer.alias(writer.call("upper", columns[0]), "x")
    plan = writer.node("Project", projectList=[*columns, alias], child=plan)
    names = [*(f"o{place}" for place in range(width)), "x"]
    command = {"outputPath": "/out", "mode": "Append", "fileFormat": "ParquetFileFormat"}
    root = writer.node("InsertIntoHadoopFsRelationCommand", **command, outputColumnNames=names, query=plan)
    return statement(decode(writer.plan(root)), CONTEXT)


def event_of(found: Statement, form: LineageForm = LineageForm.COMPACT) -> dict[str, Any]:
    context = EventContext(RunName("tests", "app.job", "01900000-0000-7000-8000-000000000000"), form=form)
    event = run_event(RunState.START, datetime.now(timezone.utc), found, context)
    outputs = event.outputs or ()
    return {"output": outputs[0].facets or {}, "job": event.job.facets or {}}


def test_narrow_step_is_written_out() -> None:
    facets = event_of(write_of(20))["output"]
    assert len(facets["columnLineage"]["fields"]["o3"]["inputFields"]) == 20
    assert "colline_steps" not in facets


@pytest.mark.parametrize("steps", [1, 3])
def test_wide_step_is_a_pseudo_column(steps: int) -> None:
    found = write_of(100, steps)
    [lineage] = [write.lineage for write in found.writes]
    [step] = {entry.column for entries in lineage.fields.values() for entry in entries}
    assert isinstance(step, StepColumn)
    assert [entry.column for entry in step.inputs] == [ColumnRef(SOURCE, f"c{place}") for place in range(100)]
    assert [each.function for each in found.opaque] == ["clean"]


def test_columns_behind_a_wide_step_are_reads() -> None:
    [read] = write_of(100).inputs
    assert {each.field: each.uses for each in read.reads} == {
        **{f"c{place}": (Use.VALUE,) for place in range(100)},
        "k": (Use.FILTER,),
    }


def test_facet_has_the_step_once() -> None:
    facets = event_of(write_of(100))["output"]
    steps = facets["colline_steps"]
    [step] = steps["steps"]
    assert (step["node"], step["function"], len(step["inputFields"])) == ("MapInPandas", "clean", 100)
    assert set(steps["fields"]) == {*(f"o{place}" for place in range(100)), "x"}
    [reference] = steps["fields"]["x"]
    assert reference["step"] == step["id"]
    assert [each["subtype"] for each in reference["transformations"]] == ["TRANSFORMATION"]


def test_standard_facet_is_bounded_and_complete() -> None:
    facet = event_of(write_of(100))["output"]["columnLineage"]
    assert facet["fields"]["o3"] == {"inputFields": []}
    direct = {each["field"] for each in facet["dataset"] if each["transformations"][0]["type"] == "DIRECT"}
    indirect = {each["field"] for each in facet["dataset"] if each["transformations"][0]["type"] == "INDIRECT"}
    assert (direct, indirect) == ({f"c{place}" for place in range(100)}, {"k"})


@pytest.mark.parametrize("form", [LineageForm.COMPACT, LineageForm.LEGACY, LineageForm.JOB_FACET, LineageForm.BOTH])
def test_size_is_linear_in_the_columns(form: LineageForm) -> None:
    sizes = [len(repr(event_of(write_of(width), form))) for width in (200, 400)]
    # the filter column is repeated for every column in the legacy form, which is linear as well
    assert sizes[1] < 2.1 * sizes[0]


def test_equal_steps_have_equal_lineage() -> None:
    assert write_of(100) == write_of(100)
