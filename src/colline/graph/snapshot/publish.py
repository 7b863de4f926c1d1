"""Builds a snapshot from the lake's tables and publishes it."""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from colline.errors import LakeError
from colline.flat.integer_arrays import NEVER, UNKNOWN
from colline.graph.snapshot.array_file import SnapshotMeta, Values, write
from colline.graph.snapshot.snapshot_versions import delete_old_versions, set_current_version
from colline.lake.layout import SNAPSHOT
from colline.lake.location import local_path

if TYPE_CHECKING:
    import pyarrow as pa

VERSION_FORMAT = "%Y%m%dT%H%M%S%fZ"


@dataclass(frozen=True)
class SnapshotInfo:
    """A published version: its name, its folder, its size, and the table versions it was built from."""

    version: str
    path: Path
    columns: int
    edges: int
    tables: dict[str, int]
    seconds: float


def lake_path(lake: str | Path) -> Path:
    """The folder of a lake on this machine, given by a path or a `file:` address."""
    path = local_path(str(lake))
    if path is None:
        raise LakeError(f"the lake {lake} is not on a local or mounted file system", hint="pass a folder")
    return Path(path).expanduser()


def publish(lake: str | Path) -> SnapshotInfo:
    """Builds a snapshot of the tables as they are now and makes it the current one."""
    root = lake_path(lake)
    if not root.is_dir():
        raise LakeError(f"no lake at {root}", hint="run `colline ingest` first, or check --lake")
    built = build_version(root)
    make_current(root, built.version)
    return built


def build_version(root: Path) -> SnapshotInfo:
    """Builds a snapshot of the tables as they are now; readers do not use it yet."""
    from colline.flat.flat_tables import read_flat

    started = time.monotonic()
    arrays, meta = compose(*read_flat(root))
    name = datetime.now(timezone.utc).strftime(VERSION_FORMAT)
    building = root / SNAPSHOT / f".building-{uuid.uuid4().hex}"
    try:
        write(building, arrays, meta)
        building.rename(root / SNAPSHOT / name)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    edges = sum(meta["observed"].values())
    seconds = time.monotonic() - started
    return SnapshotInfo(name, root / SNAPSHOT / name, meta["columns"], edges, meta["tables"], seconds)


def make_current(root: Path, version: str) -> None:
    """Makes a version the one that readers use, and deletes old ones."""
    set_current_version(root, version)
    delete_old_versions(root)


def compose(
    rows: Mapping[str, pa.Table], versions: Mapping[str, int] | None = None
) -> tuple[dict[str, Values], SnapshotMeta]:
    """The arrays of a snapshot of the flat tables, and the facts about them."""
    from colline.graph.snapshot import edge_arrays, nested_fields, node_arrays

    out, datasets = node_arrays.dataset_arrays(rows["datasets"], rows["columns"])
    column_arrays, nodes, orphans = node_arrays.column_arrays(rows["columns"], datasets, len(out["dataset.id"]))
    job_arrays, jobs = node_arrays.job_arrays(rows["jobs"], datasets)
    node_count = len(nodes.ids)
    edges = edge_arrays.read_edges(rows["edges"], nodes, jobs)
    all_edges = nested_fields.with_implied(edges.columns, column_arrays)
    group_arrays, groups = edge_arrays.group_arrays(all_edges, node_count)
    out |= column_arrays | job_arrays | edges.strings | group_arrays
    out |= node_arrays.read_arrays(rows["reads"], nodes, jobs, node_count)
    out |= node_arrays.gap_arrays(rows["coverage"], datasets, jobs)
    out["node.level"], is_cyclic = edge_arrays.topological_levels(out, node_count)
    for name, forward in (("node.up", False), ("node.down", True)):
        out[name] = edge_arrays.neighbour_counts(out, node_count, forward=forward)
    meta = _meta(out, groups, is_cyclic=is_cyclic, dangling=edges.dangling + orphans)
    return out, {**meta, "tables": dict(versions or {})}


def _meta(arrays: Mapping[str, Values], groups: dict[str, int], *, is_cyclic: bool, dangling: int) -> SnapshotMeta:
    first, last = _first_and_last_time(arrays)
    nodes = len(arrays["node.id"])
    return SnapshotMeta(
        tables={},
        published=time.time_ns() // 1000,
        nodes=nodes,
        columns=int(nodes - np.count_nonzero(arrays["node.rows"])),
        datasets=len(arrays["dataset.id"]),
        jobs=len(arrays["job.id"]),
        groups=groups,
        observed={name: size - _implied_count(arrays, name) for name, size in groups.items()},
        nested="nested.members.start" in arrays,
        cyclic=is_cyclic,
        dangling=dangling,
        first=first,
        last=last,
    )


def _implied_count(arrays: Mapping[str, Values], group: str) -> int:
    """The number of edges of a group that were derived from others."""
    return int(np.count_nonzero(arrays[f"{group}.implied"])) if f"{group}.implied" in arrays else 0


def _first_and_last_time(arrays: Mapping[str, Values]) -> tuple[int | None, int | None]:
    """The first and the last time that occur in the lake."""
    since = arrays["node.since"]
    firsts = since[since != UNKNOWN]
    names = ("node.seen", "dataset.last_seen", "job.last_ended", "job.last_started", "read.last")
    lasts = [int(arrays[name].max(initial=UNKNOWN)) for name in names]
    last = max((time for time in lasts if time not in (UNKNOWN, NEVER)), default=None)
    return (int(firsts.min()) if len(firsts) else None), last
