"""New files in a landing folder are noticed without Spark, and without listing the files that are known."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from colline.pipeline.sources import folder_source
from colline.pipeline.sources.folder_source import FolderSource
from tests.lakes import land

SPARK: Any = None


def test_the_state_changes_with_each_file_at_any_depth(tmp_path: Path) -> None:
    source = FolderSource(str(tmp_path / "landing"))
    assert source.state(SPARK) is None
    land(tmp_path, ["{}"])
    states = [source.state(SPARK), source.state(SPARK)]
    assert states[0] == states[1]
    land(tmp_path, ["{}"])
    states.append(source.state(SPARK))
    land(tmp_path, ["{}"], day="2026-11-16/hour=12")
    states.append(source.state(SPARK))
    assert all(before != after for before, after in pairwise(states[1:]))


def test_a_file_of_the_same_tick_of_the_clock_is_noticed(tmp_path: Path) -> None:
    source, folder = FolderSource(str(tmp_path / "landing")), land(tmp_path, ["{}"]).parent
    before, changed_at = source.state(SPARK), folder.stat().st_mtime_ns
    land(tmp_path, ["{}"])
    os.utime(folder, ns=(changed_at, changed_at))
    assert source.state(SPARK) != before


def test_folders_that_did_not_change_are_not_listed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = FolderSource(str(tmp_path / "landing"))
    for day in ("2026-11-15", "2026-11-16"):
        os.utime(land(tmp_path, ["{}"], day).parent, (1, 1))
    os.utime(tmp_path / "landing", (1, 1))
    before = source.state(SPARK)
    land(tmp_path, ["{}"], "2026-11-16")
    listed, scandir = [], os.scandir

    def list_and_record(folder: str) -> Any:
        listed.append(Path(folder).name)
        return scandir(folder)

    monkeypatch.setattr(folder_source.os, "scandir", list_and_record)
    assert source.state(SPARK) != before
    assert listed == ["dt=2026-11-16"]
