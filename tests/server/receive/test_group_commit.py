"""Durability: an acknowledged event is on disk, whole and once, after any failure of the process or the disk."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from colline.server.http_errors import Problem
from colline.server.receive.group_commit import CommitLimits, GroupCommit
from tests.server.serving import landed_lines

pytestmark = pytest.mark.anyio


def start_group_commit(lake: Path, **limits: Any) -> GroupCommit:
    group_commit = GroupCommit(lake / "_server" / "spool", lake / "landing", CommitLimits(**limits))
    group_commit.start()
    return group_commit


def _segments(lake: Path) -> list[Path]:
    return sorted((lake / "_server" / "spool").glob("*.open"))


async def test_many_appends_share_one_sync(tmp_path: Path) -> None:
    group_commit = start_group_commit(tmp_path, seal_seconds=3600)
    await asyncio.gather(*(group_commit.append([f"{i}\n".encode()]) for i in range(2000)))
    assert group_commit.counts.events == 2000
    assert group_commit.counts.commits < 200
    [segment] = _segments(tmp_path)
    assert segment.read_bytes() == b"".join(f"{i}\n".encode() for i in range(2000))
    group_commit.stop()
    assert landed_lines(tmp_path) == [str(i).encode() for i in range(2000)]
    assert _segments(tmp_path) == []


async def test_a_segment_is_landed_when_it_is_old_or_large(tmp_path: Path) -> None:
    group_commit = start_group_commit(tmp_path, seal_seconds=0.2, seal_bytes=1000)
    await group_commit.append([b"x" * 999 + b"\n"])
    await group_commit.append([b"y\n"])
    assert len(landed_lines(tmp_path)) == 1
    await asyncio.sleep(0.6)
    assert len(landed_lines(tmp_path)) == 2
    group_commit.stop()


async def test_what_a_killed_process_left_is_landed_at_the_start(tmp_path: Path) -> None:
    first = start_group_commit(tmp_path)
    await first.append([b"one\n", b"two\n"])
    [path] = _segments(tmp_path)
    copy = path.read_bytes()
    first.stop()
    shutil.rmtree(tmp_path / "landing")
    path.write_bytes(copy + b"thr")  # the next group was not complete when the process was killed
    second = start_group_commit(tmp_path)
    assert second.counts.recovered == 1
    assert landed_lines(tmp_path) == [b"one", b"two"]
    second.stop()


async def test_segments_of_a_live_process_are_left_alone(tmp_path: Path) -> None:
    first = start_group_commit(tmp_path)
    await first.append([b"one\n"])
    second = start_group_commit(tmp_path)
    assert second.counts.recovered == 0
    await second.append([b"two\n"])
    assert len(_segments(tmp_path)) == 2
    first.stop()
    second.stop()
    assert sorted(landed_lines(tmp_path)) == [b"one", b"two"]


async def test_a_failed_write_is_answered_507_and_keeps_what_was_written_before(tmp_path: Path) -> None:
    group_commit = start_group_commit(tmp_path)
    await group_commit.append([b"before\n"])
    assert group_commit._segment is not None
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, group_commit._segment._descriptor)
    with pytest.raises(Problem) as caught:
        await group_commit.append([b"lost\n"])
    assert (caught.value.status, caught.value.code) == (507, "disk_full")
    await group_commit.append([b"after\n"])
    group_commit.stop()
    assert landed_lines(tmp_path) == [b"before", b"after"]


@pytest.mark.parametrize("removed", [".", "_server", "_server/spool"])
async def test_after_the_lake_was_deleted_events_are_written_to_a_new_folder(tmp_path: Path, removed: str) -> None:
    lake = tmp_path / "lake"
    group_commit = start_group_commit(lake)
    await group_commit.append([b"before\n"])
    shutil.rmtree(lake / removed)
    await group_commit.append([b"after\n"])
    [path] = _segments(lake)
    assert path.read_bytes() == b"after\n"
    group_commit.stop()
    assert landed_lines(lake) == [b"after"]


async def test_after_the_lake_was_moved_events_are_written_to_a_new_folder(tmp_path: Path) -> None:
    group_commit = start_group_commit(tmp_path / "lake")
    await group_commit.append([b"before\n"])
    (tmp_path / "lake").rename(tmp_path / "old")
    await group_commit.append([b"after\n"])
    group_commit.stop()
    assert landed_lines(tmp_path / "lake") == [b"after"]
    [path] = _segments(tmp_path / "old")
    assert path.read_bytes() == b"before\n"


async def test_a_lake_that_cannot_be_created_again_is_answered_503(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    group_commit = start_group_commit(lake)
    await group_commit.append([b"before\n"])
    shutil.rmtree(lake)
    lake.write_text("not a folder")
    for _ in range(2):
        with pytest.raises(Problem) as caught:
            await group_commit.append([b"lost\n"])
        assert (caught.value.status, caught.value.code) == (503, "not_durable")
    lake.unlink()
    await group_commit.append([b"after\n"])
    group_commit.stop()
    assert landed_lines(lake) == [b"after"]


async def test_a_stopped_group_commit_refuses_lines(tmp_path: Path) -> None:
    group_commit = start_group_commit(tmp_path)
    group_commit.stop()
    with pytest.raises(Problem) as caught:
        group_commit.append([b"z\n"])
    assert caught.value.status == 503


async def test_ready_means_that_the_last_write_worked(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    group_commit = start_group_commit(lake)
    assert group_commit.is_ready()
    shutil.rmtree(lake)
    lake.write_text("not a folder")
    with pytest.raises(Problem):
        await group_commit.append([b"lost\n"])
    assert not group_commit.is_ready()
    lake.unlink()
    assert group_commit.is_ready()
    await group_commit.append([b"after\n"])
    group_commit.stop()
    assert not group_commit.is_ready()
    assert landed_lines(lake) == [b"after"]
