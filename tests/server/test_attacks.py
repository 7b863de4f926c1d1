"""Attacks on the receiver in a real process: bombs, floods and slow clients. CPU time and memory stay bounded."""

from __future__ import annotations

import gzip
import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.server.serving import Server, event, landed_lines, serving

pytestmark = pytest.mark.attack
LINEAGE = "/api/v1/lineage"
MEGABYTE = 1024 * 1024
MAX_PEAK_MEMORY_MB = 300


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "lake", "--body-timeout", "5s", "--seal-after", "0.2s", "--no-access-log") as running:
        yield running


def cpu_seconds(server: Server) -> float:
    """CPU time of the server's own process, which load on the machine does not change."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_memory_mb(server: Server) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def connect(server: Server) -> socket.socket:
    host, _, port = server.address.partition("://")[2].rpartition(":")
    return socket.create_connection((host, int(port)), timeout=30)


def nested_brackets(size: int, depth: int = 190) -> bytes:
    """A valid event with deeply nested lists, `size` bytes of them."""
    unit = b"[" * depth + b"]" * depth + b","
    lists = b"[" + unit * (size // len(unit)) + b"0]"
    return b'{"eventTime":"2026-03-02T12:04:00Z","job":{"namespace":"n","name":"j","facets":{"x":' + lists + b"}}}"


def test_compressed_nested_brackets_cost_one_pass(server: Server) -> None:
    body = gzip.compress(nested_brackets(15 * MEGABYTE))
    assert len(body) < 100_000
    before = cpu_seconds(server)
    answer = server.client.post(LINEAGE, content=body, headers={"content-encoding": "gzip"})
    assert answer.status_code == 201
    assert cpu_seconds(server) - before < 3


def test_gzip_with_very_many_empty_members_is_refused(server: Server) -> None:
    body = gzip.compress(b"") * 700_000
    before = cpu_seconds(server)
    answer = server.client.post(LINEAGE, content=body, headers={"content-encoding": "gzip"})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_encoding")
    assert cpu_seconds(server) - before < 2


def test_health_is_answered_while_large_bodies_are_decompressed(server: Server) -> None:
    body = gzip.compress(b"[" + b"1," * (7 * MEGABYTE) + b"1]")
    senders = [threading.Thread(target=_post, args=(server, body)) for _ in range(8)]
    for sender in senders:
        sender.start()
    answered = 0
    while any(sender.is_alive() for sender in senders) and answered < 20:
        assert httpx.get(f"{server.address}/healthz", timeout=20).status_code == 200
        assert httpx.get(f"{server.address}/readyz", timeout=20).status_code == 200
        answered += 1
    for sender in senders:
        sender.join()


def _post(server: Server, body: bytes) -> None:
    httpx.post(f"{server.address}{LINEAGE}", content=body, headers={"content-encoding": "gzip"}, timeout=120)


def _flood(connections: list[socket.socket], size: int, statuses: Counter[bytes]) -> None:
    """Send a large body over each connection, and count the answers."""
    head = f"POST {LINEAGE} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {size}\r\n\r\n".encode()
    piece = b" " * (256 * 1024)
    for connection in connections:
        connection.sendall(head)
    for connection in connections:
        with suppress(OSError):  # the server has answered and closed it
            for _ in range(size // len(piece) - 1):
                connection.sendall(piece)
    for connection in connections:
        connection.settimeout(15)
        try:
            statuses[connection.recv(64)[9:12]] += 1
        except OSError:
            statuses[b"closed"] += 1
        connection.close()


def test_flood_of_large_bodies_is_429_and_memory_stays_bounded(server: Server) -> None:
    connections = [connect(server) for _ in range(150)]
    statuses: Counter[bytes] = Counter()
    threads = [threading.Thread(target=_flood, args=(connections[n::10], 15 * MEGABYTE, statuses)) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses[b"429"] > 100
    assert peak_memory_mb(server) <= MAX_PEAK_MEMORY_MB
    assert server.client.post(LINEAGE, json=event("after_the_flood")).status_code == 201


def test_connections_that_send_headers_slowly_cost_little(server: Server) -> None:
    connections = [connect(server) for _ in range(40)]
    before = cpu_seconds(server)
    for connection in connections:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nx: ")
    for _ in range(200):
        for connection in connections:
            connection.sendall(b"y" * 100)
    assert server.client.get("/healthz").status_code == 200
    assert cpu_seconds(server) - before < 3
    for connection in connections:
        connection.close()


def test_one_client_cannot_use_up_all_connections(server: Server) -> None:
    connections = [connect(server) for _ in range(300)]
    time.sleep(0.5)
    refused = 0
    for connection in connections:
        connection.settimeout(0.05)
        with suppress(OSError):  # an admitted connection gets no answer: the server waits for headers
            refused += connection.recv(12).endswith(b"503")
    assert 0 < refused <= 60
    for connection in connections:
        connection.close()
    time.sleep(0.5)
    assert server.client.get("/healthz").status_code == 200


def test_acknowledged_events_survive_the_attacks(server: Server) -> None:
    for number in range(20):
        assert server.client.post(LINEAGE, json=event(f"survivor_{number}")).status_code == 201
        server.client.post(LINEAGE, content=b"\x1f\x8b" + bytes(100), headers={"content-encoding": "gzip"})
    time.sleep(1)
    assert sum(b"survivor_" in line for line in landed_lines(server.lake)) == 20
