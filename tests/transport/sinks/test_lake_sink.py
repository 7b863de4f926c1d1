"""The lake transport: names of files, batches, and delivery at close."""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from pathlib import Path

import pytest

from colline.config import settings_from, transport_from
from colline.transport import BatchingTransport, LocalFileSystem, MemoryFileSystem
from colline.transport.batching import BatchingPolicy
from colline.transport.sinks.lake_sink import LakeSink

NAME = re.compile(r"(\d{13})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d+)events\.ndjson")


def test_a_file_name_contains_day_time_uuid_and_count(tmp_path: Path) -> None:
    transport = transport_from(settings_from({"lake": str(tmp_path)}, environ={}))
    for number in range(3):
        transport.emit({"n": number})
    transport.close(5)
    [found] = tmp_path.rglob("*.ndjson")
    match = NAME.fullmatch(found.name)
    assert match
    assert match[3] == "3"
    assert found.parent.parent == tmp_path / "landing"
    assert found.parent.name == f"dt={datetime.fromtimestamp(int(match[1]) / 1000, timezone.utc):%Y-%m-%d}"
    assert [json.loads(line) for line in found.read_text().splitlines()] == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_full_batches_are_written_at_once_and_the_rest_at_close() -> None:
    files = MemoryFileSystem()
    transport = BatchingTransport(
        "lake", LakeSink("mem", "landing", files), BatchingPolicy(batch_size=50, flush_seconds=3600)
    )
    for number in range(120):
        transport.emit({"n": number})
    transport.close(5)
    assert sorted(data.count(b"\n") for data in files.files.values()) == [20, 50, 50]
    assert transport.stats.sent == 120


def test_an_event_with_line_breaks_stays_one_line() -> None:
    files = MemoryFileSystem()
    transport = BatchingTransport("lake", LakeSink("mem", "landing", files))
    transport.emit(b'{\r\n  "a": 1\n}')
    transport.close(5)
    assert list(files.files.values()) == [b'{"a":1}\n']


def test_a_failed_write_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "landing").mkdir()
    (tmp_path / "landing" / "x").mkdir()
    with pytest.raises(OSError):
        LocalFileSystem().write_atomically(str(tmp_path / "landing" / "x"), b"data")
    assert [each.name for each in (tmp_path / "landing").iterdir()] == ["x"]
