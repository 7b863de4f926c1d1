"""The http transport against a live server, and against what openlineage-python sends."""

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
from colline.transport import Carrier, Stats
from tests.certificates import self_signed
from tests.transport.peers import Peer, free_port, http_peer


def built(peer: Peer | str, **options: Any) -> Carrier:
    url = peer if isinstance(peer, str) else peer.url
    given = {"type": "http", "url": url, "backoffSeconds": 0.001, "breakerSeconds": 0.01, "batchSize": 5, **options}
    transport = transport_from(settings_from({"transport": given}, environ={}, folder=Path("/nonexistent")))
    assert isinstance(transport, Carrier)
    return transport


def emitted(carrier: Carrier, count: int, seconds: float = 10) -> Stats:
    for number in range(count):
        carrier.emit({"n": number})
    carrier.close(seconds)
    return carrier.stats


def test_the_request_is_the_one_openlineage_python_makes(monkeypatch: pytest.MonkeyPatch) -> None:
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
        ours = built(peer, **options)
        ours.emit(Serde.to_json(event))
        ours.close(5)
        theirs, mine = peer.requests
    compared = ("content-type", "authorization", "x-team", "content-encoding")
    assert mine.path == theirs.path
    assert {name: mine.headers.get(name) for name in compared} == {name: theirs.headers.get(name) for name in compared}
    assert mine.json == theirs.json


def test_many_events_go_over_one_connection_in_batches() -> None:
    with http_peer() as peer:
        carrier = built(peer, batchSize=50)
        for round_ in range(3):
            for number in range(100):
                carrier.emit({"n": round_ * 100 + number})
            assert carrier.flush(10)
        carrier.close(10)
        assert [event["n"] for event in peer.events] == list(range(300))
        assert peer.connections == 1
        assert len(peer.requests) < 60
        assert {request.path for request in peer.requests} <= {"/api/v1/lineage", "/api/v1/lineage/batch"}


def test_a_server_without_batches_is_asked_once_and_then_gets_them_one_by_one() -> None:
    with http_peer(offers_batch=False) as peer:
        stats = emitted(built(peer), 20)
        assert stats == Stats(emitted=20, sent=20)
        assert [event["n"] for event in peer.events] == list(range(20))
        assert peer.connections == 1


def test_a_batch_says_which_of_its_events_are_refused_and_which_come_again() -> None:
    with http_peer() as peer:
        told = {"failed_events": [{"index": 1, "reason": "no", "retriable": False}, {"index": 3, "retriable": True}]}
        peer.answers = [(200, {}, json.dumps(told).encode())]
        carrier = built(peer, batch="always", flushIntervalSeconds=9)
        stats = emitted(carrier, 5)
        assert (stats.sent, stats.failed, stats.retried) == (4, 1, 1)
        assert peer.events == [{"n": 3}]


def test_when_a_whole_batch_is_refused_one_by_one_tells_which_event_is_at_fault() -> None:
    with http_peer() as peer:
        peer.answers = [
            (422, {}, b""),
            (201, {}, b""),
            (400, {}, b"bad"),
            (201, {}, b""),
            (201, {}, b""),
            (201, {}, b""),
        ]
        stats = emitted(built(peer, flushIntervalSeconds=9), 5)
        assert (stats.sent, stats.failed) == (4, 1)


def test_a_batch_whose_every_event_is_named_as_wrong_is_not_sent_again() -> None:
    with http_peer() as peer:
        told = {"failed_events": [{"index": index, "reason": "no"} for index in range(5)]}
        peer.answers = [(422, {}, json.dumps(told).encode())]
        stats = emitted(built(peer, flushIntervalSeconds=9), 5)
        assert (stats.sent, stats.failed) == (0, 5)
        assert peer.requests == []


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 401, 403])
def test_an_answer_that_may_pass_with_time_is_tried_again(status: int) -> None:
    with http_peer() as peer:
        peer.answers = [(status, {}, b"later")] * 3
        stats = emitted(built(peer, breakerAfter=100), 1)
        assert stats == Stats(emitted=1, sent=1, retried=3)


