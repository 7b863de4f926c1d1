"""Events whose plans were not analyzed where they were captured are replaced by events with lineage."""

from __future__ import annotations

import io
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from colline.capture.connect.recorded_plan import EarlierCommand, RecordedPlan, pack_plan
from colline.capture.connect.resolver.event_resolver import replace_events
from colline.capture.connect.resolver.resolver_client import ResolverProcess
from colline.capture.udf_masking import code_verdict
from tests.capture.connect.resolver.test_plan_resolver import TABLES, empty_plan, sql_plan

pytestmark = pytest.mark.spark

JsonObject = dict[str, Any]
NAMING = {"spark.sql.warehouse.dir": "file:/warehouse"}


def event_with(packed: str) -> JsonObject:
    step = {"node": "plan", "why": "plan not resolved: this Python has no pyspark with Spark's jars"}
    facets = {"colline_plan": {"recorded": packed}, "colline_opaque": {"steps": [step]}, "tags": {"tags": []}}
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-11-15T10:00:00Z",
        "producer": "colline",
        "run": {"runId": "01939c7c-0000-7000-8000-000000000000", "facets": facets},
        "job": {"namespace": "tests", "name": "nightly", "facets": {}},
        "inputs": [{"namespace": "s3://bucket", "name": "orders"}],
        "outputs": [{"namespace": "file", "name": "/warehouse/x"}],
    }


def replacement(resolver: ResolverProcess, packed: str) -> JsonObject:
    replies = io.BytesIO()
    replace_events(io.BytesIO(json.dumps(event_with(packed)).encode()), replies, resolver.resolve)
    [line] = replies.getvalue().splitlines()
    found: JsonObject = json.loads(line)
    return found


def plan_event(resolver: ResolverProcess, plan: bytes, **recorded: Any) -> JsonObject:
    content = {"plan": plan, "tables": TABLES, "naming": NAMING, **recorded}
    return replacement(resolver, pack_plan(RecordedPlan(**content)))


def fields(event: JsonObject) -> JsonObject:
    [output] = event["outputs"]
    found: JsonObject = output["facets"]["columnLineage"]["fields"]
    return found


def test_the_replacement_has_the_lineage_of_the_plan(resolver: ResolverProcess) -> None:
    text = "create table sales.x using delta as select lower(region) as r, hide(id) as h from orders"
    earlier = (EarlierCommand(sql_plan("create temporary function hide(i int) returns int return i + 1")),)
    event = plan_event(resolver, sql_plan(text), earlier=earlier, databases={"sales": "s3a://bucket/sales"})
    assert [(each["namespace"], each["name"]) for each in event["outputs"]] == [("s3://bucket", "sales/x")]
    assert {name: [each["field"] for each in entry["inputFields"]] for name, entry in fields(event).items()} == {
        "r": ["region"],
        "h": ["id"],
    }
    before = event_with("")
    assert {name: event[name] for name in ("eventType", "eventTime", "job")} == {
        name: before[name] for name in ("eventType", "eventTime", "job")
    }
    assert event["run"]["runId"] == before["run"]["runId"]
    assert event["run"]["facets"].keys() == {"tags", "colline_query"}


class _Attack:
    """Creates a file when it is loaded from a pickle."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return open, (self.path, "w")


def function_plan(code: bytes) -> bytes:
    plan = empty_plan()
    write = plan.command.write_operation
    function = write.input.project.expressions.add().alias
    function.name.append("token")
    call = function.expr.common_inline_user_defined_function
    call.function_name = "token"
    call.deterministic = True
    call.arguments.add().unresolved_attribute.unparsed_identifier = "region"
    call.python_udf.eval_type = 100
    call.python_udf.command = code
    call.python_udf.python_ver = "3.11"
    call.python_udf.output_type.string.SetInParent()
    write.input.project.input.read.named_table.unparsed_identifier = "orders"
    write.source, write.path, write.mode = "parquet", "s3a://bucket/out", 3
    content: bytes = plan.SerializeToString()
    return content


def test_the_masking_verdict_is_used_and_code_is_not_loaded(resolver: ResolverProcess, tmp_path: Path) -> None:
    import hashlib

    from pyspark.cloudpickle import dumps

    masking = code_verdict(dumps((lambda email: hashlib.sha256(email.encode()).hexdigest(), None)))
    attack = pickle.dumps(_Attack(str(tmp_path / "loaded")))
    found = [fields(plan_event(resolver, function_plan(code))) for code in (masking, attack)]
    assert [each["token"]["inputFields"][0]["transformations"][0]["masking"] for each in found] == [True, False]
    assert not (tmp_path / "loaded").exists()


@pytest.mark.parametrize("packed", ["", "no base64!", "bm8gemxpYg=="])
def test_a_facet_that_cannot_be_read_keeps_the_datasets(resolver: ResolverProcess, packed: str) -> None:
    event = replacement(resolver, packed)
    before = event_with(packed)
    assert (event["inputs"], event["outputs"]) == (before["inputs"], before["outputs"])
    [step] = event["run"]["facets"]["colline_opaque"]["steps"]
    assert step["why"] in (
        "plan not resolved: the event has no readable plan",
        "plan not resolved: the plan is too large for an event",
    )
    assert "colline_plan" not in event["run"]["facets"]


def test_a_command_that_defines_nothing_is_not_executed(resolver: ResolverProcess) -> None:
    event = plan_event(resolver, sql_plan("select id from orders"), earlier=(EarlierCommand(function_plan(b"")),))
    [step] = event["run"]["facets"]["colline_opaque"]["steps"]
    assert step["why"] == "plan not resolved: the command write_operation does not define a view, function or variable"
