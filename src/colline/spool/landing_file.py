"""Turns spool files into landing files: `landing/dt=YYYY-MM-DD/{epoch_ms}-{uuid}-{n}events.ndjson`."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

from colline.spool.segment import Segment, abandoned_segments, make_folder, sync_folder


def land(segment: Segment, landing: Path) -> Path | None:
    """Move a segment to the landing folder and close it. None if it was empty; then it is deleted.

    The receiver writes a group of lines only after the group before it was synced. So nothing behind a damaged line was
    ever acknowledged, and it is removed. On OSError the file stays in the spool, and `land_abandoned` tries again.
    """
    try:
        segment.truncate_at_damage()
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
    """Move the segments that dead processes left. Returns the landing files."""
    targets = [land(segment, landing) for segment in abandoned_segments(folder)]
    return [target for target in targets if target is not None]
