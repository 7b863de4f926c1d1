"""The lake transport: names, whole files, batches, and nothing lost at close."""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from pathlib import Path

import pytest

from colline.config import settings_from, transport_from
from colline.transport import Carrier, LocalFiles, MemoryFiles
from colline.transport.batching import Pace
from colline.transport.lake_sink import LakeSink

NAME = re.compile(r"(\d{13})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d+)events\.ndjson")


def test_a_file_is_named_by_day_time_uuid_and_count(tmp_path: Path) -> None:
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


def test_a_full_batch_is_written_at_once_and_the_rest_at_close() -> None:
    files = MemoryFiles()
    carrier = Carrier("lake", LakeSink("mem", "landing", files), Pace(batch_size=50, flush_seconds=3600))
    for number in range(120):
        carrier.emit({"n": number})
    carrier.close(5)
    assert sorted(data.count(b"\n") for data in files.written.values()) == [20, 50, 50]
    assert carrier.stats.sent == 120


def test_an_event_with_line_breaks_stays_one_line() -> None:
    files = MemoryFiles()
    carrier = Carrier("lake", LakeSink("mem", "landing", files))
    carrier.emit(b'{\r\n  "a": 1\n}')
    carrier.close(5)
    assert list(files.written.values()) == [b'{"a":1}\n']


def test_a_write_that_fails_leaves_no_file_behind(tmp_path: Path) -> None:
    (tmp_path / "landing").mkdir()
    (tmp_path / "landing" / "x").mkdir()
    with pytest.raises(OSError):
        LocalFiles().write_whole(str(tmp_path / "landing" / "x"), b"data")
    assert [each.name for each in (tmp_path / "landing").iterdir()] == ["x"]
