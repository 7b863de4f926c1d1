"""Rare corners: no thread to be had, a buffer that fails, parts that cannot be built, file systems of fsspec."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from colline.config import settings_from, transport_from
from colline.errors import TransportError
from colline.transport import Batch, Carrier, MemoryTransport, Receipt, Stats
from colline.transport.batching import Pace
from colline.transport.buffer import MemoryBuffer
from colline.transport.filesystem import FsspecFiles, hidden, local_path, scheme_of
from colline.transport.interfaces import ARRIVED
from colline.transport.retry import Patience


class Kept:
    """A sink that keeps what it gets."""

    def __init__(self) -> None:
        self.events: list[bytes] = []
        self.closed = False

    def deliver(self, batch: Batch) -> Receipt:
        self.events += batch.events
        return ARRIVED

    def forget(self) -> None: ...

    def close(self) -> None:
        self.closed = True


def built(transport: Any) -> Any:
    return transport_from(settings_from({"transport": transport}, environ={}, folder=Path("/nonexistent")))


def test_without_a_thread_to_be_had_close_delivers_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at interpreter exit from Python 3.12 on, or when the system has no thread left."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    sink = Kept()
    carrier = Carrier("test", sink)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    carrier.emit(b"1")
    carrier.emit(b"2")
    carrier.close(5)
    assert (sink.events, sink.closed) == ([b"1", b"2"], True)
    assert carrier.stats == Stats(emitted=2, sent=2)


def test_a_buffer_that_fails_costs_the_event_and_not_the_job() -> None:
    class Broken(MemoryBuffer):
        def put(self, line: bytes) -> int:
            raise MemoryError

    carrier = Carrier("test", Kept(), buffer=Broken(10))
    carrier.emit(b"1")
    carrier.close(1)
    assert carrier.stats == Stats(emitted=1, dropped=1)


def test_the_thread_outlives_a_fault_of_ours() -> None:
    class Stumbles(MemoryBuffer):
        stumbles = 3

        def peek(self, limit: int) -> tuple[bytes, ...]:
            if self.stumbles:
                self.stumbles -= 1
                raise OSError("cannot be read just now")
            return super().peek(limit)

    sink = Kept()
    pace = Pace(patience=Patience(backoff=0.001, breaker_after=99))
    carrier = Carrier("test", sink, pace, Stumbles(10))
    carrier.emit(b"1")
    assert carrier.flush(10)
    carrier.close(5)
    assert sink.events == [b"1"]


def test_when_one_part_cannot_be_built_the_others_are_closed_again(tmp_path: Path) -> None:
    before = threading.active_count()
    with pytest.raises(TransportError, match="not an address"):
        built([{"type": "noop", "spool": str(tmp_path / "spool")}, {"type": "http", "url": "not an address"}])
    assert threading.active_count() == before
    spool = built({"type": "noop", "spool": str(tmp_path / "spool")})
    spool.close(1)


PACKAGES = [
    ("def make(options): raise ValueError('no birds')", "no birds"),
    ("def make(options): return object()", "no `emit`"),
]


@pytest.mark.parametrize(("source", "told"), PACKAGES, ids=["raises", "no emit"])
def test_a_transport_of_another_package_that_cannot_be_used_is_a_loud_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, told: str
) -> None:
    _install(tmp_path, source)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("gull", None)
    with pytest.raises(TransportError, match=told.replace("`", ".")):
        built({"type": "gull"})


def test_a_transport_of_another_package_may_be_a_sink(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(
        tmp_path,
        "from colline.transport import Receipt\n\nclass make:\n    taken = []\n    def __init__(self, options): pass\n"
        "    def deliver(self, batch):\n        self.taken.append(batch.events)\n        return Receipt()\n"
        "    def forget(self): pass\n    def close(self): pass\n",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("gull", None)
    transport = built({"type": "gull"})
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


def test_fsspec_writes_by_rename_where_a_put_is_not_atomic(tmp_path: Path) -> None:
    base = f"local://{tmp_path}/lake"
    transport = built({"type": "lake", "base": base})
    transport.emit({"n": 1})
    transport.close(10)
    [path] = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert path.parent.parent == tmp_path / "lake" / "landing"
    assert json.loads(path.read_text()) == {"n": 1}


def test_an_address_that_nobody_knows_is_a_loud_error() -> None:
    with pytest.raises(TransportError, match="nosuch://x"):
        FsspecFiles("nosuch://x")


def test_without_fsspec_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(TransportError, match="fsspec is not installed") as caught:
        built({"type": "lake", "base": "s3://bucket/lake"})
    assert "colline[files]" in str(caught.value)


ADDRESSES = [
    ("/data/lake", "", "/data/.lake.part"),
    ("file:///data/my%20lake", "file", "file:///data/.my%20lake.part"),
    ("s3a://b/k", "s3a", "s3a://b/.k.part"),
]


@pytest.mark.parametrize(("address", "scheme", "part"), ADDRESSES)
def test_addresses_are_read_as_they_are_meant(address: str, scheme: str, part: str) -> None:
    assert (scheme_of(address), hidden(address)) == (scheme, part)


def test_a_file_address_is_a_path_of_this_machine() -> None:
    assert local_path("file:///data/my%20lake") == Path("/data/my lake")
    assert local_path("file:/data/lake") == Path("/data/lake")
    assert local_path("~/lake") == Path.home() / "lake"


def test_memory_keeps_the_newest_and_can_be_cleared() -> None:
    memory = MemoryTransport(capacity=3)
    for number in range(5):
        memory.emit({"n": number})
    assert [event["n"] for event in memory.events] == [2, 3, 4]
    assert memory.stats == Stats(emitted=5, sent=3, dropped=2)
    memory.clear()
    assert memory.events == []
