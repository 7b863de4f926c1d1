"""Run ids: UUIDs of version 7, which sort by time."""

from __future__ import annotations

import os
import time
from uuid import UUID


def run_id(milliseconds: int | None = None) -> str:
    """A new id for a run that started at that Unix time, or now."""
    at = time.time_ns() // 1_000_000 if milliseconds is None else milliseconds
    return _uuid7(at, os.urandom(10))


def is_run_id(text: str) -> bool:
    """Whether the text is a UUID of any version, as OpenLineage requires."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _uuid7(milliseconds: int, random_bytes: bytes) -> str:
    value = ((milliseconds & 0xFFFF_FFFF_FFFF) << 80) | int.from_bytes(random_bytes, "big")
    value = value & ~(0xF << 76) | (0x7 << 76)
    value = value & ~(0x3 << 62) | (0x2 << 62)
    return str(UUID(int=value))
