"""The queue on disk: order, adoption, damage, limits. Processes are really killed in tests/transport/test_faults.py."""

from __future__ import annotations

import json
import logging
import os
import shutil
import uuid
from pathlib import Path
from typing import Literal
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colline.errors import TransportError
from colline.spool import Spool, SpoolOptions
from tests.spool.other_process import other_process


def event(number: int, size: int = 0) -> bytes:
    return json.dumps({"n": number, "filling": "x" * size}).encode()


def line_of(event: bytes) -> bytes:
    return f"{crc32(event):08x} ".encode() + event + b"\n"


def drain(spool: Spool) -> list[bytes]:
    found: list[bytes] = []
    while len(spool):
        batch = spool.peek(7)
        found += batch
        spool.mark_delivered(len(batch))
    return found


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.open"))


def leave_as_a_killed_process(folder: Path, events: list[bytes], delivered: int = 0) -> None:
    spool = Spool(folder)
    for each in events:
        spool.put(each)
    if delivered:
        spool.peek(delivered)
        spool.mark_delivered(delivered)
    spool.reset_after_fork()  # closes the files and releases the locks without removing anything, as a kill does


def test_events_come_out_in_order_and_no_file_stays(tmp_path: Path) -> None:
    spool = Spool(tmp_path, SpoolOptions(max_bytes=1 << 20))
    events = [event(number, 3000) for number in range(300)]
    assert [spool.put(each) for each in events] == [0] * 300
    assert len(files(tmp_path)) > 3
    assert drain(spool) == events
    spool.close()
    assert files(tmp_path) == []


