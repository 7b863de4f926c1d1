"""Questions over HTTP: the same JSON as the graph gives, cursors, tags, as-of, and errors that help."""

from __future__ import annotations

import inspect
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from colline.graph import Answer, Lineage, open_lake
from colline.server.endpoints import BY_NAME, ENDPOINTS, Endpoint
from colline.server.openapi.schemas import SCHEMAS
from tests.server.serving import Server, serving

TOTAL = "gold.daily_revenue.total"
EXAMPLES: dict[str, dict[str, Any]] = {
    "columns": {"q": "email"},
    "upstream": {"column": TOTAL, "indirect": "true"},
    "downstream": {"column": "bronze.orders.amount"},
    "paths": {"from": "bronze.orders.amount", "to": TOTAL},
    "impact": {"column": "bronze.orders.amount", "change": "rename"},
    "schema-impact": {"diff": "alter table bronze.orders drop column amount"},
    "pii": {"column": "bronze.customers.email", "allowed_zone": "bronze"},
    "droppable": {"column": "bronze.customers.email"},
    "unused": {},
    "writers": {"column": TOTAL},
    "compare": {"a": TOTAL, "b": "bronze.orders.amount"},
    "diff": {"from": "2026-01-02", "to": "2026-01-09"},
    "job-diff": {"job": ["clean_orders", "clean_customers"]},
    "lake-diff": {"other": "earlier"},
    "coverage": {},
    "roots": {},
    "leaves": {"limit": 2},
    "hubs": {},
    "overview": {},
    "dataset": {"namespace": "file", "name": "/lake/silver/orders"},
    "datasets": {"q": "orders"},
    "jobs": {},
    "runs": {},
    "quarantine": {},
}
QUESTIONS = [endpoint for endpoint in ENDPOINTS if endpoint.call is not None]


def test_every_question_has_an_example() -> None:
    assert set(EXAMPLES) == {endpoint.name for endpoint in QUESTIONS}


@pytest.mark.parametrize("endpoint", QUESTIONS, ids=lambda e: e.name)
def test_the_table_calls_questions_as_the_graph_takes_them(endpoint: Endpoint) -> None:
    taken = set(inspect.signature(getattr(Lineage, str(endpoint.call))).parameters)
    if "how" in taken:
        taken |= set(inspect.signature(Lineage._ends).parameters)
    assert {parameter.argument or parameter.name for parameter in endpoint.parameters} <= taken


@pytest.mark.parametrize("endpoint", QUESTIONS, ids=lambda e: e.name)
def test_every_question_is_answered_in_its_documented_shape(shop_served: Server, endpoint: Endpoint) -> None:
    answer = shop_served.client.get(endpoint.path, params=EXAMPLES[endpoint.name])
    assert answer.status_code == 200, answer.text
    schema = {"$ref": f"#/components/schemas/{endpoint.answer}", "components": {"schemas": SCHEMAS}}
    jsonschema.Draft202012Validator(schema).validate(answer.json())
    assert answer.headers["X-Colline-Snapshot"] == answer.json()["snapshot"]


# the same questions as EXAMPLES, asked of the graph
ASKED: dict[str, Callable[[Lineage], Answer]] = {
    "columns": lambda x: x.find("email", limit=100),
    "upstream": lambda x: x.upstream(TOTAL, indirect=True, limit=100),
    "downstream": lambda x: x.downstream("bronze.orders.amount", limit=100),
    "paths": lambda x: x.paths("bronze.orders.amount", TOTAL),
    "impact": lambda x: x.impact("bronze.orders.amount", change="rename", limit=100),
    "pii": lambda x: x.pii("bronze.customers.email", allowed_zones=["bronze"], limit=100),
    "droppable": lambda x: x.droppable("bronze.customers.email", limit=100),
    "unused": lambda x: x.unused(limit=100),
    "writers": lambda x: x.writers(TOTAL, limit=100),
    "compare": lambda x: x.compare(TOTAL, "bronze.orders.amount", limit=100),
    "diff": lambda x: x.diff("2026-01-02", "2026-01-09", limit=100),
    "coverage": lambda x: x.coverage(limit=100),
    "roots": lambda x: x.roots(limit=100),
    "leaves": lambda x: x.leaves(limit=2),
    "hubs": lambda x: x.hubs(limit=100),
}


