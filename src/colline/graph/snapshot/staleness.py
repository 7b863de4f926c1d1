"""What the lake's tables have and its snapshot has not yet: found by the commits in their logs, without opening them.

A publish is missed when an ingest is ended between its last commit and its snapshot. A reader then reads the tables
itself, into a snapshot of its own beside the lake, or says that there is more than it tells.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from colline.graph.answer import Row, counted
from colline.graph.snapshot.array_file import Arrays, write
from colline.graph.snapshot.publish import compose, current, read_tables
from colline.lake.layout import INCONSISTENT_MARKERS, REBUILD_VERSIONS

_QUIET = 5.0  # seconds without a commit, after which nobody is about to publish
_MOST_COMMITS = 200  # more are not looked into
_MOST_ROWS = 500_000  # nodes and edges that are read while somebody waits for an answer, about a second
_MOST_BYTES = 16 << 20


@dataclass(frozen=True)
class News:
    """Commits that a snapshot does not have: how many, the bytes they added, and whether they are whole and final."""

    commits: int
    size: int
    settled: bool

    def row(self) -> Row:
        """What an answer says of it, among what is unknown."""
        why = f"{counted(self.commits, 'newer commit')} of the lake's tables {'is' if self.commits == 1 else 'are'} not"
        return {"what": "newest events", "why": f"{why} in this answer; `colline ingest` publishes them", "count": 1}


def is_half_way(root: Path) -> bool:
    """Whether the tables do not fit together, because somebody is writing them or was ended while writing."""
    return any((root / name).exists() for name in INCONSISTENT_MARKERS)


def stamps(root: Path, tables: Mapping[str, int]) -> tuple[int, ...]:
    """What changes with every commit to the tables."""
    return tuple(_changed(root / name / "_delta_log") for name in tables)


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def news(root: Path, tables: Mapping[str, int]) -> News | None:
    """What was committed beyond the versions a snapshot is made of; None where that is nothing."""
    last = before_rebuild(_text(root / REBUILD_VERSIONS))
    newer = [
        path for name, version in tables.items() for path in _newer(root / name / "_delta_log", version, last(name))
    ]
    found = told([path.name for path in newer], lambda place: newer[place].read_text(encoding="utf-8"))
    if found is None or len(newer) > _MOST_COMMITS:
        return found
    quiet = time.time() - max(_changed(path) for path in newer) / 1e9 > _QUIET
    return replace(found, settled=quiet and not is_half_way(root))


def before_rebuild(text: str | None) -> Callable[[str], float]:
    """By table, the last version before the rebuild at work: what it writes is no news until it is done."""
    try:
        before = dict(json.loads(text)) if text else None
    except (ValueError, TypeError):
        before = None
    if before is None:
        return lambda _: math.inf
    return lambda name: -1 if before.get(name) is None else int(before[name])


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return None


def told(commits: Sequence[str], text_of: Callable[[int], str]) -> News | None:
    """What some commits add, each read by its place; None where they changed no row. Nothing is settled yet."""
    if len(commits) > _MOST_COMMITS:
        return News(len(commits), _MOST_BYTES + 1, settled=False)
    found = [_size(partial(text_of, place)) for place in range(len(commits))]
    sizes = [size for size in found if size is not None]
    return News(len(sizes), sum(sizes), settled=False) if sizes else None


def is_newer(commit: str, version: int, last: float) -> bool:
    """Whether a file of a table's log is a commit after a version, up to another."""
    number, _, kind = commit.partition(".")
    return kind == "json" and number.isdigit() and version < int(number) <= last


def _newer(log: Path, version: int, last: float) -> Iterator[Path]:
    """The commits of a table after a version, up to another."""
    try:
        found = list(log.iterdir())
    except OSError:
        return
    yield from (path for path in found if is_newer(path.name, version, last))


def _size(read: Callable[[], str]) -> int | None:
    """The bytes a commit added; None where it changed no row, as when small files are made one."""
    size, changes = 0, False
    try:
        for line in read().splitlines():
            action = json.loads(line)
            file = action.get("add") or action.get("remove") or {}
            changes = changes or bool(file.get("dataChange"))
            size += int((action.get("add") or {}).get("size") or 0)
    except (OSError, ValueError, AttributeError, TypeError):
        return _MOST_BYTES + 1  # not to be read, so not known to be nothing
    return size if changes else None


def caught_up(root: Path, held: Arrays, found: News) -> Arrays | None:
    """The tables as they are now, as arrays of our own; None where they are large, half written or still changing."""
    meta = held.meta
    small = meta["nodes"] + sum(meta["groups"].values()) <= _MOST_ROWS and found.size <= _MOST_BYTES
    if not small or not found.settled:
        return None
    arrays, facts = compose(read_tables(root))
    if news(root, facts["tables"]) is not None or is_half_way(root):
        return None
    # versions only grow, so their sum names this state of the tables, in every process that reads it
    name = f"{held.version.partition('+')[0]}+{sum(facts['tables'].values())}"
    import shutil
    import tempfile

    place = Path(tempfile.mkdtemp(prefix="colline-"))
    try:
        write(place / name, arrays, facts)
        return Arrays(place / name)
    finally:
        shutil.rmtree(place, ignore_errors=True)  # what is mapped stays


def is_published(root: Path) -> bool:
    """Whether the lake's snapshot has all that its tables have."""
    held = current(root)
    if held is None:
        return False
    held.close()
    return news(root, held.meta["tables"]) is None
