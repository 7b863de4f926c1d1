"""Durability: what was acknowledged is there, whole and once, whatever became of the process or the disk."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from colline.server.http_errors import Problem
from colline.server.receive.group_commit import Spool, SpoolLimits
from colline.server.receive.segment import open_segment, recover
from tests.server.serving import landed

pytestmark = pytest.mark.anyio


def _spool(tmp_path: Path, **limits: Any) -> Spool:
    spool = Spool(tmp_path / "_server" / "spool", tmp_path / "landing", SpoolLimits(**limits))
    spool.start()
    return spool


def _segments(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "_server" / "spool").glob("*.open"))


async def test_many_appends_share_one_sync(tmp_path: Path) -> None:
    spool = _spool(tmp_path)
    await asyncio.gather(*(spool.append([f"{i}\n".encode()], 1) for i in range(2000)))
    assert spool.counts.events == 2000
    assert spool.counts.commits < 200
    [segment] = _segments(tmp_path)
    assert segment.read_bytes() == b"".join(f"{i}\n".encode() for i in range(2000))
    spool.stop()
    assert landed(tmp_path) == [str(i).encode() for i in range(2000)]
    assert _segments(tmp_path) == []


async def test_a_segment_is_landed_when_it_is_old_or_large(tmp_path: Path) -> None:
    spool = _spool(tmp_path, seal_seconds=0.2, seal_bytes=1000)
    await spool.append([b"x" * 999 + b"\n"], 1)
    await spool.append([b"y\n"], 1)
    assert len(landed(tmp_path)) == 1
    await asyncio.sleep(0.6)
    assert len(landed(tmp_path)) == 2
    spool.stop()


async def test_an_abandoned_segment_is_cut_at_the_last_whole_line_and_landed(tmp_path: Path) -> None:
    spool = _spool(tmp_path)
    await spool.append([b"one\n", b"two\n"], 2)
    spool.stop()
    file = next((tmp_path / "landing").glob("*/*.ndjson"))
    torn = tmp_path / "_server" / "spool" / f"{file.name.rsplit('-', 1)[0]}.open"
    for tail in (b"", b"thr", b"three\0\0\0\n", b"\0" * 4096):
        file.replace(torn)
        with torn.open("ab") as out:
            out.write(tail)
        assert recover(torn.parent, tmp_path / "landing") == [file]
        assert landed(tmp_path) == [b"one", b"two"]


async def test_segments_of_a_live_process_are_left_alone(tmp_path: Path) -> None:
    first = _spool(tmp_path)
    await first.append([b"one\n"], 1)
    second = _spool(tmp_path)
    assert second.counts.recovered == 0
    await second.append([b"two\n"], 1)
    assert len(_segments(tmp_path)) == 2
    first.stop()
    second.stop()
    assert sorted(landed(tmp_path)) == [b"one", b"two"]


async def test_an_empty_segment_leaves_nothing(tmp_path: Path) -> None:
    spool = _spool(tmp_path)
    os.close(open_segment(spool.directory).descriptor)
    assert recover(spool.directory, spool.landing) == []
    assert _segments(tmp_path) == []
    spool.stop()


async def test_a_write_that_fails_keeps_nothing_of_it_and_all_before_it(tmp_path: Path) -> None:
    spool = _spool(tmp_path)
    await spool.append([b"before\n"], 1)
    assert spool._segment is not None
    broken = os.open("/dev/full", os.O_WRONLY)
    os.dup2(broken, spool._segment.descriptor)
    with pytest.raises(Problem) as caught:
        await spool.append([b"lost\n"], 1)
    assert (caught.value.status, caught.value.code) == (507, "disk_full")
    await spool.append([b"after\n"], 1)
    spool.stop()
    assert landed(tmp_path) == [b"before", b"after"]


async def test_too_much_waiting_is_refused_at_once(tmp_path: Path) -> None:
    spool = _spool(tmp_path, waiting_bytes=1000)
    hold = threading.Lock()
    commit = spool._commit
    spool._commit = lambda group: [hold.acquire(), hold.release(), commit(group)]
    with hold:
        kept = [spool.append([b"x" * 500], 1), spool.append([b"x" * 500], 1)]
        with pytest.raises(Problem) as caught:
            spool.append([b"y\n"], 1)
        assert caught.value.status == 429
    await asyncio.gather(*kept)
    assert spool.waiting == 0
    spool.stop()
    with pytest.raises(Problem) as caught:
        spool.append([b"z\n"], 1)
    assert caught.value.status == 503