@pytest.mark.parametrize("name", ASKED)
def test_the_answer_is_the_graphs_own(shop_served: Server, name: str) -> None:
    with open_lake(shop_served.lake) as lineage:
        expected = ASKED[name](lineage).to_dict()
    assert shop_served.client.get(BY_NAME[name].path, params=EXAMPLES[name]).json() == expected


def test_a_change_of_schema_is_told_as_by_the_graph(shop_served: Server) -> None:
    old, new = "create table bronze.orders (id int, amount double)", "create table bronze.orders (id int)"
    with open_lake(shop_served.lake) as lineage:
        expected = lineage.impact(diff=[old, new], limit=100).to_dict()
    found = shop_served.client.get("/api/v1/schema-impact", params={"diff": [old, new]}).json()
    assert found == expected
    assert TOTAL in {column["label"] for column in found["columns"]}


def test_another_lake_is_known_by_its_name_only(shop_served: Server, tmp_path: Path) -> None:
    same = shop_served.client.get("/api/v1/lake-diff", params={"other": "earlier"}).json()
    assert (same["added"], same["removed"], same["changed"]) == ([], [], [])
    for name in ("later", str(shop_served.lake), str(tmp_path)):
        answer = shop_served.client.get("/api/v1/lake-diff", params={"other": name})
        assert (answer.status_code, answer.json()["hint"]) == (404, "known are earlier")


def test_pages_of_a_cursor_add_up_to_the_whole(shop_served: Server) -> None:
    params: dict[str, Any] = {"column": TOTAL, "indirect": "true"}
    whole = shop_served.client.get("/api/v1/upstream", params=params).json()
    rows, cursor = [], ""
    while True:
        page = shop_served.client.get("/api/v1/upstream", params=params | {"limit": 1} | _cursor(cursor)).json()
        assert (page["totals"], page["verdict"]) == (whole["totals"], whole["verdict"])
        rows += page["columns"]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert len(rows) > 1
    assert rows == whole["columns"]


def _cursor(cursor: str) -> dict[str, str]:
    return {"cursor": cursor} if cursor else {}


def test_an_unchanged_answer_is_304_and_another_question_is_not(shop_served: Server) -> None:
    first = shop_served.client.get("/api/v1/upstream", params={"column": TOTAL})
    tag = {"If-None-Match": first.headers["ETag"]}
    again = shop_served.client.get("/api/v1/upstream", params={"column": TOTAL}, headers=tag)
    assert (again.status_code, again.content) == (304, b"")
    other = shop_served.client.get("/api/v1/upstream", params={"column": TOTAL, "depth": 1}, headers=tag)
    assert other.status_code == 200


def test_a_new_snapshot_is_seen_and_ends_old_cursors(shop_served: Server) -> None:
    from colline.graph.snapshot.publish import publish

    params: dict[str, Any] = {"column": TOTAL, "limit": 1}
    first = shop_served.client.get("/api/v1/upstream", params=params)
    publish(shop_served.lake)
    after = shop_served.client.get("/api/v1/upstream", params=params, headers={"If-None-Match": first.headers["ETag"]})
    assert after.status_code == 200
    assert after.json()["snapshot"] != first.json()["snapshot"]
    late = shop_served.client.get("/api/v1/upstream", params=params | {"cursor": first.json()["cursor"]})
    assert (late.status_code, late.json()["code"]) == (410, "bad_cursor")


