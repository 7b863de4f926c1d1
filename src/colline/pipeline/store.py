"""Reading and writing the lake's Delta tables: every write of a batch is stamped, so that a batch run twice is one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

from delta.exceptions import DeltaConcurrentModificationException
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from colline.lake import delta_log
from colline.lake.tables import Table, fields_of
from colline.pipeline.threads import Threads

if TYPE_CHECKING:
    from colline.pipeline.elders import Elders


def nothing(_step: str) -> None:
    """The hook of a run that nobody watches."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which batch of which stream a write belongs to: Delta refuses to do the same stamp twice on a table."""

    app: str
    version: int


@dataclass(frozen=True, slots=True)
class Store:
    """The tables of one lake, seen from one session."""

    spark: SparkSession
    lake: str
    stamp: Stamp | None = None
    # called with a table's path after each write; a test ends the process here
    after_write: Callable[[str], None] = field(default=nothing)
    # old observations were taken away, so that nothing can be told anew from them
    forgets: bool = False
    # the ids that a rebuild takes over
    elders: Elders | None = None
    # tables that their first write replaces whole; until then they are as in a lake that is new
    anew: set[Table] = field(default_factory=set, compare=False)
    # which do the writes; without them, each is done when it is given
    threads: Threads | None = None

    @property
    def marker(self) -> str:
        """The batch's name in the rows it wrote."""
        return f"{self.stamp.app}/{self.stamp.version}" if self.stamp else ""

    def path(self, table: Table) -> str:
        """Where the table is."""
        return f"{self.lake.rstrip('/')}/{table.path}"

    def exists(self, table: Table) -> bool:
        """Whether the table has been made."""
        self._settle(table)
        if table in self.anew:
            return False
        seen = delta_log.exists(self.lake, table)
        return bool(DeltaTable.isDeltaTable(self.spark, self.path(table))) if seen is None else seen

    def read(self, table: Table) -> DataFrame:
        """The table as it is now; empty when it has not been made yet."""
        if not self.exists(table):
            return empty(self.spark, fields_of(table))
        return self.spark.read.format("delta").load(self.path(table))

    def known_ids(self, table: Table, rows: DataFrame, on: tuple[str, ...]) -> DataFrame:
        """The rows, with the id that each key had before a rebuild."""
        return rows if self.elders is None else self.elders.kept(table, rows, on)

    def top_id(self, table: Table, rows: DataFrame | None = None) -> DataFrame:
        """The highest id ever given, as `top`; -1 when there is none. `rows`: the table, where it has been read."""
        own = (self.read(table) if rows is None else rows).agg(F.coalesce(F.max("id"), F.lit(-1)).alias("top"))
        return own if self.elders is None else own.unionByName(self.elders.top(table)).agg(F.max("top").alias("top"))

    def append(self, table: Table, rows: DataFrame, *, split: bool = False) -> None:
        """Add rows; make the table first when it is not there. `split`: by as many tasks as the rows are in."""
        self._write(table, rows if split else in_one(rows), "append", {})

    def replace(self, table: Table, rows: DataFrame, where: str | None = None) -> None:
        """Put rows in the place of those of the parts that `where` tells, or of all; make the table if need be.

        A batch writes few parts. To write them whole is one plan and one job; Delta's MERGE is three of each, and
        writes the files it touches whole too.
        """
        if not self.exists(table):
            self.append(table, rows)
            return
        self._write(table, in_one(rows), "overwrite", {"replaceWhere": where} if where is not None else {})

    def _settle(self, table: Table) -> None:
        """Wait for the table's own write: who reads it afterwards reads what was written."""
        if self.threads is not None:
            self.threads.settle(table.path)

    def _write(self, table: Table, rows: DataFrame, mode: str, options: dict[str, str]) -> None:
        if table in self.anew and not self.exists(table):  # it may be split otherwise, and have other columns
            mode, options = "overwrite", {"overwriteSchema": "true"}
        shaped = rows.selectExpr(*_columns(table))
        if mode == "overwrite" and table.partitions and not is_small(self.spark):
            shaped = shaped.repartition(*table.partitions)
        writer = shaped.write.format("delta").mode(mode).options(**options, **self._stamped())
        if table.partitions:
            writer = writer.partitionBy(*table.partitions)

        def write() -> None:
            tried(lambda: writer.save(self.path(table)))
            self.anew.discard(table)
            self.after_write(table.path)

        self.threads.write(table.path, write) if self.threads is not None else write()

    def _stamped(self) -> dict[str, str]:
        return {} if self.stamp is None else {"txnAppId": self.stamp.app, "txnVersion": str(self.stamp.version)}


def tried(action: Callable[[], Any], times: int = 8) -> Any:
    """What the action gives, tried again when another writer's commit came between."""
    for attempt in range(times):
        try:
            return action()
        except DeltaConcurrentModificationException:
            if attempt + 1 == times:
                raise
            time.sleep(min(10.0, 0.5 * 2**attempt))
    raise AssertionError("unreachable")


def cut(frame: DataFrame) -> DataFrame:
    """The frame, computed now, with a plan of one leaf: for what is used more than once."""
    return in_one(frame).localCheckpoint(eager=True)


def in_one(frame: DataFrame) -> DataFrame:
    """The frame, in one task when the batch at work fits into one: joins and groups after it then move no rows."""
    return frame.coalesce(1) if is_small(frame.sparkSession) else frame


def together(*frames: DataFrame) -> DataFrame:
    """The rows of all frames, by the names of their columns."""
    return in_one(reduce(DataFrame.unionByName, frames))


def looked_up(frame: DataFrame) -> DataFrame:
    """The frame as the side of a join that is kept in memory: the rows of the other side need not be sorted."""
    return frame.hint("shuffle_hash")


def is_small(spark: SparkSession) -> bool:
    """Whether the batch at work fits into one task."""
    return bool(spark.conf.get("spark.sql.shuffle.partitions") == "1")


def empty(spark: SparkSession, fields: Mapping[str, str]) -> DataFrame:
    """A frame of these columns without rows, which Spark sees and plans nothing for.

    `createDataFrame` would start a Python process for it.
    """
    return (
        spark.range(0).where("false").selectExpr(*(f"cast(null as {kind}) as {name}" for name, kind in fields.items()))
    )


def _columns(table: Table) -> list[str]:
    """Exactly the table's columns, in its order."""
    return [f"cast({name} as {kind}) as {name}" for name, kind in fields_of(table).items()]
