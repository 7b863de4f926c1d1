"""Questions over HTTP: the JSON of the Python answer, cursors, ETags, as-of, errors and worker processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from colline.graph import Answer, Lineage, open_lake
from colline.server.endpoints import BY_NAME, ENDPOINTS, Endpoint
from colline.server.openapi.schemas import component_schemas, reference_to
from tests.server.serving import Server, serving

TOP = "/api/v1/columns-by-degree?top=3"
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
    "columns-by-degree": {"leaves": "true", "limit": 2},
    "overview": {},
    "show": {"namespace": "file", "name": "/lake/silver/orders"},
    "tables": {"q": "orders"},
    "jobs": {},
    "runs": {},
    "quarantine": {},
}
QUESTIONS = [endpoint for endpoint in ENDPOINTS if endpoint.request is not None]
by_endpoint = pytest.mark.parametrize("endpoint", QUESTIONS, ids=lambda endpoint: endpoint.name)


def validate(response: Any, result: str) -> None:
    schema = {**reference_to(result), "components": {"schemas": component_schemas()}}
    jsonschema.Draft202012Validator(schema).validate(response)


def test_every_question_has_an_example() -> None:
    assert set(EXAMPLES) == {endpoint.name for endpoint in QUESTIONS}


@by_endpoint
def test_answer_has_the_documented_shape(shop_served: Server, endpoint: Endpoint) -> None:
    answer = shop_served.client.get(endpoint.path, params=EXAMPLES[endpoint.name])
    assert answer.status_code == 200, answer.text
    validate(answer.json(), endpoint.result)
    assert answer.headers["X-Colline-Snapshot"] == answer.json()["snapshot"]


@pytest.mark.parametrize("grain", ["table", "job"])
def test_answer_by_table_or_job_has_the_documented_shape(shop_served: Server, grain: str) -> None:
    answer = shop_served.client.get("/api/v1/upstream", params={"column": TOTAL, "grain": grain})
    validate(answer.json(), BY_NAME["upstream"].result)


# the same questions as EXAMPLES, in Python
CALLS: dict[str, Callable[[Lineage], Answer]] = {
    "columns": lambda x: x.find("email"),
    "upstream": lambda x: x.upstream(TOTAL, indirect=True),
    "downstream": lambda x: x.downstream("bronze.orders.amount"),
    "paths": lambda x: x.paths("bronze.orders.amount", TOTAL),
    "impact": lambda x: x.impact("bronze.orders.amount", change="rename"),
    "pii": lambda x: x.pii("bronze.customers.email", allowed_zones=["bronze"]),
    "droppable": lambda x: x.droppable("bronze.customers.email"),
    "unused": lambda x: x.unused(),
    "writers": lambda x: x.writers(TOTAL),
    "compare": lambda x: x.compare(TOTAL, "bronze.orders.amount"),
    "diff": lambda x: x.diff("2026-01-02", "2026-01-09"),
    "coverage": lambda x: x.coverage(),
    "columns-by-degree": lambda x: x.columns(leaves=True, limit=2),
}


@pytest.mark.parametrize("name", CALLS)
def test_answer_equals_the_answer_in_python(shop_served: Server, name: str) -> None:
    with open_lake(shop_served.lake) as lineage:
        expected = CALLS[name](lineage).to_dict()
    assert shop_served.client.get(BY_NAME[name].path, params=EXAMPLES[name]).json() == expected


def test_impact_of_a_schema_change_equals_the_answer_in_python(shop_served: Server) -> None:
    old, new = "create table bronze.orders (id int, amount double)", "create table bronze.orders (id int)"
    with open_lake(shop_served.lake) as lineage:
        expected = lineage.impact(diff=[old, new]).to_dict()
    found = shop_served.client.get("/api/v1/schema-impact", params={"diff": [old, new]}).json()
    assert found == expected
    assert TOTAL in {column["label"] for column in found["columns"]}


def test_other_lake_is_given_by_name_never_by_path(shop_served: Server, tmp_path: Path) -> None:
    same = shop_served.client.get("/api/v1/lake-diff", params={"other": "earlier"}).json()
    assert (same["added"], same["removed"], same["changed"]) == ([], [], [])
    for name in ("later", str(shop_served.lake), str(tmp_path)):
        answer = shop_served.client.get("/api/v1/lake-diff", params={"other": name})
        assert (answer.status_code, answer.json()["hint"]) == (404, "known lakes: earlier")


def test_pages_add_up_to_the_whole_answer(shop_served: Server) -> None:
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


def test_unchanged_answer_is_304(shop_served: Server) -> None:
    first = shop_served.client.get("/api/v1/upstream", params={"column": TOTAL})
    tag = {"If-None-Match": first.headers["ETag"]}
    again = shop_served.client.get("/api/v1/upstream", params={"column": TOTAL}, headers=tag)
    assert (again.status_code, again.content) == (304, b"")
    other = shop_served.client.get("/api/v1/upstream", params={"column": TOTAL, "depth": 1}, headers=tag)
    assert other.status_code == 200


def test_new_snapshot_changes_the_answer_and_invalidates_cursors(shop_served: Server) -> None:
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
    ("/api/v1/upstream", {"column": TOTAL, "as_of": "yesterdayish"}, 400, "bad_parameter"),
    ("/api/v1/upstream", {"column": TOTAL, "as_of": "0001-01-01T00:00:00+14:00"}, 400, "bad_parameter"),
    ("/api/v1/upstream", {"column": TOTAL, "as_of": "1999-01-01"}, 404, "not_found"),
    ("/api/v1/upstream", {"column": TOTAL, "cursor": "nonsense"}, 410, "bad_cursor"),
    ("/api/v1/upstream", {"column": ["a"] * 21}, 400, "bad_parameter"),
    ("/api/v1/upstream", {"column": "x" * 24_001}, 400, "bad_parameter"),
    ("/api/v1/show", {"namespace": "file", "name": "/nowhere"}, 404, "not_found"),
]


@pytest.mark.parametrize(("path", "params", "status", "code"), WRONG, ids=range(len(WRONG)))
def test_invalid_request_gets_an_error_code(
    shop_served: Server, path: str, params: dict[str, Any], status: int, code: str
) -> None:
    answer = shop_served.client.get(path, params=params)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["error"]
    assert answer.json()["hint"]


def test_ambiguous_name_lists_candidates(shop_served: Server) -> None:
    answer = shop_served.client.get("/api/v1/upstream", params={"column": "amount"})
    assert (answer.status_code, answer.json()["code"]) == (409, "ambiguous")
    assert "silver.orders.amount" in answer.json()["candidates"]


def test_query_string_must_be_utf8(shop_served: Server) -> None:
    assert shop_served.client.get("/api/v1/columns?q=%ff").status_code == 400
    assert shop_served.client.get("/api/v1/columns?" + "q=a&" * 600).status_code == 400


def test_status_contains_the_snapshot(shop_served: Server) -> None:
    status = shop_served.client.get("/api/v1/status").json()
    validate(status, BY_NAME["status"].result)
    assert status["snapshot"] == shop_served.client.get(TOP).headers["X-Colline-Snapshot"]
    assert shop_served.client.get("/readyz").json() == {"ready": True, "receiver": True, "lineage": True}


def _workers(server: Server) -> list[int]:
    """The process ids of the workers."""
    command = ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(server.process.pid)]
    listed = subprocess.run(command, capture_output=True, check=False).stdout.decode().splitlines()
    return [int(line.split()[0]) for line in listed if "anyio.to_process" in line]


def test_killed_worker_is_replaced(shop_served: Server) -> None:
    params = {"column": TOTAL}
    assert shop_served.client.get("/api/v1/upstream", params=params).status_code == 200
    workers = _workers(shop_served)
    assert workers
    for process in workers:
        os.kill(process, signal.SIGKILL)
    statuses = [shop_served.client.get("/api/v1/upstream", params=params).status_code for _ in range(3)]
    assert statuses[1:] == [200, 200]
    assert statuses[0] in (200, 503)  # 503: the server did not know yet that the worker is gone


def test_timed_out_query_is_503_and_its_worker_is_replaced(shop_served: Server) -> None:
    with serving(shop_served.lake, "--answer-timeout", "3s", "--readers", "1") as server:
        while server.client.get(TOP).status_code != 200:  # a worker starts slowly on a busy machine
            pass
        [process] = _workers(server)
        os.kill(process, signal.SIGSTOP)
        late = server.client.get(TOP)
        assert (late.status_code, late.json()["code"]) == (503, "too_slow")
        while server.client.get(TOP).status_code != 200:
            pass
        assert process not in _workers(server)


def test_workers_end_with_the_server(shop_served: Server) -> None:
    with serving(shop_served.lake) as server:
        assert server.client.get(TOP).status_code == 200
        left = _workers(server)
        assert left
        server.stop(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while left and time.monotonic() < deadline:
        left = [process for process in left if Path(f"/proc/{process}").exists()]
        time.sleep(0.05)
    assert left == []


def test_unpublished_commits_are_reported_and_not_cached(shop_served: Server, tmp_path: Path) -> None:
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


def test_large_answers_equal_the_answers_in_python(tmp_path: Path) -> None:
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