def test_an_event_is_in_a_file_when_put_returns(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    for number in range(20):
        spool.put(event(number))
        [path] = files(tmp_path)
        assert path.read_bytes() == b"".join(line_of(event(each)) for each in range(number + 1))
    spool.close()


def test_a_file_is_used_again_and_again_until_it_is_full(tmp_path: Path) -> None:
    """One event at a time, as a fast peer takes them: no new file for each, and delivered events do not pile up."""
    spool = Spool(tmp_path, SpoolOptions(max_bytes=80_000))
    seen = set()
    for number in range(200):
        assert spool.put(event(number, 1000)) == 0
        assert spool.peek(5) == (event(number, 1000),)
        spool.mark_delivered(1)
        seen |= {path.name.split(".")[0] for path in files(tmp_path)}
        assert sum(path.stat().st_size for path in files(tmp_path)) < 12_000
    assert 10 < len(seen) <= 21
    spool.close()
    assert files(tmp_path) == []


def test_the_next_process_adopts_what_is_not_delivered(tmp_path: Path) -> None:
    leave_as_a_killed_process(tmp_path, [event(number) for number in range(4)], delivered=2)
    spool = Spool(tmp_path)
    assert spool.adopted_events == 2
    assert drain(spool) == [event(2), event(3)]
    spool.close()
    assert files(tmp_path) == []


def test_two_live_processes_never_share_a_file(tmp_path: Path) -> None:
    script = (
        "import sys; from colline.spool import Spool; s = Spool(sys.argv[1]); s.put(b'theirs');"
        "print('ready', flush=True); sys.stdin.read()"
    )
    with other_process(script, tmp_path):
        spool = Spool(tmp_path)
        spool.put(b"mine")
        spool.adopt(1)
        assert (spool.adopted_events, drain(spool)) == (0, [b"mine"])
    spool.adopt(1)
    assert (spool.adopted_events, drain(spool)) == (1, [b"theirs"])


def test_a_forked_child_leaves_the_files_to_its_parent(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.put(event(1))
    child = os.fork()
    if child == 0:
        spool.reset_after_fork()
        spool.adopt()
        spool.put(event(2))
        is_right = (spool.adopted_events, drain(spool)) == (0, [event(2)])
        spool.close()
        os._exit(0 if is_right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    spool.put(event(3))
    assert drain(spool) == [event(1), event(3)]
    assert Spool(tmp_path).adopted_events == 0


@settings(deadline=None)  # the disk may be slow
@given(place=st.integers(min_value=0, max_value=420), flip=st.integers(min_value=1, max_value=255))
def test_a_flipped_byte_harms_only_the_events_it_touches(
    tmp_path_factory: pytest.TempPathFactory, place: int, flip: int
) -> None:
    folder = tmp_path_factory.mktemp("flip")
    events = [b'{"filling": "%s"}' % (letter.encode() * 30) for letter in "abcdefgh"]
    leave_as_a_killed_process(folder, events)
    [path] = files(folder)
    data = bytearray(path.read_bytes())
    place = min(place, len(data) - 1)
    data[place] ^= flip
    path.write_bytes(data)
    hit, column = divmod(place, len(line_of(events[0])))
    is_line_end = column == len(line_of(events[0])) - 1
    touched = {hit, hit + 1} if is_line_end else {hit}
    spool = Spool(folder)
    assert drain(spool) == [each for number, each in enumerate(events) if number not in touched]
    assert spool.damaged_parts == 1
    spool.close()


def test_rubbish_in_the_folder_is_skipped(tmp_path: Path) -> None:
    for created_ms, content in enumerate((os.urandom(5000), b"", b"\n\n\n", bytes(4096))):
        (tmp_path / f"{created_ms:013d}-{uuid.uuid4()}.0.open").write_bytes(content)
    (tmp_path / f"{9:013d}-{uuid.uuid4()}.77777.open").write_bytes(event(1))
    (tmp_path / "notes.txt").write_text("not ours")
    spool = Spool(tmp_path)
    spool.put(event(2))
    assert (drain(spool), spool.damaged_parts) == ([event(2)], 3)
    spool.close()
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_full_spool_drops_the_newest_and_returns_how_many(tmp_path: Path) -> None:
    spool = Spool(tmp_path, SpoolOptions(max_bytes=10_000))
    lost = sum(spool.put(b"z" * 1000) for _ in range(20))
    assert (lost, len(drain(spool))) == (11, 9)


def test_a_full_spool_can_drop_the_oldest_instead(tmp_path: Path) -> None:
    spool = Spool(tmp_path, SpoolOptions(max_bytes=20_000, policy="drop_oldest"))
    events = [event(number, 1000) for number in range(100)]
    lost = sum(spool.put(each) for each in events)
    kept = drain(spool)
    assert kept == events[lost:]
    assert 0 < len(kept) <= 20


@pytest.mark.parametrize("policy", ["drop_newest", "drop_oldest"])
def test_delivered_events_take_no_space_from_new_ones(
    tmp_path: Path, policy: Literal["drop_newest", "drop_oldest"]
) -> None:
    spool = Spool(tmp_path, SpoolOptions(max_bytes=10_000, policy=policy))
    for size in (3000, 9000, 500, 9500, 9900):
        assert spool.put(event(1, size)) == 0
        assert drain(spool) == [event(1, size)]
    assert sum(path.stat().st_size for path in files(tmp_path)) <= 10_000
    spool.close()


def test_the_batch_in_delivery_is_never_dropped(tmp_path: Path) -> None:
    spool = Spool(tmp_path, SpoolOptions(max_bytes=20_000, policy="drop_oldest"))
    first = event(-1, 5000)
    spool.put(first)
    assert spool.peek(1) == (first,)
    lost = sum(spool.put(event(number, 2000)) for number in range(50))
    assert spool.adopted_events == 0
    spool.mark_delivered(1)
    rest = drain(spool)
    assert lost > 0
    assert rest == [event(number, 2000) for number in range(lost, 50)]


def test_a_deleted_folder_is_created_again(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    spool = Spool(folder)
    spool.put(event(1))
    shutil.rmtree(folder)
    spool.put(event(2))
    [path] = files(folder)
    assert path.read_bytes() == line_of(event(2))
    assert folder.stat().st_mode & 0o777 == 0o700
    assert drain(spool) == [event(1), event(2)]  # the first one is still readable through the open file
    spool.close()
    assert files(folder) == []


def test_events_wait_in_memory_while_the_disk_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The folder is replaced by a file, so that nothing can be created in it."""
    now = 100.0
    monkeypatch.setattr("colline.spool.queue.monotonic", lambda: now)
    folder = tmp_path / "spool"
    spool = Spool(folder, SpoolOptions(memory_events=2))
    spool.put(b"1")
    shutil.rmtree(folder)
    folder.write_text("not a folder")
    with caplog.at_level(logging.WARNING):
        assert [spool.put(line) for line in (b"2", b"3", b"4")] == [0, 0, 1]
        now += 2
        assert spool.put(b"5") == 1
    assert caplog.text.count("events wait in memory") == 1
    folder.unlink()
    assert spool.put(b"6") == 1  # the disk is not tried again at once
    now += 2
    assert spool.put(b"7") == 0
    assert (len(spool), spool.on_disk) == (4, 2)
    assert drain(spool) == [b"1", b"7", b"2", b"3"]
    spool.close()
    assert list(folder.iterdir()) == []


def test_events_left_at_close_are_still_counted_and_adopted_by_the_next_process(tmp_path: Path) -> None:
    first = Spool(tmp_path)
    for line in (b"1", b"2", b"3"):
        first.put(line)
    first.peek(1)
    first.mark_delivered(1)
    first.close()
    assert (len(first), first.on_disk) == (2, 2)
    second = Spool(tmp_path)
    assert second.adopted_events == 2
    assert drain(second) == [b"2", b"3"]
    second.close()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_used_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TransportError, match="as a spool: Not a directory") as caught:
        Spool(tmp_path / "file" / "spool")
    assert "choose a local folder" in str(caught.value.hint)


@pytest.mark.parametrize(("fsync", "expected"), [("never", 0), ("interval", 2), ("always", 10)])
def test_fsync_is_called_as_the_options_demand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fsync: Literal["never", "interval", "always"], expected: int
) -> None:
    calls: list[int] = []
    clock = iter(range(0, 10_000, 300))  # 0.3 s between two looks at the clock
    monkeypatch.setattr("colline.spool.segment._sync_data", calls.append)
    monkeypatch.setattr("colline.spool.queue.monotonic", lambda: next(clock) / 1000)
    spool = Spool(tmp_path, SpoolOptions(fsync=fsync))
    for number in range(10):
        assert spool.put(event(number)) == 0
    assert len(calls) == expected
    assert drain(spool) == [event(number) for number in range(10)]
