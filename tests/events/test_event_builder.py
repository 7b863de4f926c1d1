"""Events made of statements, judged by openlineage-python's own classes."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colline.events.event_builder import (
    Ending,
    Engine,
    EventContext,
    Failure,
    Parent,
    RunName,
    Written,
    definition,
    run_event,
)
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
from tests.events.oracle import judged, without_empty

AT = datetime(2026, 3, 1, 10, 30, 0, 123456, tzinfo=timezone.utc)
ORDERS = DatasetName("file", "/wh/sales.db/orders")
TOTALS = DatasetName("file", "/wh/sales.db/totals")
NAMES = NameContext(warehouse="/wh")


def column(name: DatasetName, field: str, *ways: Transformation) -> Dependency:
    return Dependency(ColumnRef(name, field), ways)


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
    Parent(PARENT, RunName("airflow", "daily.etl", run_id())),
    Engine("4.1.4"),
    sql="create table totals as select …",
    job_tags={"team": "sales, eu"},
    run_tags={"try": "1"},
    definition="d1",
    properties={"spark.master": "local[2]"},
)
ENDING = Ending({TOTALS: Written(3, 1024, 1, "0")}, delivery={"made": 2, "sent": 1, "queued": 1})


def as_json(event: Any) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(encode(event))
    return found


@pytest.mark.parametrize("form", LineageForm)
@pytest.mark.parametrize("state", RunState)
def test_every_event_passes_the_clients_own_model(state: RunState, form: LineageForm) -> None:
    event = as_json(run_event(state, AT, STATEMENT, replace(CONTEXT, form=form), ENDING))
    assert judged(event) == without_empty(event)


@pytest.mark.parametrize("form", LineageForm)
def test_a_read_without_a_write_passes_too(form: LineageForm) -> None:
    event = as_json(run_event(RunState.COMPLETE, AT, Statement((), (READ,)), replace(CONTEXT, form=form)))
    assert judged(event) == without_empty(event)
    assert event["outputs"] == []
    reads = event["inputs"][0]["facets"]["colline_columnsRead"]["fields"]
    assert reads == [{"name": "region", "uses": ["value", "group_by"]}, {"name": "amount", "uses": ["value"]}]


def test_a_failure_passes_and_tells_its_message() -> None:
    ending = Ending(failure=Failure("org.apache.spark.SparkException: boom", "at x\nat y"))
    event = as_json(run_event(RunState.FAIL, AT, STATEMENT, CONTEXT, ending))
    assert judged(event) == without_empty(event)
    assert event["run"]["facets"]["errorMessage"]["message"] == "org.apache.spark.SparkException: boom"


def test_the_application_is_named_as_sparks_history_names_it() -> None:
    context = replace(CONTEXT, properties={"spark.app.id": "app-20261101-0007"})
    event = as_json(run_event(RunState.START, AT, STATEMENT, context))
    assert event["run"]["facets"]["spark_applicationDetails"]["applicationId"] == "app-20261101-0007"
    assert "spark_applicationDetails" not in as_json(run_event(RunState.START, AT, STATEMENT, CONTEXT))["run"]["facets"]


def test_a_rename_passes_and_tells_the_old_name() -> None:
    renamed = replace(WRITE, lifecycle=Lifecycle.RENAME, previous=ORDERS)
    event = as_json(run_event(RunState.COMPLETE, AT, Statement((renamed,), ()), CONTEXT))
    assert judged(event) == without_empty(event)
    change = event["outputs"][0]["facets"]["lifecycleStateChange"]
    assert change["previousIdentifier"] == {"namespace": "file", "name": "/wh/sales.db/orders"}


def test_the_whole_event_in_the_compact_form() -> None:
    event = as_json(run_event(RunState.COMPLETE, AT, STATEMENT, CONTEXT, ENDING))
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


def test_the_legacy_form_repeats_what_decides_the_rows_on_every_column() -> None:
    event = as_json(run_event(RunState.START, AT, STATEMENT, replace(CONTEXT, form=LineageForm.LEGACY)))
    facet = event["outputs"][0]["facets"]["columnLineage"]
    assert "dataset" not in facet
    assert [len(each["inputFields"]) for each in facet["fields"].values()] == [2, 2]


def test_the_lineage_job_facet_stands_instead_of_column_lineage() -> None:
    event = as_json(run_event(RunState.START, AT, STATEMENT, replace(CONTEXT, form=LineageForm.JOB_FACET)))
    assert "columnLineage" not in event["outputs"][0]["facets"]
    (entry,) = event["job"]["facets"]["lineage"]["entries"]
    assert (entry["type"], entry["name"], sorted(entry["fields"])) == ("DATASET", TOTALS.name, ["region", "total"])
    assert [each.get("field") for each in entry["inputs"]] == [None, "region"]


def test_everything_a_person_wrote_is_redacted_before_the_event_exists() -> None:
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
        job_tags={"secret": "secret"},
        redact=lambda text: text.replace("secret", "?"),
    )
    for form in LineageForm:
        event = run_event(
            RunState.FAIL, AT, statement, replace(context, form=form), Ending(failure=Failure("secret", "secret"))
        )
        assert b"secret" not in encode(event)
        assert b"'?'" in encode(event) and b'"/?"' in encode(event)  # said, with something in its place


def test_literals_of_sql_text_can_be_hidden_without_touching_names() -> None:
    wrote = Transformation(Effect.TRANSFORMATION, "concat(name, 'Ann')")
    fields = {"name 'Ann'": (column(ORDERS, "name", wrote),)}
    write = replace(WRITE, lineage=ColumnLineage(fields, (), (READ,)))
    context = replace(CONTEXT, sql="select 'Ann'", redact_sql=lambda text: text.replace("'Ann'", "?"))
    event = as_json(run_event(RunState.START, AT, Statement((write,), (READ,)), context))
    assert event["job"]["facets"]["sql"]["query"] == "select ?"
    (name, found), *_ = event["outputs"][0]["facets"]["columnLineage"]["fields"].items()
    assert (name, found["inputFields"][0]["transformations"][0]["description"]) == ("name 'Ann'", "concat(name, ?)")


def test_an_edge_costs_less_than_300_bytes_in_a_wide_table() -> None:
    fields = {
        f"c{i}": (column(ORDERS, f"c{i}", Transformation(Effect.TRANSFORMATION, f"upper(c{i})")),) for i in range(200)
    }
    columns = tuple(SchemaField(name, "string") for name in fields)
    read = replace(READ, schema=columns, reads=tuple(ColumnRead(name, (Use.VALUE,)) for name in fields))
    write = replace(WRITE, schema=columns, lineage=ColumnLineage(fields, (GROUPED,), (read,)))
    event = run_event(RunState.START, AT, Statement((write,), (read,)), CONTEXT)
    assert len(encode(event)) / 201 <= 300


def test_a_known_input_is_not_described_again_but_keeps_its_symlinks() -> None:
    event = as_json(run_event(RunState.START, AT, STATEMENT, replace(CONTEXT, known=frozenset([ORDERS]))))
    assert sorted(event["inputs"][0]["facets"]) == ["symlinks", "version"]
    assert judged(event) == without_empty(event)


def test_columns_that_were_read_are_told_where_no_output_tells_them() -> None:
    unused = replace(READ, reads=(*READ.reads, ColumnRead("day", (Use.SORT,))))
    told = as_json(run_event(RunState.START, AT, Statement((WRITE,), (unused,)), CONTEXT))
    assert "day" in str(told["inputs"][0]["facets"]["colline_columnsRead"])
    covered = as_json(run_event(RunState.START, AT, STATEMENT, CONTEXT))
    assert "colline_columnsRead" not in covered["inputs"][0]["facets"]


def test_the_same_query_has_the_same_definition_and_another_has_not() -> None:
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