WRONG = [
    ("/api/v1/upstream", {}, 400, "bad_parameter"),
    ("/api/v1/upstream", {"column": "nothing.like.this"}, 404, "not_found"),
    ("/api/v1/upstream", {"column": TOTAL, "colour": "red"}, 400, "bad_parameter"),
    ("/api/v1/upstream", {"column": TOTAL, "depth": "0"}, 400, "bad_parameter"),
    ("/api/v1/upstream", {"column": TOTAL, "depth": "\u0663"}, 400, "bad_parameter"),
    ("/api/v1/upstream", {"column": TOTAL, "limit": "99999999999999999999"}, 400, "bad_parameter"),
    ("/api/v1/upstream", {"column": TOTAL, "indirect": "yes"}, 400, "bad_parameter"),
    ("/api/v1/upstream", {"column": TOTAL, "as_of": "yesterday"}, 400, "bad_parameter"),
    ("/api/v1/upstream", {"column": TOTAL, "as_of": "0001-01-01T00:00:00+14:00"}, 400, "bad_parameter"),
    ("/api/v1/upstream", {"column": TOTAL, "as_of": "1999-01-01"}, 404, "not_found"),
    ("/api/v1/upstream", {"column": TOTAL, "cursor": "nonsense"}, 410, "bad_cursor"),
    ("/api/v1/upstream", {"column": ["a"] * 21}, 400, "bad_parameter"),
    ("/api/v1/upstream", {"column": "x" * 24_001}, 400, "bad_parameter"),
    ("/api/v1/dataset", {"namespace": "file", "name": "/nowhere"}, 404, "not_found"),
]


