"""Expected runs compared with recorded ones, from every kind of history."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import socket
import subprocess
import threading
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
RUNS = [
    ("app-1", "nightly", "2026-11-01 02:00:00"),
    ("app-2", "nightly", "2026-11-02 02:00:00"),
    ("app-3", "hourly", "2026-11-02 03:00:00"),
]


def start(app: str, name: str, millis: int) -> str:
    found = {
        "Event": "SparkListenerApplicationStart",
        "App Name": name,
        "App ID": app,
        "Timestamp": millis,
        "User": "etl",
    }
    return json.dumps(found, separators=(",", ":"))  # as Spark writes it, and its history server looks for it


LOG = '{"Event":"SparkListenerLogStart","Spark Version":"4.1.4"}\n' + "{}\n".format(
    start("app-1", "nightly", 1793498400000)
)


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake that has seen the first application and one that nobody expected."""
    from colline.lake.tables import RUNS as SEEN
    from colline.lake.tables import fields_of
    from colline.pipeline.delta_tables import LakeTables

    folder = tmp_path_factory.mktemp("lake")
    tables = LakeTables(spark, str(folder))
    rows = spark.sql(
        "select 'r1' run_id, 'nightly' job_name, 'app-1' application, timestamp'2026-11-01 02:00:00' started_at, "
        "map('dropped', '3') delivery, false open, 'h0' part union all "
        "select 'r9', 'adhoc', 'app-9', timestamp'2026-11-02 09:00:00', null, false, 'h0'"
    )
    missing = [c for c in fields_of(SEEN) if c not in rows.columns]
    tables.append(SEEN, rows.selectExpr("*", *(f"null as {c}" for c in missing)))
    tables.wait()
    return folder


def test_csv_of_runs_shows_missing_extra_and_dropped(spark: SparkSession, lake: Path, tmp_path: Path) -> None:
    from colline.pipeline.upkeep.reconcile import RunColumns, from_table, reconcile

    path = tmp_path / "runs of a week.csv"
    path.write_text("id,flow,at\r\n" + "".join(f"{r},{j},{t}\r\n" for r, j, t in RUNS))
    expected = from_table(spark, str(path), RunColumns("id", "flow", "at"))
    done = reconcile(str(lake), expected, spark=spark)
    assert (done.expected, done.seen, round(done.coverage, 3)) == (3, 1, 0.333)
    assert [(m.run, m.job) for m in done.missing] == [("app-2", "nightly"), ("app-3", "hourly")]
    found = {(d.day, d.job): (d.expected, d.seen, d.missing, d.extra, d.dropped) for d in done.days}
    assert found == {
        ("2026-11-01", "nightly"): (1, 1, 0, 0, 3),
        ("2026-11-02", "nightly"): (1, 0, 1, 0, 0),
        ("2026-11-02", "hourly"): (1, 0, 1, 0, 0),
        ("2026-11-02", "adhoc"): (0, 0, 0, 1, 0),
    }


def _apps(frame: DataFrame) -> list[tuple[str, str, str]]:
    return sorted((r["run"], r["job"], str(r["started"])) for r in frame.toLocalIterator())


@pytest.mark.parametrize("codec", ["zstd", "lz4", "snappy", "plain"])
def test_event_logs_are_read_in_every_codec_spark_writes(spark: SparkSession, tmp_path: Path, codec: str) -> None:
    from colline.pipeline.upkeep.spark_history import from_event_logs

    logs = tmp_path / "logs"
    logs.mkdir()
    _write(spark, logs / ("app-1" if codec == "plain" else f"app-1.{codec}"), LOG, codec)
    assert [a[:2] for a in _apps(from_event_logs(spark, str(logs), str(tmp_path / "out")))] == [("app-1", "nightly")]


def test_rolling_event_logs_are_one_application(spark: SparkSession, tmp_path: Path) -> None:
    from colline.pipeline.upkeep.spark_history import from_event_logs

    rolling = tmp_path / "logs" / "eventlog_v2_app-1"
    rolling.mkdir(parents=True)
    (rolling / "appstatus_app-1").touch()
    _write(spark, rolling / "events_1_app-1.zstd", LOG, "zstd")
    _write(spark, rolling / "events_2_app-1.zstd", '{"Event":"SparkListenerApplicationEnd","Timestamp":1}\n', "zstd")
    assert [a[:2] for a in _apps(from_event_logs(spark, str(tmp_path / "logs"), str(tmp_path / "out")))] == [
        ("app-1", "nightly")
    ]