def test_retry_after_is_respected() -> None:
    with http_peer() as peer:
        peer.answers = [(429, {"Retry-After": "1"}, b"")]
        carrier = built(peer)
        started = time.monotonic()
        carrier.emit({"n": 1})
        until = started + 10
        while carrier.stats.sent == 0 and time.monotonic() < until:
            time.sleep(0.01)
        assert time.monotonic() - started >= 1.0
        carrier.close(1)
        assert carrier.stats.sent == 1


@pytest.mark.parametrize("status", [400, 413, 422])
def test_an_event_that_is_at_fault_is_counted_and_does_not_hold_up_the_next(status: int) -> None:
    with http_peer() as peer:
        peer.answers = [(status, {}, b"no good")]
        stats = emitted(built(peer, batch="never"), 2)
        assert (stats.sent, stats.failed, stats.retried) == (1, 1, 0)


def test_a_kept_connection_that_the_server_closed_is_opened_again() -> None:
    with http_peer() as peer:
        carrier = built(peer)
        carrier.emit({"n": 0})
        assert carrier.flush(5)
        peer.answers = [(201, {"Connection": "close"}, b"")]
        carrier.emit({"n": 1})
        assert carrier.flush(5)
        carrier.emit({"n": 2})
        carrier.close(5)
        assert carrier.stats == Stats(emitted=3, sent=3)


def test_a_server_that_hangs_up_in_the_middle_is_tried_again() -> None:
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
    stats = emitted(built(f"http://127.0.0.1:{listener.getsockname()[1]}"), 1)
    assert (stats.sent, len(seen)) == (1, 2)
    listener.close()


def test_a_hanging_server_costs_emit_nothing_and_close_no_more_than_its_time() -> None:
    with http_peer(hang=threading.Event()) as peer:
        carrier = built(peer, timeout=30, queueCapacity=100)
        started = time.monotonic()
        for number in range(1000):
            carrier.emit({"n": number})
        emitting = time.monotonic() - started
        carrier.close(0.5)
        assert emitting < 10  # the server answers after 30 s
        assert time.monotonic() - started < 15
        assert carrier.stats.dropped == 900
        assert carrier.stats.failed == 100


def test_names_that_do_not_resolve_and_ports_nobody_listens_on_leave_events_in_the_spool(tmp_path: Path) -> None:
    for number, url in enumerate(("http://no-such-host.invalid:5000", f"http://127.0.0.1:{free_port()}")):
        carrier = built(url, spool=str(tmp_path / str(number)))
        stats = emitted(carrier, 3, seconds=0.5)
        assert (stats.sent, stats.spooled, stats.failed) == (0, 3, 0)
    with http_peer() as peer:
        carrier = built(peer, spool=str(tmp_path / "1"))
        carrier.close(5)
        assert peer.events == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_query_base_path_and_parameters_are_kept() -> None:
    with http_peer() as peer:
        carrier = built(f"{peer.url}/base/?a=1", endpoint="/lineage", urlParams={"b": "2 3"})
        emitted(carrier, 1)
        assert [request.path for request in peer.requests] == ["/base/lineage?a=1&b=2+3"]


def test_a_certificate_of_ones_own_authority_is_trusted_when_named_and_refused_otherwise(tmp_path: Path) -> None:
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
    assert emitted(built(url), 1, seconds=1).sent == 0
    assert emitted(built(url, sslContext={"caCertPath": str(certificate)}), 1).sent == 1
    assert emitted(built(url, verify=False), 1).sent == 1
    over.set()
    listener.close()


def test_a_proxy_named_in_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy answers CONNECT itself and then plays the server behind it."""
    listener = socket.create_server(("127.0.0.1", 0))
    asked: list[bytes] = []

    def serve() -> None:
        connection, _ = listener.accept()
        asked.append(connection.recv(65536))
        connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        asked.append(connection.recv(65536))
        connection.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
        time.sleep(0.2)
        connection.close()

    threading.Thread(target=serve, daemon=True).start()
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{listener.getsockname()[1]}")
    monkeypatch.setenv("no_proxy", "")
    assert emitted(built("http://lineage.example:5000"), 1).sent == 1
    assert asked[0].startswith(b"CONNECT lineage.example:5000")
    assert b"POST /api/v1/lineage " in asked[1]
    listener.close()
