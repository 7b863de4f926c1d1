"""From a POST to an answer: events of other producers through receiver, ingest, lake and REST."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.server.serving import HOSTILE_NAMES, Server, serving

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1600)]
FOLDERS = {"_server", "_colline", "landing", "bronze", "silver", "gold", "snapshot"}


@pytest.fixture
def server(ingested_server: Server) -> Server:
    return ingested_server


def test_column_in_an_event_of_the_openlineage_jar_has_lineage(server: Server) -> None:
    answer = server.client.get("/api/v1/upstream", params={"column": "takings.total"}).json()
    assert [row["field"] for row in answer["columns"]] == ["price"]
    [edge] = answer["edges"]
    assert (edge["type"], edge["subtype"]) == ("DIRECT", "AGGREGATION")


@pytest.mark.parametrize("number", range(len(HOSTILE_NAMES)))
def test_hostile_names_are_returned_unchanged(server: Server, number: int) -> None:
    name = HOSTILE_NAMES[number]
    rows = server.client.get("/api/v1/downstream", params={"column": f'"source{number}".*'}).json()["columns"]
    assert [row["field"] for row in rows] == [name]
    params = {"column": json.dumps([rows[0]["namespace"], rows[0]["name"], rows[0]["field"]])}
    answer = server.client.get("/api/v1/upstream", params=params)
    assert answer.status_code == 200, answer.text
    assert [row["field"] for row in answer.json()["columns"]] == [name]
    assert answer.headers["Content-Type"] == "application/json"
    table = {"namespace": rows[0]["namespace"], "name": rows[0]["name"], "kind": "table"}
    assert [row["field"] for row in server.client.get("/api/v1/show", params=table).json()["columns"]] == [name]


def test_names_in_events_do_not_become_paths(server: Server) -> None:
    assert {path.name for path in server.lake.iterdir()} <= FOLDERS
    assert not [path for path in server.lake.rglob("*") if "script" in path.name or "passwd" in path.name]


def test_every_acknowledged_event_is_in_bronze_exactly_once(server: Server, storm_lake: tuple[Path, set[str]]) -> None:
    table = DeltaTable(str(server.lake / "bronze" / "events")).to_pyarrow_table(columns=["raw"])
    events = [json.loads(raw) for raw in table.column("raw").to_pylist() if b'"storm"' in raw]
    runs = Counter(found["run"]["runId"] for found in events)
    assert {run: count for run, count in runs.items() if count != 1} == {}
    assert storm_lake[1] - set(runs) == set()


def test_invalid_events_are_in_quarantine_with_the_reason(server: Server) -> None:
    rows = server.client.get("/api/v1/quarantine").json()["rows"]
    kept = [json.loads(row["line"])["colline_refused"] for row in rows]
    assert sorted(row["path"] for row in kept) == ["$", "$.run.runId"]
    assert any("nonsense \\xff\n\n" in row["text"] for row in kept)
    assert server.client.get("/api/v1/overview").json()["health"]["quarantined"] == 2


def test_status_and_metrics_report_ingests(server: Server) -> None:
    status = server.client.get("/api/v1/status").json()["ingest"]
    assert (status["every"], status["failures"]) == (3.0, 0)
    assert status["last_ended"] is not None
    assert "colline_ingest_failures_total 0\n" in server.client.get("/metrics").text
    assert server.client.get("/api/v1/runs", params={"limit": 5}).json()["rows"]


def test_no_ingest_runs_without_new_files(server: Server) -> None:
    def ingest_runs() -> tuple[int, bool]:
        status = server.client.get("/api/v1/status").json()["ingest"]
        return status["runs"], status["running"]

    for _ in range(20):  # events that arrive during an ingest need another one
        before = ingest_runs()
        time.sleep(7)  # the schedule is every 3 seconds
        if before == ingest_runs() == (before[0], False):
            return
    pytest.fail(f"ingest does not stop: {ingest_runs()}")


def test_second_server_serves_the_same_lake(server: Server, tmp_path: Path) -> None:
    total = server.client.get("/api/v1/overview").json()["health"]["columns"]
    with serving(server.lake) as second:
        assert second.client.get("/api/v1/overview").json()["health"]["columns"] == total
