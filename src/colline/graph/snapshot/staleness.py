"""Finds commits of the lake's tables that its snapshot does not have, from the Delta logs alone.

An ingest that is killed between its last commit and its publish leaves such commits. A reader then builds a snapshot
of its own in a temporary folder, or reports that commits are missing.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from colline.errors import LakeError
from colline.graph.answer import count_of
from colline.graph.rows import Unknown
from colline.graph.snapshot.array_file import Arrays, write_unpublished
from colline.graph.snapshot.publish import compose, publish
from colline.graph.snapshot.snapshot_versions import open_current
from colline.lake.lake_folders import has_table
from colline.lake.layout import INCONSISTENT_MARKERS, REBUILD_VERSIONS
from colline.lake.lock import lock_local_lake
from colline.lake.tables import COLUMNS

_QUIET_SECONDS = 5.0  # after this time without a commit no ingest is about to publish
_MAX_COMMITS_READ = 200
_MAX_ROWS = 500_000  # nodes and edges that a reader builds a snapshot from, which takes about a second
_MAX_BYTES = 16 << 20

# reads a file of the Delta log by its position in a list
ReadCommit = Callable[[int], str]


@dataclass(frozen=True)
class UnpublishedCommits:
    """Commits that a snapshot does not have."""

    count: int
    added_bytes: int
    is_settled: bool = False  # no writer is at work, and the tables are consistent

    def row(self) -> Unknown:
        """The row that an answer contains under `unknown`."""
        why = f"{count_of(self.count, 'newer commit')} of the lake's tables {'is' if self.count == 1 else 'are'} not"
        return Unknown("newest events", f"{why} in this answer; `colline ingest` publishes them")


def is_inconsistent(root: Path) -> bool:
    """Whether the tables do not fit together, because a writer is at work or was killed."""
    return any((root / name).exists() for name in INCONSISTENT_MARKERS)


def log_stamps(root: Path, tables: Mapping[str, int]) -> tuple[int, ...]:
    """Values that change with every commit to the tables."""
    return tuple(_changed_ns(root / name / "_delta_log") for name in tables)


def _changed_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def unpublished_commits(root: Path, tables: Mapping[str, int]) -> UnpublishedCommits | None:
    """The commits after the table versions of a snapshot; None without such commits."""
    last = versions_before_rebuild(_read_text(root / REBUILD_VERSIONS))
    newer = [
        path
        for name, version in tables.items()
        for path in _log_files(root / name / "_delta_log")
        if is_newer_commit(path.name, version, last(name))
    ]
    found = summarize_commits(newer, lambda place: newer[place].read_text(encoding="utf-8"))
    if found is None:
        return None
    is_quiet = time.time() - max(map(_changed_ns, newer)) / 1e9 > _QUIET_SECONDS
    return replace(found, is_settled=is_quiet and not is_inconsistent(root))


def _log_files(log: Path) -> list[Path]:
    try:
        return list(log.iterdir())
    except OSError:
        return []


def versions_before_rebuild(text: str | None) -> Callable[[str], float]:
    """Returns, by table, the last version before a running rebuild: its commits count when it is finished."""
    try:
        before = dict(json.loads(text)) if text else None
    except (ValueError, TypeError):
        before = None
    if before is None:
        return lambda _: math.inf
    return lambda name: -1 if before.get(name) is None else int(before[name])


def _read_text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return None


def is_newer_commit(file: str, version: int, last: float) -> bool:
    """Whether a file of a Delta log is a commit after `version` and up to `last`."""
    number, _, kind = file.partition(".")
    return kind == "json" and number.isdigit() and version < int(number) <= last


def summarize_commits(commits: Sequence[object], read: ReadCommit) -> UnpublishedCommits | None:
    """The number and size of the commits that changed rows; None without such commits."""
    if len(commits) > _MAX_COMMITS_READ:
        return UnpublishedCommits(len(commits), _MAX_BYTES + 1)
    sizes = [size for place in range(len(commits)) if (size := _added_bytes(read, place)) is not None]
    return UnpublishedCommits(len(sizes), sum(sizes)) if sizes else None


def _added_bytes(read: ReadCommit, place: int) -> int | None:
    """The bytes that a commit added; None if it changed no row, as a compaction."""
    size, has_changes = 0, False
    try:
        for line in read(place).splitlines():
            action = json.loads(line)
            file = action.get("add") or action.get("remove") or {}
            has_changes = has_changes or bool(file.get("dataChange"))
            size += int((action.get("add") or {}).get("size") or 0)
    except (OSError, ValueError, AttributeError, TypeError):
        return _MAX_BYTES + 1  # unreadable, so it may have changed rows
    return size if has_changes else None


def build_from_tables(root: Path, held: Arrays, found: UnpublishedCommits) -> Arrays | None:
    """A snapshot of the tables as they are now, outside of the lake; None if they are large or still changing."""
    row_count = held.meta["nodes"] + sum(held.meta["groups"].values())
    if row_count > _MAX_ROWS or found.added_bytes > _MAX_BYTES or not found.is_settled:
        return None
    from colline.flat.flat_tables import read_flat

    arrays, meta = compose(*read_flat(root))
    if unpublished_commits(root, meta["tables"]) is not None or is_inconsistent(root):
        return None
    # versions only grow, so their sum identifies this state of the tables in every process
    return write_unpublished(f"{held.version.partition('+')[0]}+{sum(meta['tables'].values())}", arrays, meta)


def republish(root: Path) -> bool:
    """Publish the tables again if the current snapshot is damaged; False if they cannot be read or written now.

    The lake's lock is held, so that several readers publish once, and none while an ingest writes the tables.
    """
    try:
        with lock_local_lake(root):
            if is_published(root):
                return True
            if is_inconsistent(root) or not has_table(root, COLUMNS):
                return False
            publish(root)
    except (LakeError, OSError):
        return False
    return True


def is_published(root: Path) -> bool:
    """Whether the lake has a snapshot that is undamaged and has every commit of its tables."""
    try:
        held = open_current(root)
    except LakeError:
        return False
    if held is None:
        return False
    held.close()
    return unpublished_commits(root, held.meta["tables"]) is None
