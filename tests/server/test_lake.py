"""From a POST to an answer: events of strangers through the receiver, the pipeline in its child, the lake and REST."""

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
def server(ingested: Server) -> Server:
    return ingested


def test_a_column_of_the_jar_is_traced_to_its_source(server: Server) -> None:
    answer = server.client.get("/api/v1/upstream", params={"column": "takings.total"}).json()
    assert [row["field"] for row in answer["columns"]] == ["price"]
    [edge] = answer["edges"]
    assert (edge["type"], edge["subtype"]) == ("DIRECT", "AGGREGATION")


@pytest.mark.parametrize("number", range(len(HOSTILE_NAMES)))
def test_a_hostile_name_comes_back_as_the_text_it_was(server: Server, number: int) -> None:
    name = HOSTILE_NAMES[number]
    rows = server.client.get("/api/v1/downstream", params={"column": f'"source{number}".*'}).json()["columns"]
    assert [row["field"] for row in rows] == [name]
    asked = {"column": json.dumps([rows[0]["namespace"], rows[0]["name"], rows[0]["field"]])}
    answer = server.client.get("/api/v1/upstream", params=asked)
    assert answer.status_code == 200, answer.text
    assert [row["field"] for row in answer.json()["columns"]] == [name]
    assert answer.headers["Content-Type"] == "application/json"
    home = {"namespace": rows[0]["namespace"], "name": rows[0]["name"]}
    assert [row["field"] for row in server.client.get("/api/v1/dataset", params=home).json()["columns"]] == [name]


def test_no_name_of_an_event_became_a_path(server: Server) -> None:
    assert {path.name for path in server.lake.iterdir()} <= FOLDERS
    assert not [path for path in server.lake.rglob("*") if "script" in path.name or "passwd" in path.name]


def test_every_answered_event_is_in_bronze_exactly_once(server: Server, stormed: tuple[Path, set[str]]) -> None:
    table = DeltaTable(str(server.lake / "bronze" / "events")).to_pyarrow_table(columns=["raw"])
    events = [json.loads(raw) for raw in table.column("raw").to_pylist() if b'"storm"' in raw]
    runs = Counter(found["run"]["runId"] for found in events)
    assert {run: count for run, count in runs.items() if count != 1} == {}
    assert stormed[1] - set(runs) == set()


def test_refused_events_are_in_quarantine_with_what_was_wrong(server: Server) -> None:
    rows = server.client.get("/api/v1/quarantine").json()["rows"]
    kept = [json.loads(row["line"])["colline_refused"] for row in rows]
    assert sorted(row["path"] for row in kept) == ["$", "$.run.runId"]
    assert any("nonsense \\xff\n\n" in row["text"] for row in kept)
    assert server.client.get("/api/v1/overview").json()["health"]["quarantined"] == 2


def test_status_and_figures_tell_of_ingest(server: Server) -> None:
    status = server.client.get("/api/v1/status").json()["ingest"]
    assert (status["every"], status["failures"]) == (3.0, 0)
    assert status["last_ended"] is not None
    assert "colline_ingest_failures_total 0\n" in server.client.get("/metrics").text
    assert server.client.get("/api/v1/runs", params={"limit": 5}).json()["rows"]


def test_nothing_new_means_no_new_run(server: Server) -> None:
    def told() -> tuple[int, bool]:
        status = server.client.get("/api/v1/status").json()["ingest"]
        return status["runs"], status["running"]

    for _ in range(20):  # what came during an ingest is taken by one more
        before = told()
        time.sleep(7)  # it looks every 3 seconds
        if before == told() == (before[0], False):
            return
    pytest.fail(f"it runs again and again: {told()}")


def test_the_lake_outlives_the_server(server: Server, tmp_path: Path) -> None:
    total = server.client.get("/api/v1/overview").json()["health"]["columns"]
    with serving(server.lake) as second:
        assert second.client.get("/api/v1/overview").json()["health"]["columns"] == total
