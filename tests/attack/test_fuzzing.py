"""Random events, bytes, requests and tokens against a real server: no 5xx, and what was acknowledged is on disk.

`COLLINE_SEED=N` repeats the random events of an earlier run; the seed is printed below the table.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import hypothesis
import hypothesis.strategies as st
import pytest

from colline.server.endpoints import ENDPOINTS, Endpoint
from tests.attack.table import SEED, Attack, Row, times
from tests.server.mutations import mangled_texts, mutated_events
from tests.server.serving import Server, event, landed_lines, serving

pytestmark = pytest.mark.attack
LINEAGE, BATCH = "/api/v1/lineage", "/api/v1/lineage/batch"
BATCH_SIZE = 20
LINE_BREAKS_TO_SPACES = bytes.maketrans(b"\r\n", b"  ")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def kept_line(text: bytes, status: int) -> bytes:
    """The line that must be on disk for a text: the text itself, or the text of a refused one."""
    text = text.removeprefix(BYTE_ORDER_MARK)
    return text.translate(LINE_BREAKS_TO_SPACES) if status == 201 else text.decode(errors="backslashreplace").encode()


def original(line: bytes) -> bytes:
    """What was sent: a refused text is wrapped in an object."""
    if not line.startswith(b'{"colline_refused"'):
        return line
    text: str = json.loads(line)["colline_refused"]["text"]
    return text.encode()


def post_each(server: Server, texts: Iterator[bytes], row: Row) -> Counter[bytes]:
    """Post each text; the lines that must be on disk."""
    expected: Counter[bytes] = Counter()
    for text in texts:
        answer = server.client.post(LINEAGE, content=text)
        row.count(answer.status_code in (201, 422), (answer.status_code, answer.text, text[:200]))
        expected[kept_line(text, answer.status_code)] += 1
    return expected


def compare_with_disk(server: Server, expected: Counter[bytes], row: Row) -> None:
    """Stop the server; every expected line must be on disk, and no other one."""
    row.measure(server.process.pid)
    server.stop()
    kept = Counter(map(original, landed_lines(server.lake)))
    row.lost = (expected - kept).total()
    row.count(not kept - expected, "lines that nobody sent")


def test_mutated_events(server: Server, attack: Attack) -> None:
    with attack("mutated events of a real Spark", server) as row:
        expected = post_each(server, mutated_events(SEED, times(500, 15_000)), row)
        compare_with_disk(server, expected, row)


def test_mangled_bytes(server: Server, attack: Attack) -> None:
    with attack("events with damaged bytes", server) as row:
        expected = post_each(server, mangled_texts(SEED, times(500, 15_000)), row)
        compare_with_disk(server, expected, row)


def test_mutated_batches(server: Server, attack: Attack) -> None:
    events = list(mutated_events(SEED + 1, times(500, 10_000)))
    with attack("mutated events in batches", server) as row:
        for start in range(0, len(events), BATCH_SIZE):
            batch = events[start : start + BATCH_SIZE]
            answer = server.client.post(BATCH, content=b"\n".join(batch))
            is_counted = answer.status_code in (200, 422) and answer.json()["summary"]["received"] == len(batch)
            row.count(is_counted, (answer.status_code, answer.text[:300]))
        compare_with_disk(server, Counter(kept_line(text, 422) for text in events), row)


TOKENS = st.binary(max_size=300) | st.sampled_from(
    [b"Host: localhost", b"Content-Length: -1", b"Content-Length: 5\r\nContent-Length: 6",
     b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked\r\nContent-Length: 3",
     b"Expect: 100-continue", b"Upgrade: h2c", b": ", b"a:" * 3000, b"Content-Encoding: gzip", b"Range: bytes=0-1",
     b"X:\0", b"If-None-Match: *", b"Authorization: Bearer \xff"]
)  # fmt: skip
STARTS = st.sampled_from(
    [b"GET / HTTP/1.1", b"POST /api/v1/lineage HTTP/1.1", b"GET /api/v1/upstream?column=%00%ff&depth=1e9 HTTP/1.1",
     b"GET /api/v1/find?q=%s HTTP/9.9", b"PRI * HTTP/2.0", b"OPTIONS * HTTP/1.0", b"GET http://[::1 HTTP/1.1", b""]
)  # fmt: skip
BODIES = st.sampled_from([b"", b"0\r\n\r\n", b"ffffffffffffffff\r\n", b"{}", b"GET / HTTP/1.1\r\n\r\n"])


def test_malformed_requests(server: Server, attack: Attack) -> None:
    host, _, port = server.address.partition("://")[2].rpartition(":")

    @hypothesis.seed(SEED)
    @hypothesis.settings(
        max_examples=times(100, 3000), deadline=None, database=None, suppress_health_check=list(hypothesis.HealthCheck)
    )
    @hypothesis.given(STARTS, st.lists(TOKENS, max_size=4), BODIES)
    def send(start: bytes, headers: list[bytes], body: bytes) -> None:
        request = b"\r\n".join([start, *headers]) + b"\r\n\r\n" + body
        answer = _answer_to(host, int(port), request)
        row.count(not answer.startswith(b"HTTP/1.1 5"), (request, answer[:200]))

    with attack("malformed requests", server) as row:
        send()
        row.count(server.client.post(LINEAGE, json=event()).status_code == 201, "a valid event afterwards")


def _answer_to(host: str, port: int, request: bytes) -> bytes:
    with socket.create_connection((host, port), timeout=10) as connection:
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            return connection.recv(4096)
        except OSError:
            return b""


def test_requests_without_a_valid_token(tmp_path: Path, attack: Attack) -> None:
    lake = tmp_path / "lake"
    secrets = {scope: create_token(lake, scope) for scope in ("send", "read")}
    with serving(lake, "--require-token", "--no-access-log") as server:
        wrong: list[dict[str, Any]] = [
            {},
            {"Authorization": "Bearer"},
            {"Authorization": "Bearer colline_aaaaaaaa_" + "b" * 43},
        ]
        wrong += [{"Authorization": "Basic YTpi"}, {"Authorization": "Bearer \xff".encode("latin-1")}]
        with attack("requests without a valid token", server) as row:
            for endpoint in ENDPOINTS:
                for headers in wrong:
                    status = server.client.request(endpoint.method, endpoint.path, headers=headers).status_code
                    row.count(status == (200 if endpoint.scope == "open" else 401) or _is_not_ready(endpoint, status))
            for scope, secret in secrets.items():
                for endpoint in ENDPOINTS:
                    if endpoint.scope not in ("open", scope):
                        headers = {"Authorization": f"Bearer {secret}"}
                        status = server.client.request(endpoint.method, endpoint.path, headers=headers).status_code
                        row.count(status == 403, (scope, endpoint.path, status))


def _is_not_ready(endpoint: Endpoint, status: int) -> bool:
    return endpoint.name == "readyz" and status == httpx.codes.SERVICE_UNAVAILABLE


def create_token(lake: Path, scope: str) -> str:
    command = [sys.executable, "-m", "colline", "token", "create", "--lake", str(lake), "--label", scope]
    done = subprocess.run([*command, "--scope", scope], capture_output=True, text=True, check=True)
    return done.stdout.strip()
