"""What producers send to the server of the tests: the jar's events, the demo's, names that try to do harm, nonsense."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from colline.demo.runner import SETTINGS
from tests.server import demo_events
from tests.server.jar_events import JAR_EVENTS
from tests.server.serving import HOSTILE_NAMES, Server, event, serving

LINEAGE = "/api/v1/lineage"
INGEST_TIMEOUT_SECONDS = 1500  # an ingest is slow on a busy machine


def hostile_event(number: int, name: str) -> dict[str, Any]:
    """A job, two datasets, their columns, and everything that people write about them, all called like this."""
    how = {"type": "DIRECT", "subtype": "TRANSFORMATION", "description": f"f({name})", "masking": False}
    source = {"namespace": "hostile", "name": f"source{number}"}
    home = {"namespace": "hostile", "name": f"table{number}/{name}"}
    about = {"documentation": {"description": name}, "ownership": {"owners": [{"name": name}]}}
    about["tags"] = {"tags": [{"key": name, "value": "true"}]}
    schema = {"schema": {"fields": [{"name": name, "type": name[:100], "description": name}]}, **about}
    fed = {"fields": {name: {"inputFields": [{**source, "field": name, "transformations": [how]}]}}}
    inputs = [{**source, "facets": schema}]
    found = event(f"job {name}", inputs=inputs, outputs=[{**home, "facets": {**schema, "columnLineage": fed}}])
    code = {"sql": {"query": f"select '{name}'"}, "sourceCodeLocation": {"url": f"javascript:alert(1)//{name}"}}
    return {**found, "job": {**found["job"], "facets": {**about, **code}}}


@contextmanager
def ingesting(lake: Path) -> Iterator[Server]:
    """A server that ingests by itself, after everything was sent and taken up.

    It is sent to one that does not ingest: everything is there before the first ingest begins, so that is the only one.
    """
    with serving(lake, "--seal-after", "0.3s", "--no-access-log") as receiver:
        _send_all(receiver)
    settings = ("env", f"COLLINE_CONFIG={SETTINGS}")  # with the rules of the demo, which tag personal columns
    with serving(lake, "--ingest", "3s", "--no-access-log", prefix=settings) as server:
        _wait_for_lineage(server)
        yield server


def _send_all(server: Server) -> None:
    hostile = [hostile_event(number, name) for number, name in enumerate(HOSTILE_NAMES)]
    lines = "\n".join(json.dumps(each) for each in [*JAR_EVENTS, *demo_events.demo_events(), *hostile])
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/x-ndjson"}
    answer = server.client.post(f"{LINEAGE}/batch", content=gzip.compress(lines.encode()), headers=headers)
    assert answer.json()["status"] == "success", answer.text
    assert server.client.post(LINEAGE, json=event("<b>wrong</b>") | {"run": {"runId": 7}}).status_code == 422
    assert server.client.post(LINEAGE, content=b"nonsense \xff\n\n").status_code == 422


def _wait_for_lineage(server: Server) -> None:
    deadline = time.monotonic() + INGEST_TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        status = server.client.get("/api/v1/status").json()
        assert status["ingest"]["last_state"] != "failed", status
        if status["snapshot"] is not None and status["ingest"]["last_state"] == "ok":
            return
        time.sleep(0.5)
    raise AssertionError("no lineage")
