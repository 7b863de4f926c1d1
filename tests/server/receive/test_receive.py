"""The receiver in a real process: valid and invalid events, limits, slow clients, a full disk."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server.jar_events import JAR_EVENTS
from tests.server.other_events import OTHER_EVENTS
from tests.server.serving import HOSTILE_NAMES, Server, event, landed_lines, serving

LINEAGE, BATCH = "/api/v1/lineage", "/api/v1/lineage/batch"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    options = ("--max-body", "1MB", "--body-timeout", "1s", "--seal-after", "0.2s")
    with serving(tmp_path_factory.mktemp("receive") / "my lake", *options) as running:
        yield running


def _lines_of(server: Server, marker: str, count: int = 1) -> list[bytes]:
    """The landed lines with this marker, as soon as there are `count` of them."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        found = [line for line in landed_lines(server.lake) if marker.encode() in line]
        if len(found) >= count:
            return found
        time.sleep(0.05)
    return []


def test_event_lands_unchanged(server: Server) -> None:
    sent = event("as_it_came")
    answer = server.client.post(LINEAGE, json=sent)
    assert (answer.status_code, answer.json()) == (201, {"status": "success", "events": 1})
    assert [json.loads(line) for line in _lines_of(server, "as_it_came")] == [sent]


def test_invalid_event_is_reported_with_its_path_and_lands(server: Server) -> None:
    answer = server.client.post(LINEAGE, json=event("wrong_run") | {"run": {"runId": 7}})
    assert answer.status_code == 422
    assert answer.json() == {
        "error": "Expected `str`, got `int`",
        "code": "bad_event",
        "hint": "the event was kept: see `colline quarantine list`",
        "path": "$.run.runId",
    }
    [line] = _lines_of(server, "wrong_run")
    assert json.loads(line)["colline_refused"]["path"] == "$.run.runId"


def test_body_with_line_breaks_lands_as_one_line(server: Server) -> None:
    marker = "not_one_line"
    body = f'{{"{marker}\n'.encode() + b"\xff\0" + json.dumps(event("smuggled")).encode() + b"\n"
    assert server.client.post(LINEAGE, content=body).status_code == 422
    [line] = _lines_of(server, marker)
    assert json.loads(line)["colline_refused"]["text"] == body.decode(errors="backslashreplace")


def test_batch_keeps_valid_events_and_lists_invalid_ones(server: Server) -> None:
    events = [event("batch_a"), {"nothing": 1}, event("batch_b")]
    answer = server.client.post(BATCH, json=events)
    assert answer.status_code == 200
    assert answer.json()["summary"] == {"received": 3, "successful": 2, "failed": 1}
    assert [(row["index"], row["path"]) for row in answer.json()["failed_events"]] == [(1, "$")]
    assert len(_lines_of(server, "batch_b")) == 1


def test_gzipped_batch_with_windows_line_ends(server: Server) -> None:
    text = "\r\n".join(json.dumps(event(f"packed_{i}")) for i in range(3)) + "\r\n"
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/x-ndjson"}
    answer = server.client.post(BATCH, content=gzip.compress(text.encode()), headers=headers)
    assert (answer.status_code, answer.json()["summary"]["successful"]) == (200, 3)
    assert len(_lines_of(server, "packed_")) == 3


def test_batch_of_invalid_events_is_422_and_an_empty_one_is_200(server: Server) -> None:
    assert server.client.post(BATCH, json=[1, 2]).status_code == 422
    assert server.client.post(BATCH, content=b"[").status_code == 422
    assert server.client.post(BATCH, json=[]).json()["summary"]["received"] == 0


def _zip_bomb() -> bytes:
    return gzip.compress(b" " * 50_000_000)


BAD_BODIES = [
    ({"content": b" " * 1_048_577}, 413, "too_large"),
    ({"content": iter([b" " * 600_000, b" " * 600_000])}, 413, "too_large"),
    ({"content": _zip_bomb(), "headers": {"Content-Encoding": "gzip"}}, 413, "too_large"),
    ({"content": gzip.compress(b"{}")[:-9], "headers": {"Content-Encoding": "gzip"}}, 400, "bad_encoding"),
    ({"content": b"{}", "headers": {"Content-Encoding": "gzip"}}, 400, "bad_encoding"),
    ({"content": b"{}", "headers": {"Content-Encoding": "br"}}, 415, "wrong_type"),
    ({"content": b"[" * 500_000}, 422, "bad_event"),
    ({"content": b" "}, 422, "bad_event"),
]


@pytest.mark.parametrize(("request_", "status", "code"), BAD_BODIES, ids=range(len(BAD_BODIES)))
def test_body_beyond_a_limit_gets_an_error_code(
    server: Server, request_: dict[str, Any], status: int, code: str
) -> None:
    answer = server.client.post(LINEAGE, **request_)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["hint"]
    assert server.client.get("/healthz").status_code == 200


def test_several_gzip_members_are_one_body(server: Server) -> None:
    text = json.dumps(event("two_members")).encode()
    body = gzip.compress(text[:50]) + gzip.compress(text[50:])
    assert server.client.post(LINEAGE, content=body, headers={"Content-Encoding": "gzip"}).status_code == 201