def _write(spark: SparkSession, path: Path, text: str, codec: str) -> None:
    """The text as Spark's own writer compresses it."""
    jvm = spark.sparkContext._jvm
    out = jvm.java.io.FileOutputStream(str(path))
    if codec != "plain":
        codec_instance = jvm.org.apache.spark.io.CompressionCodec.createCodec(
            spark.sparkContext._jsc.sc().conf(), codec
        )
        out = codec_instance.compressedOutputStream(out)
    out.write(bytearray(text.encode()))
    out.close()


class _History(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        apps = [
            {"id": r, "name": j, "attempts": [{"startTimeEpoch": 1793498400000, "completed": True}]} for r, j, _ in RUNS
        ]
        body = json.dumps(apps if self.path == "/api/v1/applications" else []).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """No output."""


@pytest.fixture
def history_server() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _History) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_history_server_is_read_by_its_rest_api(spark: SparkSession, history_server: str) -> None:
    from colline.pipeline.upkeep.spark_history import from_history_server

    assert [a[:2] for a in _apps(from_history_server(spark, history_server))] == [(r, j) for r, j, _ in RUNS]


def test_real_history_server_is_read(spark: SparkSession, lake: Path, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "app-1").write_text(LOG + '{"Event":"SparkListenerApplicationEnd","Timestamp":1793498500000}\n')
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    given = {
        "fs.logDirectory": logs.as_uri(),
        "ui.port": port,
        "fs.update.interval": "1s",
        "store.path": tmp_path / "store",
    }
    options = " ".join(f"-Dspark.history.{name}={value}" for name, value in given.items())
    import pyspark

    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    environment = {**os.environ, "SPARK_HISTORY_OPTS": options, "SPARK_LOCAL_IP": "127.0.0.1"}
    server = subprocess.Popen(
        [str(program), "org.apache.spark.deploy.history.HistoryServer"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _until_listed(f"http://127.0.0.1:{port}")
        found = _reconcile(lake, f"http://127.0.0.1:{port}", "--fail-under", "1")
    finally:
        server.kill()
        server.wait()
    assert (found["expected"], found["seen"], found["missing"]) == (1, 1, [])


def _until_listed(url: str, seconds: float = 120.0) -> None:
    """Until the server has read its folder."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/api/v1/applications") as answer:
            if json.load(answer):
                return
        time.sleep(0.5)
    raise AssertionError("the history server lists no application")


def _reconcile(lake: Path, history: str, *more: str, code: int = 0) -> dict[str, Any]:
    from colline.cli.operate.reconcile import command

    done = CliRunner().invoke(command, ["--lake", str(lake), "--history", history, "--json", *more])
    assert done.exit_code == code, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_fail_under_sets_the_exit_code_for_every_kind_of_history(
    spark: SparkSession, lake: Path, tmp_path: Path
) -> None:
    columns = ("--run-column", "id", "--job-column", "flow", "--started-column", "at")
    ndjson = tmp_path / "runs.ndjson"
    ndjson.write_text("".join(json.dumps({"id": r, "flow": j, "at": t, "more": 1}) + "\n" for r, j, t in RUNS))
    spark.read.json(str(ndjson)).write.format("delta").save(str(tmp_path / "runs"))
    missing = [("app-2", "nightly"), ("app-3", "hourly")]
    for history, least, code in ((ndjson, "0.33", 0), (tmp_path / "runs", "0.34", 1)):
        found = _reconcile(lake, str(history), *columns, "--fail-under", least, code=code)
        assert (found["expected"], found["seen"]) == (3, 1)
        assert [(m["run"], m["job"]) for m in found["missing"]] == missing
    # rows that are not shown count too
    short = _reconcile(lake, str(ndjson), *columns, "--limit", "1", "--fail-under", "0.34", code=1)
    assert ([m["run"] for m in short["missing"]], short["left_out"]) == (["app-2"], 1)
