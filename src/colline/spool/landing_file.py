"""Turns spool files into landing files: `landing/dt=YYYY-MM-DD/{epoch_ms}-{uuid}-{n}events.ndjson`."""

from __future__ import annotations

import errno
import os
import shutil
from datetime import datetime, timezone
from pathlib import Path

from colline.spool.segment import Segment, abandoned_segments, make_folder, sync_folder

_NO_HARD_LINKS = (errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)


def land(segment: Segment, landing: Path, outbox: Path | None = None) -> Path | None:
    """Move a segment to the landing folder and close it. None if it was empty; then it is deleted.

    With an `outbox`, the file gets a name there first, so that a kill in between leaves it in the spool.

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
        if outbox is not None:
            _add_name(segment.path, outbox / target.name)
        make_folder(target.parent)
        segment.path.rename(target)
        sync_folder(target.parent)
        sync_folder(segment.path.parent)
        return target
    finally:
        segment.close()


def land_abandoned(folder: Path, landing: Path, outbox: Path | None = None) -> list[Path]:
    """Move the segments that dead processes left. Returns the landing files."""
    targets = [land(segment, landing, outbox) for segment in abandoned_segments(folder)]
    return [target for target in targets if target is not None]


def _add_name(file: Path, name: Path) -> None:
    """Give a file a second name, or where the file system has no hard links, make a copy."""
    make_folder(name.parent)
    try:
        os.link(file, name)
    except FileExistsError:  # a process was killed after it had made the name
        return
    except PermissionError:
        _copy(file, name)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        _copy(file, name)
    sync_folder(name.parent)


def _copy(file: Path, name: Path) -> None:
    unfinished = name.with_name(f".{name.name}")
    with file.open("rb") as source, unfinished.open("wb") as target:
        shutil.copyfileobj(source, target)
        target.flush()
        os.fsync(target.fileno())
    unfinished.rename(name)