def test_slow_body_is_408(server: Server) -> None:
    address = server.address.removeprefix("http://")
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=10) as slow:
        slow.sendall(f"POST {LINEAGE} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 1000\r\n\r\n{{".encode())
        assert slow.recv(1000).startswith(b"HTTP/1.1 408")


def test_headers_of_more_than_half_a_megabyte_are_431(server: Server) -> None:
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as large:
        large.sendall(b"GET / HTTP/1.1\r\nX-Large: ".ljust(512 * 1024 + 1, b"x"))
        assert large.recv(1000).startswith(b"HTTP/1.1 431")


def test_offer_to_upgrade_the_protocol_is_ignored(server: Server) -> None:
    """Java's own client offers HTTP/2 with its first request."""
    offer = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABkAAQAoAAAAAIAAAAA"}
    for _ in range(2):
        assert server.client.post(LINEAGE, json=event(), headers=offer).status_code == 201


def test_connection_with_slow_headers_is_closed(server: Server) -> None:
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as slow:
        assert slow.recv(1000) == b""
    with socket.create_connection((host, int(port)), timeout=10) as slow:
        slow.sendall(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        got = b""
        while not got.endswith(b"}"):
            got += slow.recv(10_000)
        assert got.startswith(b"HTTP/1.1 200")
        slow.sendall(b"GET /healthz HT")
        assert slow.recv(1000) == b""


def test_overload_is_429_and_loses_nothing(tmp_path: Path) -> None:
    async def post_all(address: str) -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=address, timeout=30) as client:
            sent = [client.post(LINEAGE, json=event(f"job_{i}", bulk="x" * 20_000)) for i in range(200)]
            return await asyncio.gather(*sent)

    with serving(tmp_path / "lake", "--max-waiting", "1KB", "--seal-after", "0.2s") as server:
        answers = asyncio.run(post_all(server.address))
        server.stop()
    assert {answer.status_code for answer in answers} == {201, 429}
    assert {answer.headers["Retry-After"] for answer in answers if answer.status_code == 429} == {"1"}
    kept = sum(answer.status_code == 201 for answer in answers)
    assert len(landed_lines(tmp_path / "lake")) == kept


def test_client_that_disconnects_does_not_affect_others(server: Server) -> None:
    address = server.address.removeprefix("http://")
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=10) as gone:
        gone.sendall(f"POST {LINEAGE} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 1000\r\n\r\n{{".encode())
    assert server.client.post(LINEAGE, json=event()).status_code == 201


def test_events_of_the_openlineage_jar_are_accepted(server: Server) -> None:
    assert [server.client.post(LINEAGE, json=sent).status_code for sent in JAR_EVENTS] == [201] * len(JAR_EVENTS)
    answer = server.client.post(BATCH, json=JAR_EVENTS)
    assert answer.json()["summary"] == {"received": len(JAR_EVENTS), "successful": len(JAR_EVENTS), "failed": 0}


def test_events_of_airflow_and_dbt_are_accepted(server: Server) -> None:
    for sent in OTHER_EVENTS:
        answer = server.client.post(LINEAGE, json=sent)
        assert answer.status_code == 201, (sent["producer"], answer.text)


def test_hostile_names_are_only_text(server: Server) -> None:
    for name in HOSTILE_NAMES:
        sent = event(name, outputs=[{"namespace": name, "name": name}])
        assert server.client.post(LINEAGE, json=sent).status_code == 201, name
        found = [json.loads(line) for line in _lines_of(server, sent["run"]["runId"])]
        assert found == [sent]
    inside = {path.relative_to(server.lake).parts[0] for path in server.lake.rglob("*")}
    assert inside == {"_server", "landing"}


def test_openlineage_python_can_send_events(server: Server) -> None:
    from openlineage.client import OpenLineageClient
    from openlineage.client.event_v2 import Job, OutputDataset, Run, RunEvent, RunState
    from openlineage.client.facet_v2 import column_lineage_dataset as lineage
    from openlineage.client.transport.async_http import AsyncHttpConfig, AsyncHttpTransport
    from openlineage.client.transport.http import HttpConfig, HttpTransport
    from openlineage.client.uuid import generate_new_uuid

    source = lineage.InputField("file", "/lake/orders", "amount", [lineage.Transformation("DIRECT", "AGGREGATION")])
    facet = lineage.ColumnLineageDatasetFacet(fields={"total": lineage.Fields([source], "", "")})
    run = str(generate_new_uuid())
    plain = {"url": server.address, "verify": False}
    packed = plain | {"compression": "gzip"}
    transports = [HttpTransport(HttpConfig.from_dict(settings)) for settings in (plain, packed)]
    transports += [AsyncHttpTransport(AsyncHttpConfig.from_dict(settings)) for settings in (plain, packed)]
    for transport in transports:
        client = OpenLineageClient(transport=transport)
        for state in (RunState.START, RunState.COMPLETE):
            output = OutputDataset("file", "/lake/revenue", facets={"columnLineage": facet})
            rest = {"run": Run(run), "job": Job("ol", "python"), "outputs": [output]}
            client.emit(RunEvent(eventTime="2026-03-02T12:04:00.123456+00:00", eventType=state, **rest))
        client.close()
    kept = [json.loads(line) for line in _lines_of(server, run, 8)]
    assert [line["eventType"] for line in kept] == ["START", "COMPLETE"] * 4
    assert "total" in kept[0]["outputs"][0]["facets"]["columnLineage"]["fields"]


