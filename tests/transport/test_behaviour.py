"""The behaviour of every transport. For a new transport, add a function to `PLACES`."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from colline.config import settings_from, transport_from
from colline.transport import MemoryTransport, Transport
from tests.transport.peers import Broker, http_peer

ReadEvents = Callable[[], list[Any]]


def create(transport: Any) -> Transport:
    return transport_from(settings_from({"transport": transport}, environ={}, folder=Path("/nonexistent")))


def lines_in(text: str) -> list[Any]:
    return [json.loads(line) for line in text.split("\n") if line]


def lake_events(base: Path) -> list[Any]:
    return [event for path in sorted(base.rglob("*.ndjson")) for event in lines_in(path.read_text())]


@contextmanager
def console(tmp_path: Path, request: Any) -> Iterator[tuple[Transport, ReadEvents]]:
    captured = request.getfixturevalue("capsys")
    yield create({"type": "console", "stream": "stdout"}), lambda: lines_in(captured.readouterr().out)


@contextmanager
def file(tmp_path: Path, request: Any) -> Iterator[tuple[Transport, ReadEvents]]:
    path = tmp_path / "some folder" / "events.ndjson"
    yield create({"type": "file", "location": str(path)}), lambda: lines_in(path.read_text())


@contextmanager
def lake(tmp_path: Path, request: Any) -> Iterator[tuple[Transport, ReadEvents]]:
    yield create({"type": "lake", "base": str(tmp_path)}), lambda: lake_events(tmp_path)


@contextmanager
def lake_with_spool(tmp_path: Path, request: Any) -> Iterator[tuple[Transport, ReadEvents]]:
    given = {"type": "lake", "base": str(tmp_path / "lake"), "spool": str(tmp_path / "spool")}
    yield create(given), lambda: lake_events(tmp_path / "lake")


@contextmanager
def lake_on_fsspec(tmp_path: Path, request: Any) -> Iterator[tuple[Transport, ReadEvents]]:
    import fsspec

    files, base = fsspec.filesystem("memory"), f"memory://{tmp_path.name}"

    def read_events() -> list[Any]:
        return [each for path in sorted(files.find(base)) for each in lines_in(files.cat(path).decode())]

    yield create({"type": "lake", "base": base}), read_events


@contextmanager
def http(tmp_path: Path, request: Any) -> Iterator[tuple[Transport, ReadEvents]]:
    with http_peer() as peer:
        yield create({"type": "http", "url": peer.url}), lambda: peer.events


@contextmanager
def http_one_by_one(tmp_path: Path, request: Any) -> Iterator[tuple[Transport, ReadEvents]]:
    with http_peer(offers_batch=False) as peer:
        yield create({"type": "http", "url": peer.url}), lambda: peer.events


@contextmanager
def kafka(tmp_path: Path, request: Any) -> Iterator[tuple[Transport, ReadEvents]]:
    broker: Broker = request.getfixturevalue("broker")
    topic = os.urandom(6).hex()
    given = {
        "type": "kafka",
        "topicName": topic,
        "properties": {"bootstrap.servers": broker.address},
        "messageKey": "k",
    }
    transport = create(given)
    yield transport, lambda: [event for _, event in broker.read(topic, transport.stats.sent)]


@contextmanager
def memory(tmp_path: Path, request: Any) -> Iterator[tuple[Transport, ReadEvents]]:
    transport = create({"type": "memory"})
    assert isinstance(transport, MemoryTransport)
    yield transport, lambda: transport.events


@contextmanager
def composite(tmp_path: Path, request: Any) -> Iterator[tuple[Transport, ReadEvents]]:
    paths = [tmp_path / "a.ndjson", tmp_path / "b.ndjson"]
    transport = create([{"type": "file", "location": str(path)} for path in paths])

    def read_events() -> list[Any]:
        first, second = [lines_in(path.read_text()) for path in paths]
        assert sorted(map(str, first)) == sorted(map(str, second))  # the order may differ if several threads emit
        return first

    yield transport, read_events


@contextmanager
def own_object(tmp_path: Path, request: Any) -> Iterator[tuple[Transport, ReadEvents]]:
    class Own:
        def __init__(self) -> None:
            self.taken: list[bytes] = []

        def emit(self, event: bytes) -> None:
            self.taken.append(event)

    own = Own()
    yield create(own), lambda: [json.loads(event) for event in own.taken]


@contextmanager
def other_package(tmp_path: Path, request: Any) -> Iterator[tuple[Transport, ReadEvents]]:
    """A transport of another package, with the files of an installed package."""
    metadata = tmp_path / "pigeon-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: pigeon\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[colline.transports]\npigeon = pigeon:loft\n")
    (tmp_path / "pigeon.py").write_text(
        "taken = []\n\nclass Loft:\n    def __init__(self, options):\n        assert options == {'birds': 3}, options\n"
        "    def emit(self, event):\n        taken.append(event)\n\nloft = Loft\n"
    )
    sys.modules.pop("pigeon", None)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        transport = create({"type": "pigeon", "birds": 3})
        yield transport, lambda: [json.loads(event) for event in sys.modules["pigeon"].taken]


PLACES = (
    console,
    file,
    lake,
    lake_with_spool,
    lake_on_fsspec,
    http,
    http_one_by_one,
    kafka,
    memory,
    composite,
    own_object,
    other_package,
)
PARTS = {"composite": 2}  # an event counts once per part


@pytest.fixture(params=PLACES, ids=lambda place: place.__name__)
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Transport, ReadEvents, int]]:
    with request.param(tmp_path, request) as (transport, read_events):
        yield transport, read_events, PARTS.get(request.param.__name__, 1)


class Sample(msgspec.Struct, frozen=True):
    n: int


def test_events_of_every_form_arrive_in_order(place: tuple[Transport, ReadEvents, int]) -> None:
    transport, read_events, parts = place
    transport.emit(b'{"n":0}')
    transport.emit('{"n":1}')
    transport.emit({"n": 2})
    transport.emit(Sample(3))
    for number in range(4, 200):
        transport.emit(b'{"n":%d}' % number)
    assert transport.flush(20)
    assert read_events() == [{"n": number} for number in range(200)]
    transport.close(5)
    stats = transport.stats
    assert (stats.emitted, stats.sent, stats.queued, stats.dropped, stats.failed) == (200 * parts, 200 * parts, 0, 0, 0)


def test_close_delivers_waiting_events(place: tuple[Transport, ReadEvents, int]) -> None:
    transport, read_events, _ = place
    transport.emit({"last": True})
    transport.close(20)
    assert read_events() == [{"last": True}]


def test_events_after_close_count_as_dropped(place: tuple[Transport, ReadEvents, int]) -> None:
    transport, read_events, parts = place
    transport.emit({"n": 1})
    transport.close(20)
    transport.close(20)
    transport.emit({"n": 2})
    assert read_events() == [{"n": 1}]
    assert (transport.stats.emitted, transport.stats.dropped) == (2 * parts, parts)
    assert transport.flush(0.1) is True


def test_an_event_that_cannot_be_serialized_is_counted_and_not_raised(place: tuple[Transport, ReadEvents, int]) -> None:
    transport, read_events, parts = place
    transport.emit({"bad": object()})
    transport.emit({"good": 1})
    transport.close(20)
    assert read_events() == [{"good": 1}]
    assert (transport.stats.failed, transport.stats.sent) == (parts, parts)


def test_several_threads_may_emit(place: tuple[Transport, ReadEvents, int]) -> None:
    transport, read_events, parts = place

    def work(name: int) -> None:
        for number in range(20):
            transport.emit({"thread": name, "n": number})

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    transport.close(20)
    events = read_events()
    for name in range(8):
        assert [event["n"] for event in events if event["thread"] == name] == list(range(20))
    assert transport.stats.sent == 160 * parts


def test_unicode_and_line_breaks_are_preserved(place: tuple[Transport, ReadEvents, int]) -> None:
    transport, read_events, _ = place
    event = {"name": "köln 東京 \u2028 \r\n 'x' \"y\"", "empty": ""}
    transport.emit(event)
    transport.close(20)
    assert read_events() == [event]


def test_emit_does_not_wait_for_the_delivery(place: tuple[Transport, ReadEvents, int]) -> None:
    transport, _, _ = place
    started = time.monotonic()
    for number in range(500):
        transport.emit({"n": number})
    # A generous limit: this test detects waiting for a server, not a slow machine.
    assert time.monotonic() - started < 5
    transport.close(20)
    assert transport.stats.is_lossless
