"""A client that reads nothing of an answer is disconnected; one that reads slowly is not."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from colline.server.http_limits import ConnectionLimits, protocol_with_limits

ANSWER_BYTES = 40 * 1024 * 1024  # more than the buffers of the system take
LIMITS = ConnectionLimits(stall_seconds=2)


async def send_much(_: Scope, __: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x" * ANSWER_BYTES})


@pytest.fixture
def port() -> Iterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(send_much, http=protocol_with_limits(LIMITS), lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join()


def connect(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    return connection


def received_bytes(connection: socket.socket) -> int:
    size = 0
    try:
        while part := connection.recv(1024 * 1024):
            size += len(part)
    except OSError:
        pass
    return size


def test_client_that_reads_nothing_is_disconnected(port: int) -> None:
    with connect(port) as connection:
        deadline = time.monotonic() + 30
        while not LIMITS.total:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        while LIMITS.total:
            assert time.monotonic() < deadline, "the connection is still open"
            time.sleep(0.01)
        assert received_bytes(connection) < ANSWER_BYTES


def test_client_that_reads_slowly_gets_the_whole_answer(port: int) -> None:
    with connect(port) as connection:
        size = 0
        for _ in range(8):
            time.sleep(0.4)
            size += len(connection.recv(4 * 1024 * 1024))
        assert size + received_bytes(connection) > ANSWER_BYTES
