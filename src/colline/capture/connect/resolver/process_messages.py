"""Messages between a client and its resolver process: JSON after its length, over the process's stdin and stdout."""

from __future__ import annotations

import struct
from typing import Any, BinaryIO

import msgspec

from colline.capture.connect.recorded_plan import RecordedPlan, ResolvedPlan

_LENGTH = struct.Struct(">I")
MAX_FRAME_BYTES = 512 * 1024 * 1024


def write_message(stream: BinaryIO, message: RecordedPlan | ResolvedPlan) -> None:
    """Write one message."""
    content = msgspec.json.encode(message)
    stream.write(_LENGTH.pack(len(content)) + content)
    stream.flush()


def read_message(stream: BinaryIO, kind: type[Any]) -> Any:
    """The next message; EOFError if the stream has ended."""
    size = _LENGTH.unpack(_read_exactly(stream, _LENGTH.size))[0]
    if size > MAX_FRAME_BYTES:
        raise EOFError(f"a message of {size} bytes")
    return msgspec.json.decode(_read_exactly(stream, size), type=kind)


def _read_exactly(stream: BinaryIO, size: int) -> bytes:
    content = b""
    while len(content) < size:
        part = stream.read(size - len(content))
        if not part:
            raise EOFError
        content += part
    return content
