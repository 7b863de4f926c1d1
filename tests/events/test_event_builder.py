"""Events built from statements, compared with what openlineage-python makes of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colline.events.event_builder import definition, run_event
from colline.events.event_context import Engine, EventContext, Failure, ParentRun, RunName, RunResult, WriteStatistics
from colline.events.json_codec import encode
from colline.events.lineage_facets import LineageForm
from colline.events.model import RunState
from colline.events.run_ids import is_run_id, run_id
from colline.naming.dataset import NameContext
from colline.plan.source import Source, SourceKind
from colline.trace import (
    ColumnLineage,
    ColumnRead,
    ColumnRef,
    DatasetName,
    DatasetRead,
    Dependency,
    Effect,
    Lifecycle,
    OpaqueStep,
    SchemaField,
    Statement,
    Transformation,
    Use,
    Write,
)
from tests.events.oracle import round_trip, without_empty

AT = datetime(2026, 3, 1, 10, 30, 0, 123456, tzinfo=timezone.utc)
ORDERS = DatasetName("file", "/wh/sales.db/orders")
TOTALS = DatasetName("file", "/wh/sales.db/totals")
NAMES = NameContext(warehouse="/wh")


def column(name: DatasetName, field: str, *transformations: Transformation) -> Dependency:
    return Dependency(ColumnRef(name, field), transformations)


AMOUNT = column(ORDERS, "amount", Transformation(Effect.AGGREGATION, "sum(amount)"))
REGION = column(ORDERS, "region", Transformation(Effect.IDENTITY))
GROUPED = column(ORDERS, "region", Transformation(Effect.GROUP_BY))
READ = DatasetRead(
    ORDERS,
    Source(
        SourceKind.TABLE,
        "delta",
        ("file:/wh/sales.db/orders",),
        ("spark_catalog", "sales", "orders"),
        (("version", "7"),),
    ),
    (SchemaField("region", "string"), SchemaField("amount", "decimal(10,2)")),
    (ColumnRead("region", (Use.VALUE, Use.GROUP_BY)), ColumnRead("amount", (Use.VALUE,))),
)
WRITE = Write(
    TOTALS,
    Source(SourceKind.TABLE, "delta", table=("spark_catalog", "sales", "totals")),
    ColumnLineage({"region": (REGION,), "total": (AMOUNT,)}, (GROUPED,), (READ,)),
    (SchemaField("region", "string"), SchemaField("total", "decimal(20,2)")),
    Lifecycle.CREATE,
)
STATEMENT = Statement((WRITE,), (READ,), (OpaqueStep("MapInPandas", "clean", "a Python function over rows"),))
RUN = RunName("shop", "etl.totals", run_id())
PARENT = RunName("shop", "etl", run_id())
CONTEXT = EventContext(
    RUN,
    NAMES,
    ParentRun(PARENT, RunName("airflow", "daily.etl", run_id())),
    Engine("4.1.4"),
    sql="create table totals as select …",
    job_tags={"team": "sales, eu"},
    run_tags={"try": "1"},
    definition="d1",
    properties={"spark.master": "local[2]"},
)
RESULT = RunResult({TOTALS: WriteStatistics(3, 1024, 1, "0")}, delivery={"emitted": 2, "sent": 1, "queued": 1})


def as_json(event: Any) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(encode(event))
    return found


@pytest.mark.parametrize("form", LineageForm)
@pytest.mark.parametrize("state", RunState)
def test_event_survives_a_round_trip_through_openlineage_python(state: RunState, form: LineageForm) -> None:
    event = as_json(run_event(state, AT, STATEMENT, replace(CONTEXT, form=form), result=RESULT))
    assert round_trip(event) == without_empty(event)


@pytest.mark.parametrize("form", LineageForm)
def test_query_without_output_has_columns_read(form: LineageForm) -> None:
    event = as_json(run_event(RunState.COMPLETE, AT, Statement((), (READ,)), replace(CONTEXT, form=form)))
    assert round_trip(event) == without_empty(event)
    assert event["outputs"] == []
    reads = event["inputs"][0]["facets"]["colline_columnsRead"]["fields"]
    assert reads == [{"name": "region", "uses": ["value", "group_by"]}, {"name": "amount", "uses": ["value"]}]


def test_failed_run_has_an_error_message() -> None:
    result = RunResult(failure=Failure("org.apache.spark.SparkException: boom", "at x\nat y"))
    event = as_json(run_event(RunState.FAIL, AT, STATEMENT, CONTEXT, result=result))
    assert round_trip(event) == without_empty(event)
    assert event["run"]["facets"]["errorMessage"]["message"] == "org.apache.spark.SparkException: boom"


def test_event_has_the_application_id_of_sparks_history() -> None:
    context = replace(CONTEXT, properties={"spark.app.id": "app-20261101-0007"})
    event = as_json(run_event(RunState.START, AT, STATEMENT, context))
    assert event["run"]["facets"]["spark_applicationDetails"]["applicationId"] == "app-20261101-0007"
    assert "spark_applicationDetails" not in as_json(run_event(RunState.START, AT, STATEMENT, CONTEXT))["run"]["facets"]


def test_renamed_table_has_its_previous_identifier() -> None:
    renamed = replace(WRITE, lifecycle=Lifecycle.RENAME, previous=ORDERS)
    event = as_json(run_event(RunState.COMPLETE, AT, Statement((renamed,), ()), CONTEXT))
    assert round_trip(event) == without_empty(event)
    change = event["outputs"][0]["facets"]["lifecycleStateChange"]
    assert change["previousIdentifier"] == {"namespace": "file", "name": "/wh/sales.db/orders"}


def test_complete_event_in_the_compact_form() -> None:
    event = as_json(run_event(RunState.COMPLETE, AT, STATEMENT, CONTEXT, result=RESULT))
    output = event["outputs"][0]
    facets = {
        key: {name: each for name, each in facet.items() if not name.startswith("_")}
        for key, facet in output["facets"].items()
    }
    region = {"namespace": "file", "name": "/wh/sales.db/orders", "field": "region"}
    amount = {"namespace": "file", "name": "/wh/sales.db/orders", "field": "amount"}
    identity = {"type": "DIRECT", "subtype": "IDENTITY", "masking": False}
    total = {"type": "DIRECT", "subtype": "AGGREGATION", "description": "sum(amount)", "masking": False}
    grouped = {"type": "INDIRECT", "subtype": "GROUP_BY", "masking": False}
    assert facets == {
        "dataSource": {"name": "file", "uri": "file"},
        "schema": {"fields": [{"name": "region", "type": "string"}, {"name": "total", "type": "decimal(20,2)"}]},
        "symlinks": {"identifiers": [{"namespace": "file:/wh", "name": "sales.totals", "type": "TABLE"}]},
        "storage": {"storageLayer": "delta", "fileFormat": "parquet"},
        "catalog": {
            "framework": "delta",
            "type": "memory",
            "name": "spark_catalog",
            "warehouseUri": "file:/wh",
            "source": "spark",
        },
        "datasetType": {"datasetType": "TABLE"},
        "version": {"datasetVersion": "0"},
        "lifecycleStateChange": {"lifecycleStateChange": "CREATE"},
        "columnLineage": {
            "fields": {
                "region": {"inputFields": [{**region, "transformations": [identity]}]},
                "total": {"inputFields": [{**amount, "transformations": [total]}]},
            },
            "dataset": [{**region, "transformations": [grouped]}],
        },
    }
    assert event["eventTime"] == "2026-03-01T10:30:00.123456Z"
    statistics = output["outputFacets"]["outputStatistics"]
    assert (statistics["rowCount"], statistics["size"], statistics["fileCount"]) == (3, 1024, 1)
    assert event["inputs"][0]["facets"]["version"]["datasetVersion"] == "7"
    assert event["run"]["facets"]["parent"]["root"]["job"] == {"namespace": "airflow", "name": "daily.etl"}
    assert event["job"]["facets"]["tags"]["tags"] == [{"key": "team", "value": "sales, eu", "source": "SPARK"}]
    assert event["run"]["facets"]["colline_query"]["definition"] == "d1"
    assert event["run"]["facets"]["colline_opaque"]["steps"][0]["function"] == "clean"


def test_legacy_form_repeats_row_dependencies_on_every_column() -> None:
    event = as_json(run_event(RunState.START, AT, STATEMENT, replace(CONTEXT, form=LineageForm.LEGACY)))
    facet = event["outputs"][0]["facets"]["columnLineage"]
    assert "dataset" not in facet
    assert [len(each["inputFields"]) for each in facet["fields"].values()] == [2, 2]


def test_lineage_job_facet_replaces_column_lineage() -> None:
    event = as_json(run_event(RunState.START, AT, STATEMENT, replace(CONTEXT, form=LineageForm.JOB_FACET)))
    assert "columnLineage" not in event["outputs"][0]["facets"]
    (entry,) = event["job"]["facets"]["lineage"]["entries"]
    assert (entry["type"], entry["name"], sorted(entry["fields"])) == ("DATASET", TOTALS.name, ["region", "total"])
    assert [each.get("field") for each in entry["inputs"]] == [None, "region"]


def test_tag_owner_is_the_owner_of_the_job() -> None:
    event = as_json(run_event(RunState.START, AT, STATEMENT, replace(CONTEXT, job_tags={"owner": "finance"})))
    assert event["job"]["facets"]["ownership"]["owners"] == [{"name": "finance"}]
    assert "ownership" not in as_json(run_event(RunState.START, AT, STATEMENT, CONTEXT))["job"]["facets"]


def test_all_text_of_the_user_is_redacted() -> None:
    wrote = Transformation(Effect.TRANSFORMATION, "secret(amount)")
    read = replace(READ, name=DatasetName("file", "/secret"), schema=(SchemaField("secret", "string"),))
    lineage = ColumnLineage({"secret": (column(read.name, "secret", wrote),)}, (), (read,))
    statement = Statement(
        (replace(WRITE, lineage=lineage, schema=read.schema),), (read,), (OpaqueStep("X", "secret", "secret"),)
    )
    context = replace(
        CONTEXT,
        run=RunName("secret", "secret", RUN.run_id),
        sql="select 'secret'",
        job_tags={"secret": "secret", "owner": "secret"},
        redact=lambda text: text.replace("secret", "?"),
    )
    for form in LineageForm:
        event = run_event(
            RunState.FAIL,
            AT,
            statement,
            replace(context, form=form),
            result=RunResult(failure=Failure("secret", "secret")),
        )
        assert b"secret" not in encode(event)
        assert b"'?'" in encode(event) and b'"/?"' in encode(event)  # redacted, not left out


def test_redaction_of_literals_does_not_change_names() -> None:
    wrote = Transformation(Effect.TRANSFORMATION, "concat(name, 'Ann')")
    fields = {"name 'Ann'": (column(ORDERS, "name", wrote),)}
    write = replace(WRITE, lineage=ColumnLineage(fields, (), (READ,)))
    context = replace(CONTEXT, sql="select 'Ann'", redact_sql=lambda text: text.replace("'Ann'", "?"))
    event = as_json(run_event(RunState.START, AT, Statement((write,), (READ,)), context))
    assert event["job"]["facets"]["sql"]["query"] == "select ?"
    (name, found), *_ = event["outputs"][0]["facets"]["columnLineage"]["fields"].items()
    assert (name, found["inputFields"][0]["transformations"][0]["description"]) == ("name 'Ann'", "concat(name, ?)")


def test_edge_of_a_wide_table_takes_less_than_300_bytes() -> None:
    fields = {
        f"c{i}": (column(ORDERS, f"c{i}", Transformation(Effect.TRANSFORMATION, f"upper(c{i})")),) for i in range(200)
    }
    columns = tuple(SchemaField(name, "string") for name in fields)
    read = replace(READ, schema=columns, reads=tuple(ColumnRead(name, (Use.VALUE,)) for name in fields))
    write = replace(WRITE, schema=columns, lineage=ColumnLineage(fields, (GROUPED,), (read,)))
    event = run_event(RunState.START, AT, Statement((write,), (read,)), CONTEXT)
    assert len(encode(event)) / 201 <= 300


def test_described_input_has_only_symlinks_and_version() -> None:
    event = as_json(run_event(RunState.START, AT, STATEMENT, replace(CONTEXT, described_inputs=frozenset([ORDERS]))))
    assert sorted(event["inputs"][0]["facets"]) == ["symlinks", "version"]
    assert round_trip(event) == without_empty(event)


def test_columns_read_are_listed_if_the_lineage_does_not_have_them() -> None:
    unused = replace(READ, reads=(*READ.reads, ColumnRead("day", (Use.SORT,))))
    listed = as_json(run_event(RunState.START, AT, Statement((WRITE,), (unused,)), CONTEXT))
    assert "day" in str(listed["inputs"][0]["facets"]["colline_columnsRead"])
    covered = as_json(run_event(RunState.START, AT, STATEMENT, CONTEXT))
    assert "colline_columnsRead" not in covered["inputs"][0]["facets"]


def test_definition_depends_on_the_lineage_only() -> None:
    assert definition(STATEMENT) == definition(replace(STATEMENT))
    assert definition(STATEMENT) != definition(Statement((), (READ,)))
    another_day = column(ORDERS, "amount", Transformation(Effect.AGGREGATION, "sum(if(day = '2026-03-02', amount, 0))"))
    changed = replace(WRITE, lineage=replace(WRITE.lineage, fields={"region": (REGION,), "total": (another_day,)}))
    assert definition(Statement((changed,), (READ,))) == definition(STATEMENT)
    hashed = column(ORDERS, "region", Transformation(Effect.IDENTITY, masking=True))
    masked = replace(WRITE, lineage=replace(WRITE.lineage, fields={"region": (hashed,), "total": (AMOUNT,)}))
    assert definition(Statement((masked,), (READ,))) != definition(STATEMENT)


@given(st.integers(min_value=0, max_value=2**47))
def test_run_ids_are_version_7_and_sort_by_time(milliseconds: int) -> None:
    earlier, later = run_id(milliseconds), run_id(milliseconds + 1)
    assert earlier < later and is_run_id(earlier)
    assert (earlier[14], earlier[19] in "89ab") == ("7", True)
