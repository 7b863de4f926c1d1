"""Upkeep: small files made large, related rows side by side, old files and old rows taken away.

Safe while an ingest runs: Delta lets only one of two conflicting commits through, and both sides try again. What
answers are made of (gold, with its history) is never deleted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from colline.errors import LakeError
from colline.pipeline.files import Files, spelled
from colline.pipeline.session import session_for
from colline.pipeline.settings import upkeep_session
from colline.pipeline.store import FORGETS, Store, tried
from colline.pipeline.tables import BRONZE, COLUMNS, EDGES, OBSERVATIONS, QUARANTINE, READS, RUNS, TABLES, Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# table → columns whose rows are read together
CLUSTERED: dict[Table, tuple[str, ...]] = {
    EDGES: ("dataset_id", "job_id"),
    COLUMNS: ("dataset_id",),
    READS: ("dataset_id",),
    RUNS: ("job_name", "run_id"),
    OBSERVATIONS: ("content",),
}


@dataclass(frozen=True, slots=True)
class Keep:
    """For how many days things are kept; None is for ever."""

    landing: int | None = 7  # after it is in bronze
    bronze: int | None = None
    observations: int | None = None
    old_files: int = 7  # files that no current table version needs


@dataclass(frozen=True, slots=True)
class Maintained:
    """What an upkeep did."""

    lake: str
    compacted: dict[str, int] = field(default_factory=dict)  # table → files it had less afterwards
    landing_deleted: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


def maintain(lake: str, *, spark: SparkSession | None = None, keep: Keep | None = None) -> Maintained:
    """Compact, cluster, expire and vacuum the lake's tables."""
    keep = keep or Keep()
    with upkeep_session(spark or session_for()) as session:
        store, files = Store(session, spelled(lake)), Files(session)
        if not store.exists(BRONZE):
            raise LakeError(f"no lake at {lake}", hint="run `colline ingest` first, or check --lake")
        deleted = _landing(store, files, keep.landing) if keep.landing is not None else 0
        _expire(store, files, keep)
        there = [table for table in TABLES if store.exists(table)]
        compacted = {table.path: _compact(store, table) for table in there}
        for table in there:
            _vacuum(store, table, keep.old_files)
    return Maintained(lake, {path: n for path, n in compacted.items() if n}, deleted)


def _landing(store: Store, files: Files, days: int) -> int:
    """Delete landed files whose lines have been in bronze for so long; how many there were."""
    if files.exists(f"{store.lake}/_colline/pending"):
        return 0  # an interrupted batch will read its files again
    old = (
        store.read(BRONZE).where(f"received_at < current_timestamp() - interval {days} days").select("file").distinct()
    )
    count = 0
    for row in old.toLocalIterator():
        path = files.unescaped(row["file"])
        if files.exists(path):
            files.delete(path)
            count += 1
    return count


def _expire(store: Store, files: Files, keep: Keep) -> None:
    from delta.tables import DeltaTable

    for table in (BRONZE, QUARANTINE):
        if keep.bronze is not None and store.exists(table):
            target = DeltaTable.forPath(store.spark, store.path(table))
            tried(partial(target.delete, f"dt < current_date() - interval {keep.bronze} days"))
            # a rebuild would take for all what is only the rest
            files.write(f"{store.lake}/_colline/bronze.expired", str(keep.bronze))
    if keep.observations is not None and store.exists(OBSERVATIONS):
        _expire_observations(store, files, keep.observations)


def _expire_observations(store: Store, files: Files, days: int) -> None:
    """Old observations go, but for those with lineage: a late event may ask what it was."""
    from delta.tables import DeltaTable

    # without them nothing can be told anew from all that was ever said
    files.write(f"{store.lake}/{FORGETS}", str(days))
    target = DeltaTable.forPath(store.spark, store.path(OBSERVATIONS))
    old = f"shape is null and seen_at < current_timestamp() - interval {days} days"
    tried(partial(target.delete, old))


def _compact(store: Store, table: Table) -> int:
    from delta.tables import DeltaTable

    optimize = DeltaTable.forPath(store.spark, store.path(table)).optimize()
    columns = CLUSTERED.get(table)
    done = tried(lambda: optimize.executeZOrderBy(*columns) if columns else optimize.executeCompaction())
    metrics = done.select("metrics.numFilesRemoved", "metrics.numFilesAdded").first()
    return max(0, metrics["numFilesRemoved"] - metrics["numFilesAdded"]) if metrics else 0


def _vacuum(store: Store, table: Table, days: int) -> None:
    from delta.tables import DeltaTable

    # in the session of the upkeep alone
    store.spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false" if days < 7 else "true")
    DeltaTable.forPath(store.spark, store.path(table)).vacuum(days * 24)
