"""One spool file: what is in it after an append, who owns it, and what damage costs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colline.spool.segment import Segment, abandoned_segments
from tests.spool.other_process import other_process

LINES = [b'{"n":%d}\n' % number for number in range(8)]
LINE_BYTES = len(LINES[0])


def new_segment(folder: Path, lines: list[bytes] | None = None) -> Segment:
    segment = Segment.create(folder, sync=False)
    segment.append(LINES if lines is None else lines, sync=False)
    return segment


def abandoned_file(folder: Path, lines: list[bytes] | None = None) -> Path:
    """A file as a killed process leaves it."""
    segment = new_segment(folder, lines)
    segment.close()
    return segment.path


def adopt(path: Path) -> Segment:
    segment = Segment.adopt(path)
    assert segment is not None
    return segment


def without_line_ends(lines: list[bytes]) -> tuple[bytes, ...]:
    return tuple(line.rstrip(b"\n") for line in lines)


def test_the_file_contains_the_lines_and_nothing_else(tmp_path: Path) -> None:
    segment = new_segment(tmp_path)
    assert segment.path.read_bytes() == b"".join(LINES)
    assert segment.read(3) == without_line_ends(LINES[:3])
    assert segment.read(99) == without_line_ends(LINES)


def test_the_file_name_records_what_is_delivered(tmp_path: Path) -> None:
    segment = new_segment(tmp_path)
    segment.mark_delivered(3)
    segment.close()
    [path] = tmp_path.iterdir()
    assert path == segment.path
    assert path.name.endswith(f".{3 * LINE_BYTES}.open")
    adopted = adopt(path)
    assert adopted.read(99) == without_line_ends(LINES[3:])
    adopted.append([b"{}\n"], sync=True)
    assert path.read_bytes() == b"".join(LINES) + b"{}\n"


def test_a_file_belongs_to_one_process_until_it_dies(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from colline.spool import Segment\n"
        "segment = Segment.create(Path(sys.argv[1]), sync=False); segment.append([b'{}\\n'], sync=False)\n"
        "print('ready', flush=True); sys.stdin.read()\n"
    )
    with other_process(script, tmp_path):
        [path] = tmp_path.iterdir()
        assert Segment.adopt(path) is None
    first = adopt(path)
    assert first.read(1) == (b"{}",)
    assert Segment.adopt(path) is None


def test_a_new_file_is_never_taken_for_an_abandoned_one(tmp_path: Path) -> None:
    """Another process removes every empty file it can adopt, as fast as it can."""
    script = (
        "import sys; from pathlib import Path; from colline.spool.segment import abandoned_segments\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    for segment in abandoned_segments(Path(sys.argv[1])):\n"
        "        segment.remove() if not segment.waiting else print('stolen', flush=True)\n"
    )
    with other_process(script, tmp_path) as other:
        segments = [new_segment(tmp_path) for _ in range(500)]
        files = set(tmp_path.iterdir())
        other.kill()
        assert other.stdout is not None
        assert other.stdout.read() == ""
    assert files == {segment.path for segment in segments}


@pytest.mark.parametrize("sync", [False, True])
def test_append_fails_if_the_file_was_deleted(tmp_path: Path, sync: bool) -> None:
    segment = new_segment(tmp_path)
    segment.path.unlink()
    with pytest.raises(FileNotFoundError):
        segment.append([b"{}\n"], sync=sync)
    assert segment.read(99) == without_line_ends(LINES)


def test_append_fails_if_the_file_was_moved(tmp_path: Path) -> None:
    segment = new_segment(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    target = segment.path.rename(tmp_path / "elsewhere" / segment.path.name)
    with pytest.raises(FileNotFoundError):
        segment.append([b"{}\n"], sync=True)
    assert target.read_bytes() == b"".join(LINES)


def test_append_fails_if_the_folder_was_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    segment = new_segment(folder)
    folder.rename(tmp_path / "old")
    folder.mkdir()
    segment.path.write_bytes(b"")
    with pytest.raises(FileNotFoundError):
        segment.append([b"{}\n"], sync=True)


def test_a_write_that_fails_halfway_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """The process may write files of 100 bytes only; the kernel writes what fits and refuses the rest."""
    script = (
        "import resource, sys; from pathlib import Path; from colline.spool import Segment\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "segment = Segment.create(Path(sys.argv[1]), sync=False)\n"
        "segment.append([b'x' * 59 + b'\\n'], sync=True)\n"
        "for length in (60, 41, 30):\n"
        "    try: segment.append([b'y' * (length - 1) + b'\\n'], sync=True)\n"
        "    except OSError as error: print(error.strerror)\n"
        "    print(segment.path.stat().st_size, segment.size, len(segment.waiting))\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["File too large", "60 60 1", "File too large", "60 60 1", "90 90 2"]


@settings(deadline=None)  # the disk may be slow
@given(keep=st.integers(min_value=0, max_value=LINE_BYTES * len(LINES)))
def test_a_truncated_file_gives_every_line_before_its_end(tmp_path_factory: pytest.TempPathFactory, keep: int) -> None:
    path = abandoned_file(tmp_path_factory.mktemp("truncated"))
    os.truncate(path, keep)
    segment = adopt(path)
    whole, rest = divmod(keep, LINE_BYTES)
    assert segment.read(99) == without_line_ends(LINES[:whole])
    assert segment.damaged_parts == int(rest > 0)
    segment.close()


@settings(deadline=None)  # the disk may be slow
@given(start=st.integers(0, LINE_BYTES * len(LINES) - 1), length=st.integers(1, 40))
def test_a_lost_page_costs_the_lines_it_touched(
    tmp_path_factory: pytest.TempPathFactory, start: int, length: int
) -> None:
    path = abandoned_file(tmp_path_factory.mktemp("lost"))
    data = bytearray(path.read_bytes())
    end = min(start + length, len(data))
    data[start:end] = bytes(end - start)
    path.write_bytes(data)
    segment = adopt(path)
    # The line behind a lost line end is part of the same damaged line.
    last = end // LINE_BYTES if data[end - 1] == 0 and end % LINE_BYTES == 0 else (end - 1) // LINE_BYTES
    assert segment.read(99) == without_line_ends(LINES[: start // LINE_BYTES] + LINES[last + 1 :])
    assert segment.damaged_parts == 1
    segment.close()


@pytest.mark.parametrize("tail", [b"", b'{"n"', b"{}\0\0\0\n", bytes(4096), b'\0\n{"n":9}\n'])
def test_everything_behind_the_first_damaged_line_can_be_removed(tmp_path: Path, tail: bytes) -> None:
    path = abandoned_file(tmp_path)
    with path.open("ab") as file:
        file.write(tail)
    segment = adopt(path)
    segment.truncate_at_damage()
    assert path.read_bytes() == b"".join(LINES)
    assert segment.read(99) == without_line_ends(LINES)
    assert segment.size == path.stat().st_size


def test_other_files_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    path = abandoned_file(tmp_path)
    for name in ("notes.txt", "rubbish.open", "1-2.0.open", f"9{path.name}", f"{path.name}.part"):
        (tmp_path / name).write_text("{}\n")
    path.with_name(path.name.replace(".0.", ".1.")).mkdir()
    assert [segment.path for segment in abandoned_segments(tmp_path)] == [path]
