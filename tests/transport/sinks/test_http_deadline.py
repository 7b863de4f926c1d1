"""A request has a total deadline: a server that sends or reads slowly cannot hold the http sink."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from colline.transport.interfaces import Batch
from colline.transport.options import HttpOptions, SslOptions
from colline.transport.sinks.http import HttpSink
from tests.certificates import self_signed

Behaviour = Callable[[socket.socket], None]


def send_slowly(connection: socket.socket, text: bytes) -> None:
    for byte in text:
        connection.sendall(bytes([byte]))
        time.sleep(0.1)


def drip_headers(connection: socket.socket) -> None:
    connection.recv(65536)
    send_slowly(connection, b"HTTP/1.1 201 Created\r\n" + b"X-Filling: x\r\n" * 20)


def drip_body(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n")
    send_slowly(connection, b"x" * 300)


def drip_body_of_closing_connection(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    send_slowly(connection, b"x" * 300)


def read_slowly(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for _ in range(300):
        connection.recv(4096)
        time.sleep(0.1)


@contextmanager
def server(behaviour: Behaviour, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """The port of a server that handles one connection."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            if context is not None:
                connection = context.wrap_socket(connection, server_side=True)
            with connection:
                behaviour(connection)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


def failure_of_delivery(options: HttpOptions, event: bytes = b"{}") -> tuple[str, float]:
    """Why the delivery failed, and how long it took."""
    sink = HttpSink(options)
    started = time.monotonic()
    result = sink.deliver(Batch.create((event,)))
    sink.close()
    assert result.retry == (0,)
    return result.reason, time.monotonic() - started


@pytest.mark.parametrize("behaviour", [drip_headers, drip_body, drip_body_of_closing_connection])
def test_a_server_that_sends_slowly_is_abandoned_at_the_deadline(behaviour: Behaviour) -> None:
    with server(behaviour) as port:
        reason, seconds = failure_of_delivery(HttpOptions(url=f"http://127.0.0.1:{port}", timeout=5, total_timeout=0.7))
    assert reason.startswith("TimeoutError")
    assert 0.6 < seconds < 4


def test_a_server_that_reads_slowly_is_abandoned_at_the_deadline() -> None:
    with server(read_slowly) as port:
        options = HttpOptions(url=f"http://127.0.0.1:{port}", timeout=5, total_timeout=0.7)
        reason, seconds = failure_of_delivery(options, b"x" * 50_000_000)
    assert reason.startswith("TimeoutError")
    assert 0.6 < seconds < 4


@pytest.mark.parametrize("behaviour", [drip_body, read_slowly])
def test_the_deadline_holds_for_tls(tmp_path: Path, behaviour: Behaviour) -> None:
    signed = self_signed("localhost")
    (tmp_path / "key.pem").write_bytes(signed.key)
    (tmp_path / "cert.pem").write_bytes(signed.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    with server(behaviour, context) as port:
        certificates = SslOptions(ca_cert_path=str(tmp_path / "cert.pem"))
        url = f"https://localhost:{port}"
        options = HttpOptions(url=url, timeout=5, total_timeout=0.7, ssl_context=certificates)
        reason, seconds = failure_of_delivery(options, b"x" * 50_000_000)
    assert reason.startswith("TimeoutError")
    assert 0.6 < seconds < 4


def test_a_proxy_that_answers_slowly_is_abandoned_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    with server(drip_headers) as port:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("no_proxy", "")
        options = HttpOptions(url="http://lineage.example:5000", timeout=5, total_timeout=0.7)
        reason, seconds = failure_of_delivery(options)
    assert reason.startswith("TimeoutError")
    assert 0.6 < seconds < 4


def test_a_wait_is_limited_by_the_shorter_timeout() -> None:
    with server(lambda connection: time.sleep(3)) as port:
        reason, seconds = failure_of_delivery(
            HttpOptions(url=f"http://127.0.0.1:{port}", timeout=0.3, total_timeout=30)
        )
    assert reason.startswith("TimeoutError")
    assert 0.2 < seconds < 3
