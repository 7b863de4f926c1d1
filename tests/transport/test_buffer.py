"""The buffer on disk skips what a crash damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from colline.transport.buffer import is_json, open_spool


def test_a_damaged_line_is_skipped_and_counted(tmp_path: Path) -> None:
    first = open_spool(tmp_path)
    for line in (b'{"n": 1}', b'{"n": 2}', b'{"n": 3}'):
        first.put(line)
    first.close()
    [path] = tmp_path.iterdir()
    path.write_bytes(path.read_bytes().replace(b'"n": 2}', b'"n": 2\0'))
    second = open_spool(tmp_path)
    assert (second.peek(9), second.damaged_parts) == ((b'{"n": 1}', b'{"n": 3}'), 1)
    second.close()


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
