"""Spool files become landing files by a rename, also those that a killed process left."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from colline.spool import Segment, land, land_abandoned


def spool_file(folder: Path, lines: list[bytes]) -> Segment:
    folder.mkdir(parents=True, exist_ok=True)
    segment = Segment.create(folder, sync=True, mode=0o640)
    segment.append(lines, sync=True)
    return segment


def test_the_landing_file_is_named_for_the_day_and_the_number_of_events(tmp_path: Path) -> None:
    segment = spool_file(tmp_path / "spool", [b"{}\n", b'{"n":1}\n'])
    name = segment.path.name.removesuffix(".0.open")
    moved = segment.path.rename(segment.path.with_name(f"1767225599999{name[13:]}.0.open"))
    segment.path = moved
    target = land(segment, tmp_path / "landing")
    assert target == tmp_path / "landing" / "dt=2025-12-31" / f"1767225599999{name[13:]}-2events.ndjson"
    assert target.read_bytes() == b'{}\n{"n":1}\n'
    assert stat.S_IMODE(target.stat().st_mode) & 0o600 == 0o600
    assert list((tmp_path / "spool").iterdir()) == []


@pytest.mark.parametrize("tail", [b"", b"thr", b"three\0\0\0\n", b"\0" * 4096, b"\0\nfour\n"])
def test_an_abandoned_file_is_landed_up_to_the_first_damaged_line(tmp_path: Path, tail: bytes) -> None:
    segment = spool_file(tmp_path / "spool", [b"one\n", b"two\n"])
    segment.close()
    with segment.path.open("ab") as file:
        file.write(tail)
    [target] = land_abandoned(tmp_path / "spool", tmp_path / "landing")
    assert target.name.endswith("-2events.ndjson")
    assert target.read_bytes() == b"one\ntwo\n"
    assert land_abandoned(tmp_path / "spool", tmp_path / "landing") == []


def test_files_of_live_processes_and_empty_files_are_not_landed(tmp_path: Path) -> None:
    alive = spool_file(tmp_path / "spool", [b"one\n"])
    empty = spool_file(tmp_path / "spool", [])
    empty.close()
    assert land_abandoned(tmp_path / "spool", tmp_path / "landing") == []
    assert list((tmp_path / "spool").iterdir()) == [alive.path]
    assert land(spool_file(tmp_path / "spool", []), tmp_path / "landing") is None
    assert list((tmp_path / "spool").iterdir()) == [alive.path]


def test_a_file_that_cannot_be_landed_stays_and_is_landed_later(tmp_path: Path) -> None:
    segment = spool_file(tmp_path / "spool", [b"one\n"])
    (tmp_path / "landing").write_text("in the way")
    with pytest.raises(OSError, match="Not a directory"):
        land(segment, tmp_path / "landing")
    (tmp_path / "landing").unlink()
    [target] = land_abandoned(tmp_path / "spool", tmp_path / "landing")
    assert target.read_bytes() == b"one\n"
