"""Whether an ingest has nothing or little to do, told without Spark: a lake and its landing folders on this machine.

An ingest that went to its end writes down which files it found. While no other name has come, nothing was left half
done and nothing is due, there is nothing that Spark could find either: it knows landed files by their names.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from colline.lake import delta_log, layout
from colline.lake.location import local_path
from colline.lake.lock import lock_local_lake
from colline.lake.tables import TABLES, fields_of
from colline.pipeline import runs
from colline.pipeline.rebuild import STAGING
from colline.pipeline.upgrade import LAKE_VERSION, MARKER

NOTE = layout.LANDED_FILES
# Bytes that a JVM reads sooner than it has compiled all of its code well.
LITTLE = 64 * 1024 * 1024
# the folder whose batch was begun and not finished
PENDING = layout.PENDING_BATCH


def landed(folder: str) -> dict[str, Any] | None:
    """What is in a landing folder by now, to be noted when it is all in the lake; None where it is elsewhere."""
    where = local_path(folder)
    if where is None or not Path(where).is_dir():
        return None
    names = sorted(os.fsencode(path.relative_to(where)) for path in Path(where).rglob("*") if path.is_file())
    digest = hashlib.sha256(b"\0".join(names)).hexdigest()
    return {"folder": str(Path(where).absolute()), "files": len(names), "names": digest}


def note(lake: str, found: Iterable[Mapping[str, Any]]) -> None:
    """Write down what was found (`landed`, with its stream's `checkpoint`) by an ingest that went to its end."""
    root = local_path(lake)
    if root is None:
        return
    known = {item["folder"]: item for item in _noted(Path(root))}
    known.update({item["folder"]: dict(item) for item in found})
    fresh = Path(root, f"{NOTE}.{os.getpid()}")
    fresh.write_text(json.dumps(list(known.values())), encoding="utf-8")
    fresh.replace(Path(root, NOTE))


def is_idle(lake: str, folders: Iterable[str]) -> bool:
    """Whether all that has landed in the folders is in the lake, and told. Raises where another process writes."""
    root = local_path(lake)
    if root is None or not Path(root, NOTE).is_file():
        return False
    with lock_local_lake(Path(root)):
        return _is_whole(Path(root)) and _has_all(Path(root), folders) and _is_told(Path(root))


def is_little(lake: str, folders: Iterable[str]) -> bool:
    """Whether few bytes have landed since an ingest went to its end; not told of what is elsewhere."""
    places = [local_path(place) for place in (lake, *folders)]
    here = [Path(place) for place in places if place is not None]
    if len(here) < len(places):
        return False
    last = here[0] / NOTE
    since = last.stat().st_mtime if last.is_file() else 0.0
    return sum(_landed_since(since, folder) for folder in here[1:]) < LITTLE


def _landed_since(since: float, folder: Path) -> int:
    """How many bytes the files in a folder have that are not older."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # one that was being written has its name by now
            found = path.stat()
            size += found.st_size if path.is_file() and found.st_mtime >= since else 0
    return size


def _has_all(root: Path, folders: Iterable[str]) -> bool:
    noted = {item["folder"]: item for item in _noted(root)}
    for folder in folders:
        found = landed(folder)
        before = noted.get(found["folder"]) if found else None
        if found is None or before is None or not Path(before["checkpoint"]).is_dir():
            return False
        if any(before[name] != found[name] for name in found):
            return False
    return True


def _is_whole(root: Path) -> bool:
    """Whether no batch, rebuild or change of version was left half done."""
    from colline.graph.snapshot.staleness import is_inconsistent

    if is_inconsistent(root) or (root / STAGING).exists() or any(root.glob(layout.recovery_marker("*"))):
        return False
    with suppress(OSError, ValueError):
        return bool(json.loads((root / MARKER).read_text())["version"] == LAKE_VERSION)
    return False


def _is_told(root: Path) -> bool:
    """Whether the tables are as this version wants them, no run is unfinished by now, and the snapshot has it all."""
    from colline.graph.snapshot.staleness import is_published

    columns = (set(fields_of(table)) <= (delta_log.columns(str(root), table) or set()) for table in TABLES)
    due = datetime.now(timezone.utc) - runs.UNFINISHED_AFTER
    return all(columns) and delta_log.has_open_runs(str(root), due) is False and is_published(root)


def _noted(root: Path) -> list[dict[str, Any]]:
    try:
        found = json.loads((root / NOTE).read_text())
        return [item for item in found if {"folder", "files", "names", "checkpoint"} <= set(item)]
    except (OSError, ValueError, TypeError):
        return []  # nothing is known: Spark is asked
