"""Checks without Spark whether an ingest has nothing to do, for a lake and landing folders on this machine.

A finished ingest records which files it found. As long as no other file has landed, nothing was interrupted and no run
is due to become unfinished, Spark would not find anything either: it identifies landed files by their names.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from colline.config.kafka_connection import is_topic_address, parse_topic
from colline.lake import delta_log, layout
from colline.lake.location import hadoop_path, local_path
from colline.lake.lock import lock_local_lake
from colline.pipeline import unfinished
from colline.pipeline.ingest_report import IngestSummary
from colline.pipeline.sources import landing


def landed_files(folder: str) -> dict[str, Any] | None:
    """A description of the files in a landing folder, to be recorded after its ingest; None for a remote folder."""
    where = local_path(folder)
    if where is None or not Path(where).is_dir():
        return None
    names = sorted(os.fsencode(path.relative_to(where)) for path in Path(where).rglob("*") if path.is_file())
    digest = hashlib.sha256(b"\0".join(names)).hexdigest()
    return {"folder": str(Path(where).absolute()), "files": len(names), "names": digest}


def record_landed(lake: str, found: Iterable[Mapping[str, Any]]) -> None:
    """Record what a finished ingest found (`landed_files`, with the `checkpoint` of its stream)."""
    root = local_path(lake)
    if root is None:
        return
    known = {item["folder"]: item for item in _recorded_folders(Path(root))}
    known.update({item["folder"]: dict(item) for item in found})
    fresh = Path(root, f"{layout.LANDED_FILES}.{os.getpid()}")
    fresh.write_text(json.dumps(list(known.values())), encoding="utf-8")
    fresh.replace(Path(root, layout.LANDED_FILES))


def idle_summary(lake: str, named: tuple[str, ...] = ()) -> IngestSummary | None:
    """The result of an ingest that has nothing to do, without Spark; None if Spark must check.

    `named` are the landing folders or topics to read instead of the lake's own.
    """
    started = time.monotonic()
    wanted = landing_addresses(lake, named)
    if not is_idle(lake, (*wanted, *_resolved_folder(lake))):
        return None
    ignored = tuple(file for folder in wanted for file in landing.ignored_files(folder))
    return IngestSummary(lake, seconds=round(time.monotonic() - started, 3), ignored=ignored)


def landing_addresses(lake: str, named: tuple[str, ...]) -> tuple[str, ...]:
    """What an ingest reads: folders as Hadoop reads them, topics with their port."""
    addresses = (parse_topic(each).address if is_topic_address(each) else hadoop_path(each) for each in named)
    return tuple(addresses) or (f"{hadoop_path(lake)}/{layout.LANDING}",)


def _resolved_folder(lake: str) -> tuple[str, ...]:
    """The folder of resolved events of a local lake, if there is one."""
    where = local_path(lake)
    has_resolved = where is not None and Path(where, layout.RESOLVED).is_dir()
    return (f"{hadoop_path(lake)}/{layout.RESOLVED}",) if has_resolved else ()


def is_idle(lake: str, folders: Iterable[str]) -> bool:
    """Whether everything in the folders is in the lake and published. Raises if another process is writing."""
    root = local_path(lake)
    if root is None or not Path(root, layout.LANDED_FILES).is_file():
        return False
    with lock_local_lake(Path(root)):
        return _is_whole(Path(root)) and _has_all(Path(root), folders) and _is_published(Path(root))


def _has_all(root: Path, folders: Iterable[str]) -> bool:
    noted = {item["folder"]: item for item in _recorded_folders(root)}
    for folder in folders:
        found = landed_files(folder)
        before = noted.get(found["folder"]) if found else None
        if found is None or before is None or not Path(before["checkpoint"]).is_dir():
            return False
        if any(before[name] != found[name] for name in found):
            return False
    return True


def _is_whole(root: Path) -> bool:
    """Whether no batch and no rebuild was interrupted."""
    from colline.graph.snapshot.staleness import is_inconsistent

    return not is_inconsistent(root) and not any(root.glob(layout.recovery_marker("*")))


def _is_published(root: Path) -> bool:
    """Whether the snapshot has every table as it is now, and no run is due to become unfinished."""
    from colline.graph.snapshot.snapshot_versions import open_current
    from colline.graph.snapshot.staleness import is_published

    snapshot = open_current(root) if is_published(root) else None
    if snapshot is None:
        return False
    published = [path for path, version in snapshot.meta["tables"].items() if version >= 0]
    snapshot.close()
    due = datetime.now(timezone.utc) - unfinished.UNFINISHED_AFTER
    is_complete = all((root / path / "_delta_log").is_dir() for path in published)
    return is_complete and delta_log.has_open_runs(str(root), due) is False


def _recorded_folders(root: Path) -> list[dict[str, Any]]:
    try:
        found = json.loads((root / layout.LANDED_FILES).read_text())
        return [item for item in found if {"folder", "files", "names", "checkpoint"} <= set(item)]
    except (OSError, ValueError, TypeError):
        return []  # nothing is known, so that Spark must check
