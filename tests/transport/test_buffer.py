"""The buffer on disk: which events survive a restart, and what happens while the disk cannot be written."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest

from colline.errors import TransportError
from colline.transport import buffer as buffer_module
from colline.transport.buffer import SpoolBuffer, is_json


def drain(buffer: SpoolBuffer) -> list[bytes]:
    found: list[bytes] = []
    while len(buffer):
        batch = buffer.peek(2)
        found += batch
        buffer.mark_delivered(len(batch))
    return found


def test_events_wait_in_memory_while_the_disk_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The folder is replaced by a file, so that nothing can be created in it."""
    now = 100.0
    monkeypatch.setattr(buffer_module, "monotonic", lambda: now)
    folder = tmp_path / "spool"
    buffer = SpoolBuffer(folder, memory_capacity=2)
    buffer.put(b"1")
    shutil.rmtree(folder)
    folder.write_text("not a folder")
    with caplog.at_level(logging.WARNING):
        assert [buffer.put(line) for line in (b"2", b"3", b"4")] == [0, 0, 1]
        now += 2
        assert buffer.put(b"5") == 1
    assert caplog.text.count("events wait in memory") == 1
    folder.unlink()
    assert buffer.put(b"6") == 1  # the disk is not tried again at once
    now += 2
    assert buffer.put(b"7") == 0
    assert (len(buffer), buffer.on_disk) == (4, 2)
    assert drain(buffer) == [b"1", b"7", b"2", b"3"]
    buffer.close()
    assert list(folder.iterdir()) == []


def test_events_left_at_close_are_still_counted_and_adopted_by_the_next_process(tmp_path: Path) -> None:
    first = SpoolBuffer(tmp_path)
    for line in (b"1", b"2", b"3"):
        first.put(line)
    first.peek(1)
    first.mark_delivered(1)
    first.close()
    assert (len(first), first.on_disk) == (2, 2)
    second = SpoolBuffer(tmp_path)
    assert second.adopted_events == 2
    assert drain(second) == [b"2", b"3"]
    second.close()
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_line_is_skipped_and_counted(tmp_path: Path) -> None:
    first = SpoolBuffer(tmp_path)
    for line in (b'{"n": 1}', b'{"n": 2}', b'{"n": 3}'):
        first.put(line)
    first.close()
    [path] = tmp_path.iterdir()
    path.write_bytes(path.read_bytes().replace(b'"n": 2}', b'"n": 2\0'))
    second = SpoolBuffer(tmp_path)
    assert (drain(second), second.damaged_parts) == ([b'{"n": 1}', b'{"n": 3}'], 1)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"n": 1}\n', True),
        (b'{"n": 1}{"n": 2}\n', False),
        (b'{"n": [1}\n', False),
        (b"\n", False),
        (b"[" * 9999, False),
    ],
)
def test_only_a_whole_json_text_is_an_event(line: bytes, expected: bool) -> None:
    assert is_json(line) is expected


def test_a_folder_that_cannot_be_used_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TransportError, match="as a spool: Not a directory") as caught:
        SpoolBuffer(tmp_path / "file" / "spool")
    assert "choose a local folder" in str(caught.value.hint)
