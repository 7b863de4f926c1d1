"""Turns spool files into landing files: `landing/dt=YYYY-MM-DD/{epoch_ms}-{uuid}-{n}events.ndjson`."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

from colline.spool.segment import Segment, abandoned_segments, make_folder, sync_folder


def land(segment: Segment, landing: Path) -> Path | None:
    """Move a segment to the landing folder and close it. None if it was empty; then it is deleted.

    If this raises OSError the file stays in the spool, and `land_abandoned` tries again.
    """
    try:
        if not segment.waiting:
            segment.remove()
            return None
        day = datetime.fromtimestamp(segment.created_ms / 1000, timezone.utc)
        target = landing / f"dt={day:%Y-%m-%d}" / f"{segment.id}-{len(segment.waiting)}events.ndjson"
        make_folder(target.parent)
        segment.path.rename(target)
        sync_folder(target.parent)
        sync_folder(segment.path.parent)
        return target
    finally:
        segment.close()


def land_abandoned(folder: Path, landing: Path) -> list[Path]:
    """Move the segments that dead processes left. Returns the landing files.

    The receiver writes a group of lines only after the group before it was synced. So nothing behind a damaged line was
    ever acknowledged, and it is removed.
    """
    landed = []
    for segment in abandoned_segments(folder):
        segment.truncate_at_damage()
        target = land(segment, landing)
        if target is not None:
            landed.append(target)
    return landed
