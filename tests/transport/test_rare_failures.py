"""Rare cases: no thread available, a failing buffer, invalid parts of a composite, file systems of fsspec."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from colline.config import settings_from, transport_from
from colline.errors import TransportError
from colline.transport import Batch, BatchingTransport, DeliveryResult, DeliveryStats, MemoryTransport
from colline.transport.batching import BatchingPolicy
from colline.transport.buffer import MemoryBuffer
from colline.transport.filesystem import FsspecFileSystem, expand_local_path, hidden_name, scheme_of
from colline.transport.interfaces import DELIVERED
from colline.transport.retry import RetryPolicy


class KeepingSink:
    """A sink that keeps its events."""

    def __init__(self) -> None:
        self.events: list[bytes] = []
        self.closed = False

    def deliver(self, batch: Batch) -> DeliveryResult:
        self.events += batch.events
        return DELIVERED

    def after_fork(self) -> None: ...

    def close(self) -> None:
        self.closed = True


def create(transport: Any) -> Any:
    return transport_from(settings_from({"transport": transport}, environ={}, folder=Path("/nonexistent")))


def test_close_delivers_if_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """At interpreter exit since Python 3.12, or at the system's limit of threads."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    sink = KeepingSink()
    transport = BatchingTransport("test", sink)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    transport.emit(b"1")
    transport.emit(b"2")
    transport.close(5)
    assert (sink.events, sink.closed) == ([b"1", b"2"], True)
    assert transport.stats == DeliveryStats(emitted=2, sent=2)


def test_a_failing_buffer_drops_the_event_without_raising() -> None:
    class Broken(MemoryBuffer):
        def put(self, line: bytes) -> int:
            raise MemoryError

    transport = BatchingTransport("test", KeepingSink(), buffer=Broken(10))
    transport.emit(b"1")
    transport.close(1)
    assert transport.stats == DeliveryStats(emitted=1, dropped=1)


def test_the_thread_continues_after_an_unexpected_error() -> None:
    class FailsAtFirst(MemoryBuffer):
        failures_left = 3

        def peek(self, limit: int) -> tuple[bytes, ...]:
            if self.failures_left:
                self.failures_left -= 1
                raise OSError("cannot be read")
            return super().peek(limit)

    sink = KeepingSink()
    policy = BatchingPolicy(retry=RetryPolicy(backoff_seconds=0.001, breaker_after=99))
    transport = BatchingTransport("test", sink, policy, FailsAtFirst(10))
    transport.emit(b"1")
    assert transport.flush(10)
    transport.close(5)
    assert sink.events == [b"1"]


def test_an_invalid_part_of_a_composite_closes_the_other_parts(tmp_path: Path) -> None:
    before = threading.active_count()
    with pytest.raises(TransportError, match="not an address"):
        create([{"type": "noop", "spool": str(tmp_path / "spool")}, {"type": "http", "url": "not an address"}])
    assert threading.active_count() == before
    spool = create({"type": "noop", "spool": str(tmp_path / "spool")})
    spool.close(1)


PACKAGES = [
    ("def make(options): raise ValueError('no birds')", "no birds"),
    ("def make(options): return object()", "has no `emit`"),
]


@pytest.mark.parametrize(("source", "message"), PACKAGES, ids=["raises", "no emit"])
def test_an_unusable_transport_of_another_package_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, message: str
) -> None:
    _install(tmp_path, source)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("gull", None)
    with pytest.raises(TransportError, match=message.replace("`", ".")):
        create({"type": "gull"})


def test_a_transport_of_another_package_may_be_a_sink(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(
        tmp_path,
        "from colline.transport import DeliveryResult\n\nclass make:\n    taken = []\n"
        "    def __init__(self, options): pass\n"
        "    def deliver(self, batch):\n        self.taken.append(batch.events)\n        return DeliveryResult()\n"
        "    def after_fork(self): pass\n    def close(self): pass\n",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("gull", None)
    transport = create({"type": "gull"})
    transport.emit(b"1")
    transport.emit(b"2")
    transport.close(5)
    assert sys.modules["gull"].make.taken == [(b"1", b"2")]


def _install(folder: Path, source: str) -> None:
    metadata = folder / "gull-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: gull\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[colline.transports]\ngull = gull:make\n")
    (folder / "gull.py").write_text(source)


def test_fsspec_renames_a_hidden_file_if_a_put_is_not_atomic(tmp_path: Path) -> None:
    base = f"local://{tmp_path}/lake"
    transport = create({"type": "lake", "base": base})
    transport.emit({"n": 1})
    transport.close(10)
    [path] = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert path.parent.parent == tmp_path / "lake" / "landing"
    assert json.loads(path.read_text()) == {"n": 1}


def test_an_unknown_scheme_is_an_error() -> None:
    with pytest.raises(TransportError, match="nosuch://x"):
        FsspecFileSystem("nosuch://x")


def test_the_error_without_fsspec_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(TransportError, match="fsspec is not installed") as caught:
        create({"type": "lake", "base": "s3://bucket/lake"})
    assert "colline[files]" in str(caught.value)


ADDRESSES = [
    ("/data/lake", "", "/data/.lake.part"),
    ("file:///data/my%20lake", "file", "file:///data/.my%20lake.part"),
    ("s3a://b/k", "s3a", "s3a://b/.k.part"),
]


@pytest.mark.parametrize(("address", "scheme", "part"), ADDRESSES)
def test_scheme_and_hidden_name_of_an_address(address: str, scheme: str, part: str) -> None:
    assert (scheme_of(address), hidden_name(address)) == (scheme, part)


def test_a_file_address_is_a_local_path() -> None:
    assert expand_local_path("file:///data/my%20lake") == Path("/data/my lake")
    assert expand_local_path("file:/data/lake") == Path("/data/lake")
    assert expand_local_path("~/lake") == Path.home() / "lake"


def test_the_memory_transport_keeps_the_newest_events() -> None:
    memory = MemoryTransport(capacity=3)
    for number in range(5):
        memory.emit({"n": number})
    assert [event["n"] for event in memory.events] == [2, 3, 4]
    assert memory.stats == DeliveryStats(emitted=5, sent=3, dropped=2)
    memory.clear()
    assert memory.events == []
