"""Settings: the order of sources, the names of OpenLineage, and errors with a hint."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from colline.config import describe_settings, resolve, settings_from, transport_from
from colline.config.transport_factory import lake_base, onelake_address
from colline.errors import SettingError, TransportError

NOWHERE = Path("/nonexistent")


def settings(call: dict[str, Any] | None = None, **sources: Any) -> Any:
    return settings_from(call, **{"environ": {}, "folder": NOWHERE, **sources})


def test_each_source_overrides_the_one_before(tmp_path: Path) -> None:
    (tmp_path / "colline.toml").write_text(
        'namespace = "toml"\njob = "toml"\napp_name = "toml"\nlake = "toml"\r\nshutdown_timeout = 3\r\n'
    )
    environ = {"COLLINE__NAMESPACE": "environment", "COLLINE__JOB": "environment", "COLLINE__APP_NAME": "environment"}
    spark = {"spark.colline.namespace": "spark", "spark.colline.job": "spark"}
    found = settings({"namespace": "call", "job": None}, environ=environ, spark=spark, folder=tmp_path)
    assert (found.namespace, found.job, found.app_name, found.lake) == ("call", "spark", "environment", "toml")
    assert found.shutdown_timeout == 3.0


def test_each_value_has_its_source(tmp_path: Path) -> None:
    (tmp_path / "colline.toml").write_text('[transport]\ntype = "http"\nurl = "http://a:1"\n')
    environ = {"COLLINE__TRANSPORT__BATCH_SIZE": "7"}
    resolved = resolve(
        {"namespace": "prod"}, environ=environ, spark={"spark.colline.transport.timeout": "2"}, folder=tmp_path
    )
    rows = {name: (value, origin) for name, value, origin in describe_settings(resolved) if origin != "default"}
    assert rows == {
        "namespace": ("prod", "call"),
        "transport.type": ("http", str(tmp_path / "colline.toml")),
        "transport.url": ("http://a:1", str(tmp_path / "colline.toml")),
        "transport.batchSize": (7, "environment COLLINE__TRANSPORT__BATCH_SIZE"),
        "transport.timeout": (2.0, "spark conf spark.colline.transport.timeout"),
    }


def test_a_transport_of_another_type_replaces_all_earlier_options(tmp_path: Path) -> None:
    (tmp_path / "colline.toml").write_text('[transport]\ntype = "http"\nurl = "http://a:1"\n')
    environ = {"COLLINE__TRANSPORT__TYPE": "file", "COLLINE__TRANSPORT__LOCATION": "/tmp/x"}
    found = settings(environ=environ, folder=tmp_path)
    assert found.transport == {"type": "file", "location": "/tmp/x"}


@pytest.mark.parametrize(
    "name", ["batchSize", "batch_size", "BATCH_SIZE", "batch-size", "batchsize"], ids=lambda name: name
)
def test_spelling_of_names_does_not_matter(name: str) -> None:
    found = settings({"transport": {"type": "lake", "base": "x", name: "9"}})
    assert found.transport == {"type": "lake", "base": "x", "batchSize": 9}


OPENLINEAGE_SPARK = [
    ({"spark.openlineage.namespace": "ns"}, "namespace", "ns"),
    ({"spark.openlineage.appName": "app"}, "app_name", "app"),
    ({"spark.openlineage.disabled": "true"}, "disabled", True),
    ({"spark.openlineage.parentJobNamespace": "n"}, "parent.job_namespace", "n"),
    ({"spark.openlineage.parentJobName": "n"}, "parent.job_name", "n"),
    ({"spark.openlineage.parentRunId": "n"}, "parent.run_id", "n"),
    ({"spark.openlineage.rootParentJobNamespace": "n"}, "parent.root_job_namespace", "n"),
    ({"spark.openlineage.rootParentJobName": "n"}, "parent.root_job_name", "n"),
    ({"spark.openlineage.rootParentRunId": "n"}, "parent.root_run_id", "n"),
    ({"spark.openlineage.job.tags": "team:core;urgent"}, "tags.job", {"team": "core", "urgent": "true"}),
    ({"spark.openlineage.run.tags": "env:prod:ci"}, "tags.run", {"env": "prod"}),
    ({"spark.openlineage.columnLineage.datasetLineageEnabled": "false"}, "cartesian", True),
    ({"spark.openlineage.columnLineage.datasetLineageEnabled": "true"}, "cartesian", False),
]
OPENLINEAGE_ENVIRONMENT = [
    ({"OPENLINEAGE_NAMESPACE": "ns"}, "namespace", "ns"),
    ({"OPENLINEAGE_DISABLED": "true"}, "disabled", True),
    ({"OPENLINEAGE_PARENT_ID": "airflow/a/b/0193"}, "parent.job_name", "a/b"),
    ({"OPENLINEAGE_PARENT_ID": "airflow/a/b/0193"}, "parent.run_id", "0193"),
    ({"OPENLINEAGE_ROOT_PARENT_ID": "airflow/dag/0193"}, "parent.root_job_name", "dag"),
]


def attribute(found: Any, name: str) -> Any:
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize(("conf", "name", "value"), OPENLINEAGE_SPARK, ids=lambda each: str(each)[:60])
def test_openlineage_spark_properties_are_read(conf: dict[str, str], name: str, value: Any) -> None:
    assert attribute(settings(spark=conf), name) == value


@pytest.mark.parametrize(("environ", "name", "value"), OPENLINEAGE_ENVIRONMENT, ids=lambda each: str(each)[:60])
def test_openlineage_variables_are_read(environ: dict[str, str], name: str, value: Any) -> None:
    assert attribute(settings(environ=environ), name) == value


def test_http_transport_of_the_openlineage_jar_is_read_unchanged() -> None:
    spark = {
        "spark.openlineage.transport.type": "http",
        "spark.openlineage.transport.url": "http://marquez:5000",
        "spark.openlineage.transport.endpoint": "/api/v2/lineage",
        "spark.openlineage.transport.timeoutInMillis": "1500",
        "spark.openlineage.transport.auth.type": "api_key",
        "spark.openlineage.transport.auth.apiKey": "s3cret",
        "spark.openlineage.transport.headers.X-Team.Name": "core",
        "spark.openlineage.transport.urlParams.tenant": "7",
        "spark.openlineage.transport.compression": "gzip",
    }
    assert settings(spark=spark).transport == {
        "type": "http",
        "url": "http://marquez:5000",
        "endpoint": "/api/v2/lineage",
        "timeout": 1.5,
        "auth": {"type": "api_key", "apiKey": "s3cret"},
        "headers": {"X-Team.Name": "core"},
        "urlParams": {"tenant": "7"},
        "compression": "gzip",
    }


def test_kafka_and_composite_transports_of_the_openlineage_jar_are_read() -> None:
    spark = {
        "spark.openlineage.transport.type": "composite",
        "spark.openlineage.transport.transports.mine.type": "kafka",
        "spark.openlineage.transport.transports.mine.topicName": "lineage",
        "spark.openlineage.transport.transports.mine.properties.bootstrap.servers": "kafka:9092",
        "spark.openlineage.transport.transports.other.type": "console",
    }
    assert settings(spark=spark).transport == {
        "type": "composite",
        "transports": {
            "mine": {"type": "kafka", "topicName": "lineage", "properties": {"bootstrap.servers": "kafka:9092"}},
            "other": {"type": "console"},
        },
    }


def test_openlineage_url_is_an_http_transport_that_colline_settings_override() -> None:
    environ = {"OPENLINEAGE_URL": "http://a:1", "OPENLINEAGE_API_KEY": "k", "OPENLINEAGE_ENDPOINT": "x"}
    expected = {"type": "http", "url": "http://a:1", "auth": {"apiKey": "k"}, "endpoint": "x"}
    assert settings(environ=environ).transport == expected
    stronger = {**environ, "COLLINE__TRANSPORT__TYPE": "lake", "COLLINE__TRANSPORT__BASE": "/l"}
    assert settings(environ=stronger).transport == {"type": "lake", "base": "/l"}


def test_variables_of_openlineage_python_are_read() -> None:
    environ = {
        "OPENLINEAGE__TRANSPORT__TYPE": "kafka",
        "OPENLINEAGE__TRANSPORT__TOPIC": "t",
        "OPENLINEAGE__TRANSPORT__CONFIG": '{"bootstrap.servers": "k:1"}',
        "OPENLINEAGE__TRANSPORT__FLUSH": "true",
    }
    expected = {"type": "kafka", "topicName": "t", "properties": {"bootstrap.servers": "k:1"}}
    assert settings(environ=environ).transport == expected


MISTAKES = [
    ({"namespce": "x"}, "there is no setting `namespce`", "did you mean `namespace`?"),
    ({"parent": {"runid": "1", "jobb": "x"}}, "there is no setting `parent.jobb`", "there are:"),
    ({"shutdown_timeout": "soon"}, "setting `shutdown_timeout`: expected `float`", "colline settings"),
    ({"shutdown_timeout": -1}, "setting `shutdown_timeout`: expected `float` >= 0", "colline settings"),
    ({"disabled": "perhaps"}, "setting `disabled`", "colline settings"),
    ({"transport": {"type": "lak", "base": "x"}}, "there is no transport `lak`", "did you mean `lake`?"),
    ({"transport": {"base": "x"}}, "it has no `type`", "one of"),
    ({"transport": {"type": "http", "ulr": "x"}}, "there is no setting `transport.ulr`", "did you mean `url`?"),
    ({"transport": {"type": "http"}}, "missing required field `url`", "colline settings"),
    ({"transport": {"type": "lake", "base": "x", "batchSize": 0}}, "setting `transport.batchSize`", "colline settings"),
    ({"transport": {"type": "http", "url": "x", "auth": {"kind": 1}}}, "`transport.auth.kind`", "there are:"),
    ({"transport": {"type": "http", "url": "u", "timeoutInMillis": "x"}}, "expected a number", ""),
    ({"transport": [{"type": "file", "locatoin": "x"}]}, "there is no setting `transport.locatoin`", "`location`"),
    ({"transport": {"type": "composite"}}, "a composite needs `transports`", "a list"),
]


@pytest.mark.parametrize(("given", "what", "hint"), MISTAKES, ids=lambda each: str(each)[:50])
def test_a_wrong_setting_is_reported_with_a_hint(given: dict[str, Any], what: str, hint: str) -> None:
    with pytest.raises(SettingError) as caught:
        settings(given)
    assert what in caught.value.message
    assert hint in (caught.value.hint or "")


BUILDING = [
    ({"transport": []}, "list of transports is empty"),
    ({"transport": 7}, "an object with `emit`"),
    ({"transport": {"type": "lake"}}, "needs it"),
    ({"transport": {"type": "lake", "workspace": "x"}}, "both `workspace` and `lakehouse`"),
    ({"transport": {"type": "file", "location": "s3://b/k"}}, "not a local path"),
    ({"transport": {"type": "file", "location": "/tmp"}}, "is a folder"),
    ({"transport": {"type": "http", "url": "ftp://x"}}, "not an HTTP address"),
    ({"transport": {"type": "http", "url": "http://x:port"}}, "not an HTTP address"),
    ({"transport": {"type": "http", "url": "http://x", "headers": {"a": "b\r\nc: d"}}}, "line break"),
    ({"transport": {"type": "kafka", "topicName": "t", "properties": {"no.such": "1"}}}, "no.such"),
    ({"transport": [{"type": "noop", "spool": "/tmp/s"}, {"type": "noop", "spool": "/tmp/s"}]}, "share one spool"),
]


@pytest.mark.parametrize(("given", "what"), BUILDING, ids=lambda each: str(each)[:50])
def test_an_invalid_transport_is_reported_when_it_is_created(given: dict[str, Any], what: str) -> None:
    with pytest.raises((SettingError, TransportError), match=what.replace("`", ".")):
        transport_from(settings(given))


def test_an_invalid_toml_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "colline.toml").write_text("namespace = \n")
    with pytest.raises(SettingError, match="cannot read"):
        settings(folder=tmp_path)


def test_a_missing_config_file_is_an_error() -> None:
    with pytest.raises(SettingError, match="not a file"):
        settings(environ={"COLLINE_CONFIG": "/nonexistent/x.toml"})


def test_a_list_may_be_text_with_commas() -> None:
    found = settings(environ={"COLLINE__MASKING_FUNCTIONS": "scramble, blur"})
    assert found.masking_functions == ("scramble", "blur")
    assert settings({"masking_functions": ["a"]}).masking_functions == ("a",)


def test_the_lake_setting_alone_creates_a_lake_transport(tmp_path: Path) -> None:
    transport = transport_from(settings(environ={"COLLINE_LAKE": str(tmp_path)}))
    transport.emit({"a": 1})
    transport.close(5)
    assert len(list(tmp_path.rglob("*.ndjson"))) == 1


def test_relative_paths_do_not_follow_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    given = [{"type": "lake", "base": "lake", "spool": "spool"}, {"type": "file", "location": "events.ndjson"}]
    transport = transport_from(settings({"transport": given}))
    monkeypatch.chdir(tmp_path / "elsewhere")
    transport.emit({"a": 1})
    transport.close(5)
    assert {path.name for path in tmp_path.iterdir()} == {"lake", "spool", "events.ndjson", "elsewhere"}
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_disabled_emits_nothing(tmp_path: Path) -> None:
    transport = transport_from(settings({"lake": str(tmp_path), "disabled": True}))
    transport.emit({"a": 1})
    transport.close(5)
    assert list(tmp_path.iterdir()) == []


GUIDS = ("0f5e6a2c-1111-2222-3333-444455556666", "1f5e6a2c-1111-2222-3333-444455556666")
ONELAKE = [
    (
        ("Sales", "Bronze.Lakehouse"),
        "abfss://Sales@onelake.dfs.fabric.microsoft.com/Bronze.Lakehouse/Files",
    ),
    (("Sales", "Bronze"), "abfss://Sales@onelake.dfs.fabric.microsoft.com/Bronze.Lakehouse/Files"),
    (("My Sales", "A b"), "abfss://My%20Sales@onelake.dfs.fabric.microsoft.com/A%20b.Lakehouse/Files"),
    (GUIDS, f"abfss://{GUIDS[0]}@onelake.dfs.fabric.microsoft.com/{GUIDS[1]}/Files"),
]


@pytest.mark.parametrize(("given", "path"), ONELAKE, ids=lambda each: str(each)[:30])
def test_workspace_and_lakehouse_give_a_onelake_address(given: tuple[str, str], path: str) -> None:
    assert onelake_address(*given) == path


def run(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "colline", "settings", *arguments],
        check=False, capture_output=True, text=True, cwd=cwd, env={"PATH": "/usr/bin", "HOME": str(cwd), **environ},
    )  # fmt: skip


def test_the_command_prints_effective_settings_and_hides_secrets(tmp_path: Path) -> None:
    (tmp_path / "colline.toml").write_text('[transport]\ntype = "http"\nurl = "https://u:hunter2@host"\n')
    done = run(cwd=tmp_path, COLLINE__TRANSPORT__AUTH__API_KEY="s3cret", COLLINE__NAMESPACE="prod")
    assert (done.returncode, done.stderr) == (0, "")
    assert "hunter2" not in done.stdout
    assert "s3cret" not in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "setting", "namespace", "transport.type", "transport.url", "transport.auth.apiKey",
    ]  # fmt: skip


def test_the_command_prints_json_and_reads_spark_conf(tmp_path: Path) -> None:
    done = run("--json", "--conf", "spark.colline.lake=/data/my lake", cwd=tmp_path)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"name": "lake", "value": "/data/my lake", "from": "spark conf spark.colline.lake"}
    ]


def test_the_command_reports_that_all_settings_have_defaults(tmp_path: Path) -> None:
    done = run(cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "--all" in done.stderr


def test_the_command_exits_with_2_for_a_wrong_setting(tmp_path: Path) -> None:
    done = run(cwd=tmp_path, COLLINE__NAMESPCE="x")
    assert done.returncode == 2
    assert done.stderr == "error: there is no setting `namespce`\nhint: did you mean `namespace`?\n"


def test_base_overrides_the_lake_setting() -> None:
    from colline.transport.options import LakeOptions

    assert lake_base(LakeOptions(base="/own"), settings({"lake": "/other"})) == "/own"
    assert lake_base(LakeOptions(), settings({"lake": "/other"})) == "/other"


def test_the_settings_page_is_up_to_date() -> None:
    from tools.settings_page import page

    shown = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
    assert shown.read_text(encoding="utf-8") == page(), "run: make settings-docs"
