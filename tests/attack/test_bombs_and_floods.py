"""Bombs, floods and slow clients against a real server: CPU time, memory and connections stay bounded."""

from __future__ import annotations

import gzip
import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.attack.table import Attack, times
from tests.server.serving import Server, event, landed_lines

pytestmark = pytest.mark.attack
LINEAGE = "/api/v1/lineage"
MEGABYTE = 1024 * 1024
GZIP = {"content-encoding": "gzip"}


def cpu_seconds(server: Server) -> float:
    """CPU time of the server's own process, which load on the machine does not change."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def connect(server: Server) -> socket.socket:
    host, _, port = server.address.partition("://")[2].rpartition(":")
    return socket.create_connection((host, int(port)), timeout=30)


def nested_brackets(size: int, depth: int = 190) -> bytes:
    """A valid event with deeply nested lists, `size` bytes of them."""
    unit = b"[" * depth + b"]" * depth + b","
    lists = b"[" + unit * (size // len(unit)) + b"0]"
    return b'{"eventTime":"2026-03-02T12:04:00Z","job":{"namespace":"n","name":"j","facets":{"x":' + lists + b"}}}"


def many_values(value: bytes, count: int) -> bytes:
    """An event with a list of tags that are this value."""
    tags = b",".join([value] * count)
    return (
        b'{"eventTime":"2026-03-02T12:04:00Z","job":{"namespace":"n","name":"j","facets":{"tags":{"tags":[%s]}}}}'
        % tags
    )


# name, gzip body, status, CPU seconds that one of them may take
BOMBS = [
    ("gzip of nested brackets", gzip.compress(nested_brackets(15 * MEGABYTE)), 201, 3),
    ("gzip of five million tags", gzip.compress(many_values(b"{}", 5_000_000)), 422, 3),
    ("gzip of 15 MB that are not text", gzip.compress(b"\xff" * (15 * MEGABYTE)), 422, 3),
    ("gzip of brackets without end", gzip.compress(b"[" * (15 * MEGABYTE)), 422, 3),
    ("gzip with 700,000 empty members", gzip.compress(b"") * 700_000, 400, 2),
    ("gzip of 1 GB", gzip.compress(b" " * MEGABYTE) * 1000, 413, 2),
]


@pytest.mark.parametrize(("name", "body", "status", "seconds"), BOMBS, ids=[bomb[0] for bomb in BOMBS])
def test_bomb_costs_bounded_cpu_time(
    server: Server, attack: Attack, name: str, body: bytes, status: int, seconds: float
) -> None:
    with attack(name, server) as row:
        for _ in range(times(1, 10)):
            before = cpu_seconds(server)
            answer = server.client.post(LINEAGE, content=body, headers=GZIP, timeout=120)
            spent = cpu_seconds(server) - before
            row.count(answer.status_code == status and spent < seconds, (answer.status_code, spent))


BATCHES = [
    ("a batch of five million lines", b"11\n" * 5_000_000),
    ("a batch of 15 million empty lines", b"\n" * 15_000_000 + b"1\n" * 20_000),
    ("a batch of an array with five million elements", b"[" + b"11," * 5_000_000 + b"1]"),
]


@pytest.mark.parametrize(("name", "body"), BATCHES, ids=[batch[0] for batch in BATCHES])
def test_batch_of_many_events_is_refused_before_it_is_taken_apart(
    server: Server, attack: Attack, name: str, body: bytes
) -> None:
    with attack(name, server) as row:
        for _ in range(times(1, 10)):
            before = cpu_seconds(server)
            content = gzip.compress(body, 1)
            answer = server.client.post(f"{LINEAGE}/batch", content=content, headers=GZIP, timeout=120)
            spent = cpu_seconds(server) - before
            row.count(answer.status_code == 413 and spent < 4, (answer.status_code, answer.text, spent))


def test_bodies_that_are_not_text_take_bounded_memory(server: Server, attack: Attack) -> None:
    statuses: list[int] = []

    def post() -> None:
        answer = httpx.post(f"{server.address}{LINEAGE}", content=b"\xff" * (15 * MEGABYTE), timeout=120)
        statuses.append(answer.status_code)

    with attack("six bodies of 15 MB that are not text, at once", server) as row:
        for _ in range(times(1, 5)):
            senders = [threading.Thread(target=post) for _ in range(6)]
            for sender in senders:
                sender.start()
            for sender in senders:
                sender.join()
        row.count(set(statuses) <= {422, 429} and 422 in statuses, statuses)


def test_health_is_answered_while_bombs_arrive(server: Server, attack: Attack) -> None:
    body = gzip.compress(b"[" + b"1," * (7 * MEGABYTE) + b"1]")
    senders = [threading.Thread(target=_post, args=(server, body)) for _ in range(8)]
    with attack("health checks during eight bombs", server) as row:
        for sender in senders:
            sender.start()
        while any(sender.is_alive() for sender in senders) and row.tried < 40:
            for path in ("/healthz", "/readyz"):
                row.count(httpx.get(f"{server.address}{path}", timeout=20).status_code == 200, path)
        for sender in senders:
            sender.join()


def _post(server: Server, body: bytes) -> None:
    httpx.post(f"{server.address}{LINEAGE}", content=body, headers=GZIP, timeout=120)


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


def test_flood_of_large_bodies_is_429(server: Server, attack: Attack) -> None:
    with attack("150 connections that send 15 MB each", server) as row:
        for _ in range(times(1, 5)):
            connections = [connect(server) for _ in range(150)]
            statuses: Counter[bytes] = Counter()
            threads = [
                threading.Thread(target=_flood, args=(connections[n::10], 15 * MEGABYTE, statuses)) for n in range(10)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            after = server.client.post(LINEAGE, json=event("after_the_flood")).status_code
            row.count(statuses[b"429"] > 100 and after == 201, (statuses, after))


@contextmanager
def many_connections(server: Server, count: int) -> Iterator[list[socket.socket]]:
    connections = [connect(server) for _ in range(count)]
    try:
        yield connections
    finally:
        for connection in connections:
            connection.close()


def test_headers_that_arrive_slowly_cost_little(server: Server, attack: Attack) -> None:
    with attack("40 connections that drip headers", server) as row, many_connections(server, 40) as connections:
        before = cpu_seconds(server)
        for connection in connections:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nx: ")
        for _ in range(times(200, 2000)):
            for connection in connections:
                connection.sendall(b"y" * 100)
        row.count(server.client.get("/healthz").status_code == 200, "healthz")
        spent = cpu_seconds(server) - before
        row.count(spent < times(3, 30), spent)


def test_bodies_that_arrive_slowly_are_ended(server: Server, attack: Attack) -> None:
    head = f"POST {LINEAGE} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n".encode()
    with attack("40 connections that drip bodies", server) as row, many_connections(server, 40) as connections:
        for connection in connections:
            connection.sendall(head)
        ended = 0
        deadline = time.monotonic() + 30  # the server allows 5 seconds
        while ended < len(connections) and time.monotonic() < deadline:
            time.sleep(0.5)
            ended = sum(_has_ended(connection) for connection in connections)
        for connection in connections:
            row.count(_has_ended(connection), "still open")
        row.count(server.client.get("/healthz").status_code == 200, "healthz")


def _has_ended(connection: socket.socket) -> bool:
    """Send one more byte; whether the server has answered or closed the connection."""
    connection.settimeout(0)
    try:
        connection.send(b" ")
        return connection.recv(12, socket.MSG_PEEK)[9:12] in (b"408", b"")
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_one_client_cannot_use_up_all_connections(server: Server, attack: Attack) -> None:
    with attack("300 connections of one client", server) as row:
        for _ in range(times(1, 5)):
            with many_connections(server, 300) as connections:
                time.sleep(0.5)
                refused = sum(_is_refused(connection) for connection in connections)
            time.sleep(0.5)
            status = server.client.get("/healthz").status_code
            row.count(0 < refused <= 60 and status == 200, (refused, status))


def _is_refused(connection: socket.socket) -> bool:
    """An admitted connection gets no answer, because the server waits for headers."""
    connection.settimeout(0.05)
    with suppress(OSError):
        return connection.recv(12).endswith(b"503")
    return False


def test_acknowledged_events_survive_bombs_between_them(server: Server, attack: Attack) -> None:
    count = times(20, 500)
    with attack("events between broken gzip bodies", server) as row:
        for number in range(count):
            row.count(server.client.post(LINEAGE, json=event(f"survivor_{number}")).status_code == 201, number)
            server.client.post(LINEAGE, content=b"\x1f\x8b" + bytes(100), headers=GZIP)
        time.sleep(1)
        row.lost = count - sum(b"survivor_" in line for line in landed_lines(server.lake))
