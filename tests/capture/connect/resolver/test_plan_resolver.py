"""Recorded plans are analyzed in the resolver process: over stub tables, without data, without running anything."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from colline.capture.analyze import tracing_context
from colline.capture.connect.recorded_plan import EarlierCommand, RecordedPlan, ResolvedPlan, TableDescription
from colline.capture.connect.resolver.resolver_client import ResolverProcess, child_environment
from colline.naming.dataset import NameContext
from colline.plan import decode
from colline.trace import Statement, statement

pytestmark = pytest.mark.spark

Proto = Any
NAMES = tracing_context(NameContext(warehouse="file:/warehouse"))


def schema_json(**columns: str) -> str:
    fields = ",".join(
        f'{{"name":"{name}","type":"{kind}","nullable":true,"metadata":{{}}}}' for name, kind in columns.items()
    )
    return f'{{"type":"struct","fields":[{fields}]}}'


ORDERS = TableDescription(
    ("spark_catalog", "default", "orders"),
    schema_json(id="integer", region="string", amount="double"),
    "delta",
    "s3a://bucket/orders",
)
TOTALS = TableDescription(
    ("lake", "db", "totals"), schema_json(region="string", total="double"), "iceberg", "file:/ice/totals"
)
TABLES = (ORDERS, TOTALS)


def empty_plan() -> Proto:
    from pyspark.sql.connect.proto import base_pb2

    return base_pb2.Plan()


def sql_plan(text: str) -> bytes:
    plan = empty_plan()
    plan.command.sql_command.input.sql.query = text
    content: bytes = plan.SerializeToString()
    return content


def resolve_sql(resolver: ResolverProcess, text: str, **recorded: Any) -> ResolvedPlan:
    return resolver.resolve(RecordedPlan(**{"plan": sql_plan(text), "tables": TABLES, **recorded}))


def analyze(found: ResolvedPlan) -> Statement:
    assert found.plan is not None, found
    return statement(decode(found.plan), NAMES)


def inputs_of(found: Statement) -> list[str]:
    return [f"{each.name.namespace} {each.name.name}" for each in found.inputs]


def columns_of(found: Statement) -> dict[str, list[str]]:
    [write] = found.writes
    return {name: [each.column.field for each in entries] for name, entries in write.lineage.fields.items()}


def test_an_insert_between_two_catalogs(resolver: ResolverProcess) -> None:
    found = analyze(
        resolve_sql(resolver, "insert into lake.db.totals select region, sum(amount) from orders group by region")
    )
    assert inputs_of(found) == ["s3://bucket orders"]
    assert [(each.name.namespace, each.name.name) for each in found.writes] == [("file", "/ice/totals")]
    assert columns_of(found) == {"region": ["region"], "total": ["amount"]}


def test_a_new_table_is_named_by_the_locations_of_the_server(resolver: ResolverProcess) -> None:
    found = analyze(resolve_sql(resolver, "create table sales.copied using delta as select id from orders"))
    assert [each.name.name for each in found.writes] == ["/warehouse/sales.db/copied"]


def test_a_dropped_table_is_named_by_its_location(resolver: ResolverProcess) -> None:
    found = analyze(resolve_sql(resolver, "drop table ORDERS"))
    assert [(each.name.namespace, each.name.name) for each in found.writes] == [("s3://bucket", "orders")]


def test_the_current_namespace_and_catalog_are_taken_from_the_plan(resolver: ResolverProcess) -> None:
    found = analyze(resolve_sql(resolver, "select total from totals", namespace=("lake", "db")))
    assert inputs_of(found) == ["file /ice/totals"]


def test_a_permanent_view_leads_to_its_tables(resolver: ResolverProcess) -> None:
    view = TableDescription(
        ("spark_catalog", "default", "by_region"),
        schema_json(r="string", t="double"),
        view_text="select region, sum(amount) as s from orders group by region",
        view_columns=("region", "s"),
        view_namespace=("spark_catalog", "default"),
    )
    found = analyze(
        resolve_sql(resolver, "create table x as select upper(r) as a, t from by_region", tables=(*TABLES, view))
    )
    assert columns_of(found) == {"a": ["region"], "t": ["amount"]}
    assert inputs_of(found) == ["s3://bucket orders", "file:/warehouse default.by_region"]


def test_a_temporary_view_is_defined_before_the_plan(resolver: ResolverProcess) -> None:
    earlier = (EarlierCommand(sql_plan("create temporary view recent as select id as k, amount from orders")),)
    found = analyze(resolve_sql(resolver, "create table x as select k from recent where amount > 1", earlier=earlier))
    assert columns_of(found) == {"k": ["id"]}
    assert resolve_sql(resolver, "select k from recent").missing == (("spark_catalog", "default", "recent"),)


@pytest.mark.parametrize("marker", [":low", "?"])
def test_sql_parameters(resolver: ResolverProcess, marker: str) -> None:
    # not on the server of the other tests: the SQL parsers of Delta and Iceberg do not support parameters
    plan = empty_plan()
    sql = plan.command.sql_command.input.sql
    sql.query = f"create table x as select id from orders where amount > {marker}"
    argument = sql.pos_arguments.add() if marker == "?" else sql.named_arguments["low"]
    argument.literal.integer = 3
    found = analyze(resolver.resolve(RecordedPlan(plan.SerializeToString(), tables=TABLES)))
    assert columns_of(found) == {"id": ["id"]}
    assert [read.field for read in found.inputs[0].reads] == ["id", "amount"]


def test_a_view_is_resolved_in_the_namespace_of_its_definition(resolver: ResolverProcess) -> None:
    view = EarlierCommand(sql_plan("create temporary view sums as select total from totals"), ("lake", "db"))
    found = analyze(resolve_sql(resolver, "select total, id from sums cross join orders", earlier=(view,)))
    assert inputs_of(found) == ["file /ice/totals", "s3://bucket orders"]


def test_a_table_that_is_not_described_is_reported(resolver: ResolverProcess) -> None:
    found = resolve_sql(resolver, "select * from orders join customers using (id)")
    assert (found.plan, found.missing) == (None, (("spark_catalog", "default", "customers"),))


def test_a_wrong_column_is_a_failure_with_the_message_of_spark(resolver: ResolverProcess) -> None:
    found = resolve_sql(resolver, "select amuont from orders")
    assert found.plan is None
    assert "UNRESOLVED_COLUMN" in found.failure


@pytest.mark.parametrize(
    "text",
    [
        "execute immediate 'select 1'",
        "call system.procedure(1)",
        "begin select 1; end",
    ],
)
def test_statements_that_spark_runs_while_it_analyzes_them_are_refused(resolver: ResolverProcess, text: str) -> None:
    assert "is executed while it is analyzed" in resolve_sql(resolver, text).failure


def test_a_command_inside_a_query_is_refused(resolver: ResolverProcess, tmp_path: Path) -> None:
    plan = empty_plan()
    plan.root.limit.input.sql.query = f"insert overwrite directory '{tmp_path}/out' using parquet select 1 as a"
    assert "is executed while it is analyzed" in resolver.resolve(RecordedPlan(plan.SerializeToString())).failure


def test_code_for_the_jvm_is_refused(resolver: ResolverProcess) -> None:
    plan = empty_plan()
    function = plan.root.project.expressions.add().common_inline_user_defined_function
    function.scalar_scala_udf.payload = b"serialized"
    assert resolver.resolve(RecordedPlan(plan.SerializeToString())).failure == "the plan uses a Scala function"


def test_only_definitions_are_executed_before_the_plan(resolver: ResolverProcess, tmp_path: Path) -> None:
    earlier = (EarlierCommand(sql_plan(f"insert overwrite directory '{tmp_path}/out' using parquet select 1 as a")),)
    assert "does not define" in resolve_sql(resolver, "select 1", earlier=earlier).failure
    assert not (tmp_path / "out").exists()


def test_files_are_neither_read_nor_written(resolver: ResolverProcess, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    assert resolve_sql(resolver, f"select * from csv.`{tmp_path}`").plan is None
    target = tmp_path / "out"
    found = analyze(resolve_sql(resolver, f"insert overwrite directory '{target}' using parquet select id from orders"))
    assert [each.name.name for each in found.writes] == [str(target)]
    assert not target.exists()


def test_a_path_of_an_unknown_file_system_names_the_target(resolver: ResolverProcess) -> None:
    plan = empty_plan()
    write = plan.command.write_operation
    write.input.read.named_table.unparsed_identifier = "orders"
    write.source, write.path, write.mode = "parquet", "abfss://lake@account.dfs.core.windows.net/out", 3
    found = analyze(resolver.resolve(RecordedPlan(plan.SerializeToString(), tables=TABLES)))
    assert [(each.name.namespace, each.name.name) for each in found.writes] == [
        ("abfss://lake@account.dfs.core.windows.net", "out")
    ]


def test_a_message_of_a_newer_protocol_is_a_failure(resolver: ResolverProcess) -> None:
    plan = empty_plan()
    plan.root.limit.input.MergeFromString(b"\xd2\x3e\x00")  # field 1002, which no version has
    assert "newer version" in resolver.resolve(RecordedPlan(plan.SerializeToString())).failure


def test_bytes_that_are_not_a_plan_are_a_failure(resolver: ResolverProcess) -> None:
    assert resolver.resolve(RecordedPlan(b"\xff\xff")).failure
    assert analyze(resolve_sql(resolver, "select id from orders")).inputs


def nested_plan(depth: int) -> bytes:
    plan = empty_plan()
    relation = plan.root
    for index in range(depth):
        alias = relation.with_columns.aliases.add()
        alias.name.append(f"c{index}")
        alias.expr.unresolved_attribute.unparsed_identifier = "amount"
        relation = relation.with_columns.input
    relation.read.named_table.unparsed_identifier = "orders"
    content: bytes = plan.SerializeToString()
    return content


def test_a_plan_of_150_levels(resolver: ResolverProcess) -> None:
    found = analyze(resolver.resolve(RecordedPlan(nested_plan(150), tables=TABLES)))
    assert inputs_of(found) == ["s3://bucket orders"]


def test_a_plan_of_15_megabytes(resolver: ResolverProcess) -> None:
    plan = empty_plan()
    plan.root.project.input.read.named_table.unparsed_identifier = "orders"
    for index in range(3000):
        alias = plan.root.project.expressions.add().alias
        alias.name.append(f"c{index}")
        alias.expr.literal.string = f"{index}" * 1400
    plan.root.project.expressions.add().unresolved_attribute.unparsed_identifier = "amount"
    content = plan.SerializeToString()
    assert len(content) > 15_000_000
    found = analyze(resolver.resolve(RecordedPlan(content, tables=TABLES)))
    assert [read.field for read in found.inputs[0].reads] == ["amount"]


def test_a_resolver_that_does_not_answer_is_replaced(resolver: ResolverProcess) -> None:
    assert "did not answer" in resolver.resolve(RecordedPlan(nested_plan(150), tables=TABLES), timeout=0.001).failure
    assert analyze(resolve_sql(resolver, "select id from orders")).inputs


def test_a_python_that_cannot_be_started_is_reported_and_given_up(caplog: pytest.LogCaptureFixture) -> None:
    process = ResolverProcess("/nonexistent/python")
    failures = {process.resolve(RecordedPlan(sql_plan("select 1"))).failure for _ in range(5)}
    assert failures == {
        "/nonexistent/python cannot be started: No such file or directory",
        "the resolver did not start",
    }
    assert not process.is_usable


def test_the_environment_of_the_resolver_has_no_settings_of_the_users_spark() -> None:
    environ = {"SPARK_HOME": "/s", "SPARK_REMOTE": "sc://x", "PYSPARK_SUBMIT_ARGS": "--jars x.jar", "LANG": "C"}
    found = child_environment(environ, Path("/tmp/empty"), is_same_python=False)
    assert found == {"LANG": "C", "SPARK_CONF_DIR": "/tmp/empty"}


def test_the_resolver_ends_with_a_killed_client(tmp_path: Path) -> None:
    program = """
        import os, signal, sys
        from colline.capture.connect.recorded_plan import RecordedPlan
        from colline.capture.connect.resolver.resolver_client import ResolverProcess
        resolver = ResolverProcess()
        print(resolver.resolve(RecordedPlan(b"")).failure, flush=True)
        print(resolver._process.pid, resolver._folder, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == -signal.SIGKILL
    pid, folder = done.stdout.splitlines()[1].split()
    deadline = time.monotonic() + 30
    while is_running(int(pid)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not is_running(int(pid))
    assert not Path(folder).exists()


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text("utf-8").split(")")[1].split()[0] != "Z"
