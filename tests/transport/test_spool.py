"""The spool on disk: order, adoption, damage, bounds. Deaths of real processes are in test_faults.py."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colline.errors import TransportError
from colline.transport.segment import MARK, OVERHEAD, SUFFIX
from colline.transport.spool import Spool, SpoolRules

HEAD = 24  # bytes before a file's first record
LENGTHS = st.lists(st.integers(min_value=0, max_value=200), min_size=1, max_size=8)


def drained(spool: Spool) -> list[bytes]:
    found: list[bytes] = []
    while len(spool):
        batch = spool.peek(7)
        found += batch
        spool.done(len(batch))
    return found


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{SUFFIX}"))


def left_by_a_dead_process(folder: Path, lines: list[bytes], delivered: int = 0) -> None:
    """A spool as it is on disk when its process was killed."""
    spool = Spool(folder)
    for line in lines:
        spool.put(line)
    if delivered:
        spool.peek(delivered)
        spool.done(delivered)
    spool.forget()  # closes the files and unlocks them without tidying up, as death does


def left_after_a_drain(folder: Path, old: list[bytes], new: list[bytes]) -> Path:
    """The one file of a process that delivered everything, wrote again, and was killed."""
    spool = Spool(folder)
    for line in old:
        spool.put(line)
    assert drained(spool) == old
    for line in new:
        spool.put(line)
    spool.forget()
    [path] = files(folder)
    return path


def test_events_come_out_in_the_order_they_went_in_and_nothing_stays(tmp_path: Path) -> None:
    spool = Spool(tmp_path, SpoolRules(max_bytes=1 << 20))
    lines = [f'{{"n":{number}}}'.encode() * 300 for number in range(300)]
    assert [spool.put(line) for line in lines] == [0] * 300
    assert len(files(tmp_path)) > 3
    assert drained(spool) == lines
    spool.close()
    assert files(tmp_path) == []


def test_the_next_process_adopts_what_is_not_delivered(tmp_path: Path) -> None:
    left_by_a_dead_process(tmp_path, [b"a", b"b", b"c", b"d"], delivered=2)
    spool = Spool(tmp_path)
    assert spool.adopted == 2
    assert drained(spool) == [b"c", b"d"]
    spool.close()
    assert files(tmp_path) == []


def test_two_live_processes_never_share_a_segment(tmp_path: Path) -> None:
    code = (
        "import sys; from colline.transport.spool import Spool; s = Spool(sys.argv[1]); s.put(b'theirs');"
        "print('ready', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "ready\n"
    spool = Spool(tmp_path)
    spool.put(b"mine")
    spool.tend()
    assert (spool.adopted, drained(spool)) == (0, [b"mine"])
    other.kill()
    other.wait()
    spool.tend()
    assert (spool.adopted, drained(spool)) == (1, [b"theirs"])


@given(keep=st.integers(min_value=0, max_value=420))
def test_a_file_cut_anywhere_gives_every_event_before_the_cut(
    tmp_path_factory: pytest.TempPathFactory, keep: int
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    lines = [b"x" * 30 + b"%d" % number for number in range(8)]
    left_by_a_dead_process(folder, lines)
    [path] = files(folder)
    size = path.stat().st_size
    os.truncate(path, min(keep, size))
    spool = Spool(folder)
    whole, rest = divmod(max(0, min(keep, size) - HEAD), OVERHEAD + 31)
    torn = rest > 0 and whole < len(lines)  # behind the last event there is only the end
    assert drained(spool) == lines[:whole]
    assert spool.cut == int(torn)
    spool.close()


@given(place=st.integers(min_value=HEAD, max_value=420), flip=st.integers(min_value=1, max_value=255))
def test_a_flipped_byte_costs_one_event_and_is_counted(
    tmp_path_factory: pytest.TempPathFactory, place: int, flip: int
) -> None:
    folder = tmp_path_factory.mktemp("flip")
    lines = [b"y" * 30 + b"%d" % number for number in range(8)]
    left_by_a_dead_process(folder, lines)
    [path] = files(folder)
    data = bytearray(path.read_bytes())
    place = min(place, len(data) - 1)
    data[place] ^= flip
    path.write_bytes(data)
    spool = Spool(folder)
    hit = (place - HEAD) // (OVERHEAD + 31)
    assert drained(spool) == [line for number, line in enumerate(lines) if number != hit]
    assert spool.cut == 1
    spool.close()


@given(before=LENGTHS, after=LENGTHS)
def test_a_file_written_again_gives_only_its_new_events(
    tmp_path_factory: pytest.TempPathFactory, before: list[int], after: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("again")
    old, new = ([letter * length for length in lengths] for letter, lengths in ((b"o", before), (b"n", after)))
    left_after_a_drain(folder, old, new)
    spool = Spool(folder)
    assert (drained(spool), spool.cut) == (new, 0)
    spool.close()


def test_a_write_torn_over_old_events_costs_nothing_but_itself(tmp_path: Path) -> None:
    path = left_after_a_drain(tmp_path, [b"o" * 300, b"o" * 300], [b"new"])
    with path.open("r+b") as file:  # the next record came no further than its first bytes: old ones stand behind it
        file.seek(HEAD + OVERHEAD + 3)
        file.write(MARK)
    spool = Spool(tmp_path)
    assert (drained(spool), spool.cut) == ([b"new"], 1)
    spool.close()


def test_a_damaged_head_delivers_again_rather_than_lose(tmp_path: Path) -> None:
    left_by_a_dead_process(tmp_path, [b"a", b"b"], delivered=1)
    [path] = files(tmp_path)
    data = bytearray(path.read_bytes())
    data[9] ^= 0xFF
    path.write_bytes(data)
    assert drained(Spool(tmp_path)) == [b"a", b"b"]


def test_rubbish_in_the_folder_is_never_fatal(tmp_path: Path) -> None:
    (tmp_path / f"0-rubbish{SUFFIX}").write_bytes(os.urandom(5000))
    (tmp_path / f"1-empty{SUFFIX}").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("not ours")
    spool = Spool(tmp_path)
    spool.put(b"a")
    assert (drained(spool), spool.cut) == ([b"a"], 1)
    assert (tmp_path / "notes.txt").exists()


def test_a_full_spool_drops_the_newest_and_says_how_many(tmp_path: Path) -> None:
    spool = Spool(tmp_path, SpoolRules(max_bytes=10_000))
    lost = sum(spool.put(b"z" * 1000) for _ in range(20))
    kept = drained(spool)
    assert (lost, len(kept)) == (11, 9)


def test_a_full_spool_can_drop_the_oldest_instead(tmp_path: Path) -> None:
    spool = Spool(tmp_path, SpoolRules(max_bytes=20_000, policy="drop_oldest"))
    lines = [b"%03d" % number + b"z" * 997 for number in range(100)]
    lost = sum(spool.put(line) for line in lines)
    kept = drained(spool)
    assert kept == lines[lost:]
    assert 0 < len(kept) <= 20


def test_the_batch_under_way_is_never_the_one_that_gives_way(tmp_path: Path) -> None:
    spool = Spool(tmp_path, SpoolRules(max_bytes=20_000, policy="drop_oldest"))
    spool.put(b"first" + b"z" * 5000)
    flying = spool.peek(1)
    for number in range(50):
        spool.put(b"%d" % number + b"z" * 2000)
    assert spool._flying is not None
    assert spool._flying.peek(1) == flying
    spool.done(1)


def test_a_folder_that_cannot_be_made_is_a_loud_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TransportError, match="as a spool"):
        Spool(tmp_path / "file" / "spool")


@pytest.mark.parametrize("fsync", ["never", "interval", "always"])
def test_every_fsync_rule_keeps_events(tmp_path: Path, fsync: Literal["never", "interval", "always"]) -> None:
    spool = Spool(tmp_path, SpoolRules(fsync=fsync))
    for number in range(5):
        assert spool.put(b"%d" % number) == 0
    assert drained(spool) == [b"0", b"1", b"2", b"3", b"4"]