@pytest.mark.parametrize(("path", "params", "status", "code"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_question_is_one_clear_answer(
    shop_served: Server, path: str, params: dict[str, Any], status: int, code: str
) -> None:
    answer = shop_served.client.get(path, params=params)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["error"]


def test_an_ambiguous_name_lists_the_candidates(shop_served: Server) -> None:
    answer = shop_served.client.get("/api/v1/upstream", params={"column": "amount"})
    assert (answer.status_code, answer.json()["code"]) == (409, "ambiguous")
    assert "silver.orders.amount" in answer.json()["candidates"]


def test_a_query_string_that_is_not_text_is_refused(shop_served: Server) -> None:
    assert shop_served.client.get("/api/v1/columns?q=%ff").status_code == 400
    assert shop_served.client.get("/api/v1/columns?" + "q=a&" * 600).status_code == 400


def test_clients_of_marquez_get_their_shape(shop_served: Server) -> None:
    node = "datasetField:file:/lake/gold/daily_revenue:total"
    graph = shop_served.client.get("/api/v1/column-lineage", params={"nodeId": node}).json()["graph"]
    by_id = {found["id"]: found for found in graph}
    assert [found["id"] for found in graph] == sorted(by_id)
    source = "datasetField:file:/lake/silver/orders:amount"
    assert {"origin": node, "destination": source} in by_id[node]["inEdges"]
    assert {"origin": source, "destination": node} in by_id[source]["outEdges"]
    assert "amount" in {field["field"] for field in by_id[node]["data"]["inputFields"]}
    whole = shop_served.client.get("/api/v1/column-lineage", params={"nodeId": "dataset:file:/lake/gold/daily_revenue"})
    assert node in {found["id"] for found in whole.json()["graph"]}
    down = shop_served.client.get("/api/v1/column-lineage", params={"nodeId": source, "withDownstream": "true"})
    assert node in {found["id"] for found in down.json()["graph"]}
    for bad, status in (("job:a:b", 400), ("datasetField:file:/nowhere:x", 404)):
        assert shop_served.client.get("/api/v1/column-lineage", params={"nodeId": bad}).status_code == status


def test_status_tells_the_snapshot(shop_served: Server) -> None:
    status = shop_served.client.get("/api/v1/status").json()
    jsonschema.Draft202012Validator(
        {"$ref": f"#/components/schemas/{BY_NAME['status'].answer}", "components": {"schemas": SCHEMAS}}
    ).validate(status)
    assert status["snapshot"] == shop_served.client.get("/api/v1/hubs").headers["X-Colline-Snapshot"]
    assert shop_served.client.get("/readyz").json() == {"ready": True, "receiver": True, "lineage": True}


def _readers(server: Server) -> list[int]:
    """The processes that answer: children that run a target of their own."""
    command = ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(server.process.pid)]
    listed = subprocess.run(command, capture_output=True, check=False).stdout.decode().splitlines()
    return [int(line.split()[0]) for line in listed if "multiprocessing-fork" in line]


def test_a_reader_that_dies_is_replaced(shop_served: Server) -> None:
    ask = {"column": TOTAL}
    assert shop_served.client.get("/api/v1/upstream", params=ask).status_code == 200
    readers = _readers(shop_served)
    assert readers
    for process in readers:
        os.kill(process, signal.SIGKILL)
    statuses = [shop_served.client.get("/api/v1/upstream", params=ask).status_code for _ in range(3)]
    assert statuses[1:] == [200, 200]
    assert statuses[0] in (200, 503)  # 503: the server had not yet heard of the death


def test_an_answer_that_takes_too_long_is_given_up_and_the_next_is_given(shop_served: Server) -> None:
    with serving(shop_served.lake, "--answer-timeout", "3s", "--readers", "1") as server:
        while server.client.get("/api/v1/hubs").status_code != 200:  # a busy machine starts a reader slowly
            pass
        [process] = _readers(server)
        os.kill(process, signal.SIGSTOP)
        late = server.client.get("/api/v1/hubs", params={"limit": 3})
        assert (late.status_code, late.json()["code"]) == (503, "too_slow")
        while server.client.get("/api/v1/hubs", params={"limit": 3}).status_code != 200:
            pass
        assert process not in _readers(server)


def test_readers_end_with_their_server(shop_served: Server) -> None:
    with serving(shop_served.lake) as server:
        assert server.client.get("/api/v1/hubs").status_code == 200
        left = _readers(server)
        assert left
        server.stop(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while left and time.monotonic() < deadline:
        left = [process for process in left if Path(f"/proc/{process}").exists()]
        time.sleep(0.05)
    assert left == []


def test_what_no_snapshot_has_is_said_and_such_an_answer_is_not_kept(shop_served: Server, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    for name in ("gold", "silver", "snapshot"):
        shutil.copytree(shop_served.lake / name, lake / name)
    log = lake / "gold/jobs/_delta_log"
    newest = max(log.glob("*.json"))
    (log / f"{int(newest.stem) + 1:020}.json").write_bytes(newest.read_bytes())
    (lake / "_colline").mkdir()
    (lake / "_colline" / "pending").touch()
    with serving(lake, "--readers", "1") as server:
        answer = server.client.get("/api/v1/upstream", params={"column": TOTAL})
    assert "1 newer commit of the lake's tables is not in this answer" in answer.json()["unknown"][0]["why"]
    assert "ETag" not in answer.headers and answer.headers["Cache-Control"] == "no-store"


def test_an_answer_of_megabytes_is_the_graphs_own_and_the_next_one_too(tmp_path: Path) -> None:
    from tests.graph.graph_lakes import LakeWriter

    wide = LakeWriter()
    for number in range(3000):
        wide.edge("bronze.hub.id", f"gold.wide.c{number}", "widen", description="x" * 200)
    lake = wide.write(tmp_path / "lake")
    with open_lake(lake) as lineage, serving(lake, "--readers", "1") as server:
        for limit in (3000, 3, 300, 3000):
            answer = server.client.get("/api/v1/downstream", params={"column": "bronze.hub.id", "limit": limit})
            assert answer.json() == lineage.downstream("bronze.hub.id", limit=limit).to_dict()
        assert len(answer.content) > 1 << 20


def test_an_answer_comes_in_one_piece(shop_served: Server) -> None:
    address = shop_served.client.base_url
    with socket.create_connection((address.host, address.port or 80), timeout=30) as line:
        for _ in range(20):
            line.sendall(f"GET /healthz HTTP/1.1\r\nHost: {address.host}\r\n\r\n".encode())
            head, _, body = line.recv(65536).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200") and body == b'{"status":"ok"}'
