"""The http transport with a real server, compared with the requests of openlineage-python."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from colline.config import settings_from, transport_from
from colline.transport import BatchingTransport, DeliveryStats
from tests.certificates import self_signed
from tests.transport.peers import Peer, free_port, http_peer


def create(peer: Peer | str, **options: Any) -> BatchingTransport:
    url = peer if isinstance(peer, str) else peer.url
    given = {"type": "http", "url": url, "backoffSeconds": 0.001, "breakerSeconds": 0.01, "batchSize": 5, **options}
    transport = transport_from(settings_from({"transport": given}, environ={}, folder=Path("/nonexistent")))
    assert isinstance(transport, BatchingTransport)
    return transport


def emit_and_close(transport: BatchingTransport, count: int, seconds: float = 10) -> DeliveryStats:
    for number in range(count):
        transport.emit({"n": number})
    transport.close(seconds)
    return transport.stats


def test_the_request_equals_that_of_openlineage_python(monkeypatch: pytest.MonkeyPatch) -> None:
    from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
    from openlineage.client.serde import Serde
    from openlineage.client.transport.http import HttpConfig, HttpTransport

    event = RunEvent(
        eventTime="2026-01-01T00:00:00Z",
        run=Run("01890a5d-ac96-774b-bcce-b302099a8057"),
        job=Job("ns", "job"),
        eventType=RunState.COMPLETE,
    )
    options: dict[str, Any] = {
        "auth": {"type": "api_key", "apiKey": "k"},
        "custom_headers": {"X-Team": "core"},
        "compression": "gzip",
        "endpoint": "api/v1/lineage",
    }
    with http_peer() as peer:
        HttpTransport(HttpConfig.from_dict({"url": peer.url, **options})).emit(event)
        ours = create(peer, **options)
        ours.emit(Serde.to_json(event))
        ours.close(5)
        theirs, mine = peer.requests
    compared = ("content-type", "authorization", "x-team", "content-encoding")
    assert mine.path == theirs.path
    assert {name: mine.headers.get(name) for name in compared} == {name: theirs.headers.get(name) for name in compared}
    assert mine.json == theirs.json


def test_batches_use_one_connection() -> None:
    with http_peer() as peer:
        transport = create(peer, batchSize=50)
        for round_ in range(3):
            for number in range(100):
                transport.emit({"n": round_ * 100 + number})
            assert transport.flush(10)
        transport.close(10)
        assert [event["n"] for event in peer.events] == list(range(300))
        assert peer.connections == 1
        assert len(peer.requests) < 60
        assert {request.path for request in peer.requests} <= {"/api/v1/lineage", "/api/v1/lineage/batch"}


def test_events_are_sent_one_by_one_to_a_server_without_a_batch_endpoint() -> None:
    with http_peer(offers_batch=False) as peer:
        stats = emit_and_close(create(peer), 20)
        assert stats == DeliveryStats(emitted=20, sent=20)
        assert [event["n"] for event in peer.events] == list(range(20))
        assert peer.connections == 1


def test_a_batch_response_lists_refused_and_retriable_events() -> None:
    with http_peer() as peer:
        body = {"failed_events": [{"index": 1, "reason": "no", "retriable": False}, {"index": 3, "retriable": True}]}
        peer.answers = [(200, {}, json.dumps(body).encode())]
        transport = create(peer, batch="always", flushIntervalSeconds=9)
        stats = emit_and_close(transport, 5)
        assert (stats.sent, stats.failed, stats.retried) == (4, 1, 1)
        assert peer.events == [{"n": 3}]


def test_events_of_a_refused_batch_are_sent_one_by_one() -> None:
    with http_peer() as peer:
        peer.answers = [
            (422, {}, b""),
            (201, {}, b""),
            (400, {}, b"bad"),
            (201, {}, b""),
            (201, {}, b""),
            (201, {}, b""),
        ]
        stats = emit_and_close(create(peer, flushIntervalSeconds=9), 5)
        assert (stats.sent, stats.failed) == (4, 1)


def test_a_batch_is_not_sent_again_if_all_its_events_are_refused() -> None:
    with http_peer() as peer:
        body = {"failed_events": [{"index": index, "reason": "no"} for index in range(5)]}
        peer.answers = [(422, {}, json.dumps(body).encode())]
        stats = emit_and_close(create(peer, flushIntervalSeconds=9), 5)
        assert (stats.sent, stats.failed) == (0, 5)
        assert peer.requests == []


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 401, 403])
def test_a_temporary_error_is_retried(status: int) -> None:
    with http_peer() as peer:
        peer.answers = [(status, {}, b"later")] * 3
        stats = emit_and_close(create(peer, breakerAfter=100), 1)
        assert stats == DeliveryStats(emitted=1, sent=1, retried=3)


def test_retry_after_is_respected() -> None:
    with http_peer() as peer:
        peer.answers = [(429, {"Retry-After": "1"}, b"")]
        transport = create(peer)
        started = time.monotonic()
        transport.emit({"n": 1})
        until = started + 10
        while transport.stats.sent == 0 and time.monotonic() < until:
            time.sleep(0.01)
        assert time.monotonic() - started >= 1.0
        transport.close(1)
        assert transport.stats.sent == 1


@pytest.mark.parametrize("status", [400, 413, 422])
def test_an_invalid_event_is_counted_and_the_next_one_is_sent(status: int) -> None:
    with http_peer() as peer:
        peer.answers = [(status, {}, b"no good")]
        stats = emit_and_close(create(peer, batch="never"), 2)
        assert (stats.sent, stats.failed, stats.retried) == (1, 1, 0)


def test_a_connection_that_the_server_closed_is_opened_again() -> None:
    with http_peer() as peer:
        transport = create(peer)
        transport.emit({"n": 0})
        assert transport.flush(5)
        peer.answers = [(201, {"Connection": "close"}, b"")]
        transport.emit({"n": 1})
        assert transport.flush(5)
        transport.emit({"n": 2})
        transport.close(5)
        assert transport.stats == DeliveryStats(emitted=3, sent=3)


def test_a_request_is_retried_if_the_server_disconnects() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    seen: list[bytes] = []

    def serve() -> None:
        for number in range(2):
            connection, _ = listener.accept()
            seen.append(connection.recv(65536))
            if number:
                connection.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
                time.sleep(0.2)
            connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    stats = emit_and_close(create(f"http://127.0.0.1:{listener.getsockname()[1]}"), 1)
    assert (stats.sent, len(seen)) == (1, 2)
    listener.close()


def test_a_hanging_server_does_not_delay_emit_or_close() -> None:
    with http_peer(hang=threading.Event()) as peer:
        transport = create(peer, timeout=30, queueCapacity=100)
        started = time.monotonic()
        for number in range(1000):
            transport.emit({"n": number})
        emitting = time.monotonic() - started
        transport.close(0.5)
        assert emitting < 10  # the server answers after 30 s
        assert time.monotonic() - started < 15
        assert transport.stats.dropped == 900
        assert transport.stats.failed == 100


def test_events_for_an_unreachable_server_stay_in_the_spool(tmp_path: Path) -> None:
    for number, url in enumerate(("http://no-such-host.invalid:5000", f"http://127.0.0.1:{free_port()}")):
        transport = create(url, spool=str(tmp_path / str(number)))
        stats = emit_and_close(transport, 3, seconds=0.5)
        assert (stats.sent, stats.spooled, stats.failed) == (0, 3, 0)
    with http_peer() as peer:
        transport = create(peer, spool=str(tmp_path / "1"))
        transport.close(5)
        assert peer.events == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_query_base_path_and_parameters_are_kept() -> None:
    with http_peer() as peer:
        transport = create(f"{peer.url}/base/?a=1", endpoint="/lineage", urlParams={"b": "2 3"})
        emit_and_close(transport, 1)
        assert [request.path for request in peer.requests] == ["/base/lineage?a=1&b=2+3"]


def test_a_private_certificate_is_trusted_only_if_it_is_configured(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    signed = self_signed("localhost")
    key.write_bytes(signed.key)
    certificate.write_bytes(signed.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            plain, _ = listener.accept()
            try:
                with context.wrap_socket(plain, server_side=True) as secure:
                    secure.recv(65536)
                    secure.sendall(b"HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            except OSError:
                plain.close()

    threading.Thread(target=serve, daemon=True).start()
    url = f"https://localhost:{listener.getsockname()[1]}"
    assert emit_and_close(create(url), 1, seconds=1).sent == 0
    assert emit_and_close(create(url, sslContext={"caCertPath": str(certificate)}), 1).sent == 1
    assert emit_and_close(create(url, verify=False), 1).sent == 1
    over.set()
    listener.close()


def test_the_proxy_in_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy answers CONNECT, and then also acts as the server."""
    listener = socket.create_server(("127.0.0.1", 0))
    received: list[bytes] = []

    def serve() -> None:
        connection, _ = listener.accept()
        received.append(connection.recv(65536))
        connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        received.append(connection.recv(65536))
        connection.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
        time.sleep(0.2)
        connection.close()

    threading.Thread(target=serve, daemon=True).start()
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{listener.getsockname()[1]}")
    monkeypatch.setenv("no_proxy", "")
    assert emit_and_close(create("http://lineage.example:5000"), 1).sent == 1
    assert received[0].startswith(b"CONNECT lineage.example:5000")
    assert b"POST /api/v1/lineage " in received[1]
    listener.close()