def test_unknown_path_is_404_and_wrong_method_is_405(server: Server) -> None:
    assert server.client.put(LINEAGE, json={}).json()["code"] == "wrong_method"
    assert server.client.get("/api/v1/nothing").json()["code"] == "not_found"
    assert server.client.head("/healthz").content == b""


@pytest.mark.parametrize("up", ["/..", "/%2e%2e", "/..%2f..", "/..%5c.."])
def test_path_outside_the_page_is_404(server: Server, up: str) -> None:
    host, port = server.address.removeprefix("http://").split(":")

    def answer_to(path: str) -> bytes:
        with socket.create_connection((host, int(port)), timeout=30) as line:  # a client would shorten the path
            line.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            return b"".join(iter(lambda: line.recv(65536), b""))

    outside, unknown = answer_to(f"/assets{up * 12}/etc/passwd"), answer_to("/assets/nothing")
    assert outside.splitlines()[0] == unknown.splitlines()[0]  # the page, or a word that none is built
    assert outside.startswith(b"HTTP/1.1 ") and b"root:" not in outside


def test_metrics_count_events(server: Server) -> None:
    before = server.client.get("/api/v1/status").json()["receiver"]["accepted"]
    server.client.post(LINEAGE, json=event())
    assert server.client.get("/api/v1/status").json()["receiver"]["accepted"] == before + 1
    figures = server.client.get("/metrics").text
    assert f"colline_events_accepted_total {before + 1}\n" in figures
    assert 'colline_http_requests_total{endpoint="receive",method="POST",status="201"}' in figures
    assert "nothing" not in figures


def test_access_log_contains_no_secret_and_no_query(server: Server) -> None:
    server.client.get("/asked/once?password=hunter2", headers={"Authorization": "Bearer colline_x_topsecret"})
    words = server.log_text("GET /asked/once ")
    assert "hunter2" not in words
    assert "topsecret" not in words


def test_shutdown_lands_open_events_and_ctrl_c_exits_cleanly(tmp_path: Path) -> None:
    with serving(tmp_path / "lake", "--seal-after", "1h") as server:
        assert server.client.post(LINEAGE, json=event("last")).status_code == 201
        assert landed_lines(server.lake) == []
        assert server.stop(signal.SIGINT) == 0
        assert len(landed_lines(server.lake)) == 1
        assert "Traceback" not in server.log_text()


def test_full_disk_is_507_and_loses_no_acknowledged_event(tmp_path: Path) -> None:
    """A real file system of 1 MB, in a mount namespace of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = f'mount -t tmpfs -o size=1m tmpfs "{disk}" && exec "$0" "$@"'
    prefix = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script)
    probe = subprocess.run([*prefix, "true"], capture_output=True, text=True, check=False)
    assert probe.returncode == 0, f"this test needs user namespaces: {probe.stderr}"
    with serving(disk / "lake", "--seal-after", "0.2s", prefix=prefix) as server:
        answers = [server.client.post(LINEAGE, json=event(f"job_{i}" + "x" * 40_000)) for i in range(40)]
        codes = [answer.status_code for answer in answers]
        assert set(codes) == {201, 507}
        assert answers[-1].headers["Retry-After"]
        assert answers[-1].json()["code"] == "disk_full"
        assert server.client.get("/healthz").status_code == 200
        # the namespace dies with the process: read its disk through /proc while it lives
        time.sleep(0.5)
        inside = Path(f"/proc/{server.process.pid}/root{disk}/lake")
        files = [*inside.glob("landing/*/*.ndjson"), *inside.glob("_server/spool/*.open")]
        lines = [line for file in files for line in file.read_bytes().splitlines()]
        kept = {json.loads(line)["job"]["name"].split("x")[0] for line in lines}
        assert {f"job_{i}" for i, code in enumerate(codes) if code == 201} <= kept


def test_after_the_lake_was_deleted_an_acknowledged_event_is_on_disk(tmp_path: Path) -> None:
    with serving(tmp_path / "lake", "--seal-after", "600s") as server:
        assert server.client.post(LINEAGE, json=event("before")).status_code == 201
        shutil.rmtree(server.lake)
        assert server.client.post(LINEAGE, json=event("after")).status_code == 201
        [file] = (server.lake / "_server" / "spool").iterdir()
        assert json.loads(file.read_bytes())["job"]["name"] == "after"


def test_port_in_use_is_reported(tmp_path: Path) -> None:
    with serving(tmp_path / "lake") as server, pytest.raises(AssertionError, match=r"cannot listen on 127.0.0.1"):
        port = int(httpx.URL(server.address).port or 0)
        with serving(tmp_path / "other", port=port):
            pass
