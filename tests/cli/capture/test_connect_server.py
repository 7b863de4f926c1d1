"""`colline connect-server`: queries of a client in another process are captured, and Ctrl-C stops the server."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import colline
from tests.sessions import has_connect

PROGRAM = (sys.executable, "-m", "colline", "connect-server")
needs_connect = pytest.mark.skipif(not has_connect(), reason="this PySpark does not include the Connect server")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    conf = {
        "spark.master": "local[1]",
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": str(tmp_path / "tables"),
    }
    options = [text for name, value in conf.items() for text in ("--conf", f"{name}={value}")]
    command = [*PROGRAM, "--port", "0", "--lake", "lake", *options]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def read_address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("captured Spark Connect server at "):
            return line.split()[-1]
    raise AssertionError(f"the server ended with {process.wait()}")


def landed_events(lake: Path) -> list[dict[str, Any]]:
    files = sorted((lake / "landing").rglob("*.ndjson"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


@pytest.mark.spark
@needs_connect
def test_queries_of_a_client_are_captured_until_ctrl_c(
    server: subprocess.Popen[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql.connect.session import SparkSession

    # as in a new process: those of other tests may be closed
    monkeypatch.setattr(SparkSession, "_default_session", None)
    monkeypatch.setattr(SparkSession._active_session, "session", None, raising=False)
    client = SparkSession.builder.remote(read_address(server)).create()
    client.sql("create table orders using parquet as select id, id * 2 as amount from range(3)")
    with colline.job("nightly"):
        client.sql("create table totals using parquet as select sum(amount) as total from orders")
    client.stop()
    server.send_signal(signal.SIGINT)
    assert server.wait(60) == 0
    events = landed_events(tmp_path / "lake")
    assert [(event["eventType"], event["job"]["name"]) for event in events] == [
        ("START", "Spark Connect server"),
        ("START", "Spark Connect server.default.orders"),
        ("COMPLETE", "Spark Connect server.default.orders"),
        ("START", "nightly"),
        ("COMPLETE", "nightly"),
        ("COMPLETE", "Spark Connect server"),
    ]
    [column] = events[4]["outputs"][0]["facets"]["columnLineage"]["fields"]["total"]["inputFields"]
    assert (column["name"], column["field"]) == (str(tmp_path / "tables" / "orders"), "amount")


def test_a_port_in_use_is_reported_before_spark_starts(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as user:
        port = str(user.getsockname()[1])
        done = subprocess.run([*PROGRAM, "--port", port], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: cannot listen on 127.0.0.1:{port}: Address already in use\n"
        "hint: choose another --port, or stop its user\n"
    )


def test_a_property_without_a_value_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "--conf", "spark.master"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "'spark.master' is not of the form KEY=VALUE" in done.stderr
