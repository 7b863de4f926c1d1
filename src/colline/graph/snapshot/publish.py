"""Publishing a snapshot of the lake's tables, finding the current one, cleaning old ones never in use."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any

import numpy as np

from colline.errors import LakeError
from colline.graph.snapshot.array_file import FORMAT, Arrays, write
from colline.lake.layout import CURRENT_SNAPSHOT, SNAPSHOT

fcntl: Any
try:
    import fcntl
except ImportError:  # no file locks on this platform: nothing is cleaned there, because nothing can be known to be free
    fcntl = None

KEEP = 2  # the current snapshot and the one before it, for a reader that has just read CURRENT


@dataclass(frozen=True)
class SnapshotInfo:
    """What was published: its name, where it lies, what it holds, and which table versions it came from."""

    version: str
    path: Path
    columns: int
    edges: int
    tables: dict[str, int]
    seconds: float


def lake_path(lake: str | Path) -> Path:
    """The local folder of a lake; a `file:` address is one too."""
    text = str(lake)
    if text.startswith("file:"):
        text = "/" + text.removeprefix("file:").lstrip("/")
    elif "://" in text:
        raise LakeError(
            f"the lake {text} is not on a local or mounted file system", hint="open a folder of this machine"
        )
    return Path(text).expanduser()


def publish(lake: str | Path) -> SnapshotInfo:
    """Make arrays of the tables as they are now and put them in the place of the ones before, in one rename."""
    began = time.monotonic()
    root = lake_path(lake)
    if not root.is_dir():
        raise LakeError(f"no lake at {root}", hint="run `colline ingest` first, or check --lake")
    arrays, meta = compose(read_tables(root))
    name = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S%fZ")
    building = root / SNAPSHOT / f".building-{uuid.uuid4().hex}"
    try:
        write(building, arrays, meta)
        building.rename(root / SNAPSHOT / name)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    point(root, name)
    clean(root)
    edges = sum(meta["observed"].values())
    seconds = time.monotonic() - began
    return SnapshotInfo(name, root / SNAPSHOT / name, meta["columns"], edges, meta["tables"], seconds)


def read_tables(root: Path) -> dict[str, tuple[Any, int]]:
    """The tables a snapshot is made of, each with its version; edges before columns, which are there first."""
    from colline.lake.table_reader import read_answer_table
    from colline.lake.tables import COLUMNS, COVERAGE, DATASETS, EDGES, JOBS, READS

    order = (EDGES, READS, COVERAGE, JOBS, COLUMNS, DATASETS)
    return {table.path: read_answer_table(root, table) for table in order}


def compose(read: dict[str, tuple[Any, int]]) -> tuple[Any, dict[str, Any]]:
    """Everything a snapshot holds: its arrays, and the facts about them."""
    from colline.graph.snapshot import edge_arrays, nested_fields, node_arrays

    column_table = read["gold/columns"][0]
    out, owners = node_arrays.datasets(read["silver/datasets"][0], column_table)
    datasets = len(np.asarray(out["dataset.id"]))
    column_arrays, order, homeless = node_arrays.columns(column_table, owners, datasets)
    job_arrays, job_order = node_arrays.jobs(read["gold/jobs"][0])
    count = len(order.ids)
    told, texts, dangling = edge_arrays.edge_columns(read["gold/edges"][0], order, job_order)
    nested = {name: array for name, array in column_arrays.items() if name.startswith("nested.")}
    every = nested_fields.with_implied(told, nested)
    edges, groups = edge_arrays.edges(every, count)
    out |= column_arrays | job_arrays | texts | edges
    out |= node_arrays.reads(read["gold/reads"][0], order, job_order, count)
    out |= node_arrays.coverage(read["gold/coverage"][0], owners, job_order)
    out["node.level"], cyclic = node_arrays.levels(out, count)
    out["node.up"], out["node.down"] = (
        edge_arrays.neighbour_counts(out, groups, count, forward=way) for way in (False, True)
    )
    meta = {
        "tables": {name: version for name, (_, version) in read.items()},
        "published": time.time_ns() // 1000,
        "nodes": count,
        "columns": int(count - np.count_nonzero(np.asarray(out["node.rows"]))),
        "datasets": datasets,
        "jobs": len(job_order.ids),
        "groups": groups,
        "observed": {name: size - _implied(edges, name) for name, size in groups.items()},
        "nested": "nested.members.start" in out,
        "cyclic": cyclic,
        "dangling": dangling + homeless,
        **_horizon(out),
    }
    return out, meta


def _implied(arrays: Any, group: str) -> int:
    """How many edges of a group nobody told, because they follow from others."""
    return int(np.count_nonzero(arrays[f"{group}.implied"])) if f"{group}.implied" in arrays else 0


def _horizon(out: Any) -> dict[str, int | None]:
    """The first and the last moment the lake knows anything about."""
    from colline.graph.snapshot.array_file import NEVER, UNKNOWN

    since = out["node.since"]
    firsts = since[since != UNKNOWN]
    lasts = [
        int(t)
        for name in ("node.seen", "dataset.last_seen", "job.last_ended", "job.last_started", "read.last")
        for t in [out[name].max(initial=UNKNOWN)]
        if t not in (UNKNOWN, NEVER)
    ]
    return {"first": int(firsts.min()) if len(firsts) else None, "last": max(lasts, default=None)}


def pointed(root: Path) -> str | None:
    """The name of the version to use; None where nothing was published yet."""
    try:
        return (root / CURRENT_SNAPSHOT).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        hint = f"this user must be able to read {root / SNAPSHOT}"
        raise LakeError(f"cannot read the snapshot of {root}: {error.strerror}", hint=hint) from error


def point(root: Path, name: str) -> None:
    """Use that version from now on."""
    pointer = root / CURRENT_SNAPSHOT
    fresh = pointer.with_name(f".{pointer.name}-{uuid.uuid4().hex}")
    with fresh.open("w", encoding="utf-8") as file:
        file.write(name)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(pointer)


def stamp(root: Path) -> tuple[int, int] | None:
    """What changes when a new snapshot is published: cheap to ask before every answer."""
    try:
        found = os.stat(f"{root}/{CURRENT_SNAPSHOT}")  # noqa: PTH116 - a path object costs more than the question
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino


def current(root: Path) -> Arrays | None:
    """The arrays to answer from, held against cleaning; None where nothing was published yet in today's format."""
    for _ in range(100):
        name = pointed(root)
        if name is None:
            return None
        # a publisher may have replaced and cleaned it between reading the name and holding the lock: ask again
        with contextlib.suppress(FileNotFoundError):
            folder = root / SNAPSHOT / name
            lock = _hold(folder)
            arrays = Arrays(folder, lock)
            return arrays if arrays.meta["format"] == FORMAT else None
    raise LakeError(f"the snapshot {name!r} that {root / CURRENT_SNAPSHOT} names is not there", hint="publish it again")


def _hold(folder: Path) -> IO[bytes]:
    lock = (folder / "LOCK").open("rb")
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


def clean(root: Path) -> list[str]:
    """Remove all but the newest snapshots; one that some process still reads is left for the next time."""
    if fcntl is None:
        return []
    used = pointed(root)
    names = sorted(p.name for p in (root / SNAPSHOT).iterdir() if p.is_dir() and not p.name.startswith("."))
    return [name for name in names[:-KEEP] if name != used and _remove(root / SNAPSHOT / name)]


def _remove(folder: Path) -> bool:
    with _alone(folder) as free:
        if free:
            dead = folder.with_name(f".dead-{folder.name}")
            folder.rename(dead)
            shutil.rmtree(dead, ignore_errors=True)
    return free


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Whether nobody else holds the folder, true for as long as the block runs."""
    try:
        lock = (folder / "LOCK").open("rb")
    except OSError:
        yield False
        return
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
