"""Silver and gold again from bronze, under the rules of now, with the ids of before.

The new tables are made beside the lake's and put in their place one by one, each in one Delta commit. A rebuild that
is killed while it makes them leaves the lake as it was; one that is killed while it puts them in place is finished by
whoever writes next.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colline.errors import LakeError
from colline.pipeline.batch import derive
from colline.pipeline.files import Files, local_path, spelled
from colline.pipeline.lock import held
from colline.pipeline.settings import pipeline_session
from colline.pipeline.store import Store, nothing
from colline.pipeline.tables import BRONZE, TABLES, Table
from colline.pipeline.work import Options, Work

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STAGING = "_colline/rebuild"
READY = "_colline/rebuild.ready"
# how many tables are put in place at the same time
AT_ONCE = 3
# bytes become text again as they are
LINE = ("cast(raw as string) as raw", "file", "position", "received_at")
# bronze is what a rebuild reads; everything else is made again
REBUILT = tuple(table for table in TABLES if not table.path.startswith("bronze/"))


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild read."""

    lake: str
    events: int
    quarantined: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


def rebuild(
    lake: str,
    *,
    spark: SparkSession | None = None,
    options: Options | None = None,
    wrote: Callable[[str], None] = nothing,
) -> Rebuilt:
    """Make silver and gold again from every line that ever landed."""
    where = local_path(lake)
    if where is not None and not Path(where).is_dir():
        raise LakeError(f"no lake at {lake}", hint="check --lake")
    with held(lake, spark) as given, pipeline_session(given) as session:
        rebuilt = rebuild_locked(spelled(lake), session, Files(session), options or Options(), wrote)
        if where is not None:
            from colline.graph.snapshot import publish

            publish(where)
    return rebuilt


def rebuild_locked(
    lake: str, spark: SparkSession, files: Files, options: Options, wrote: Callable[[str], None] = nothing
) -> Rebuilt:
    """The rebuild itself, by whoever holds the lake's lock."""
    started = time.monotonic()
    finish(lake, spark, files, wrote)
    store = Store(spark, lake)
    if not store.exists(BRONZE):
        raise LakeError(f"{lake} has no bronze table", hint="run `colline ingest` first")
    files.delete(f"{lake}/{STAGING}")
    staged = Store(spark, f"{lake}/{STAGING}", after_write=wrote, elder=store)
    work = Work(staged, store.read(BRONZE).selectExpr(*LINE), options)
    try:
        counts = derive(work)
    finally:
        work.close()
    files.write(f"{lake}/{READY}", "")
    finish(lake, spark, files, wrote)
    return Rebuilt(lake, counts.events, counts.quarantined, round(time.monotonic() - started, 3))


def finish(lake: str, spark: SparkSession, files: Files, wrote: Callable[[str], None] = nothing) -> None:
    """Put the tables of a finished rebuild in place, when one is waiting."""
    if not files.exists(f"{lake}/{READY}"):
        return
    store, staged = Store(spark, lake), Store(spark, f"{lake}/{STAGING}")

    def put(table: Table) -> None:
        if staged.exists(table):
            writer = staged.read(table).write.format("delta").mode("overwrite").option("overwriteSchema", "true")
            writer.partitionBy(*table.parts).save(store.path(table))
            wrote(table.path)

    # a small write is mostly waiting: for a plan, for a log, for a file
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for done in [threads.submit(put, table) for table in REBUILT]:
            done.result()
    files.delete(f"{lake}/{READY}")
    files.delete(f"{lake}/{STAGING}")
