"""Reading and writing the lake's Delta tables: every write of a batch is stamped, so that a batch run twice is one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from delta.exceptions import DeltaConcurrentModificationException
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from colline.pipeline.tables import Table

APP_ID = "spark.databricks.delta.write.txnAppId"
VERSION = "spark.databricks.delta.write.txnVersion"


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
    # the lake that a rebuild takes ids from
    elder: Store | None = None

    def path(self, table: Table) -> str:
        """Where the table is."""
        return f"{self.lake.rstrip('/')}/{table.path}"

    def exists(self, table: Table) -> bool:
        """Whether the table has been made."""
        return bool(DeltaTable.isDeltaTable(self.spark, self.path(table)))

    def read(self, table: Table) -> DataFrame:
        """The table as it is now; empty when it has not been made yet."""
        if not self.exists(table):
            return empty(self.spark, table.columns)
        return self.spark.read.format("delta").load(self.path(table))

    def ids(self, table: Table, on: list[str]) -> DataFrame:
        """Ids by key: the table's own, and for a rebuild those that its keys had before."""
        own = self._keyed(table, on)
        if self.elder is None:
            return own
        before = self.elder._keyed(table, on)
        return own.unionByName(before.join(own.select(*on), on, "left_anti"))

    def _keyed(self, table: Table, on: list[str]) -> DataFrame:
        rows = self.read(table)
        live = rows.where("merged_into is null") if "merged_into" in rows.columns else rows
        return live.withColumn("key", F.lower("field")).select("id", *on) if "key" in on else live.select("id", *on)

    def top_id(self, table: Table) -> DataFrame:
        """The highest id ever given, as `top`; -1 when there is none."""
        own = self.read(table).agg(F.coalesce(F.max("id"), F.lit(-1)).alias("top"))
        return own if self.elder is None else own.unionByName(self.elder.top_id(table)).agg(F.max("top").alias("top"))

    def append(self, table: Table, rows: DataFrame) -> None:
        """Add rows; make the table first when it is not there."""
        writer = _shaped(rows, table).write.format("delta").mode("append")
        if table.parts:
            writer = writer.partitionBy(*table.parts)
        with self._stamped():
            writer.save(self.path(table))
        self.after_write(table.path)

    def merge(self, table: Table, rows: DataFrame, *, on: str, action: str | None = None) -> None:
        """Update the rows that match `on`, insert the others; rows whose `action` column is 'delete' go."""
        if not self.exists(table):
            self.append(table, rows if action is None else rows.where(F.col(action) != "delete"))
            return
        # computed once, and planned apart from the merge, which plans its source several times
        kept = cut(rows.select(*_columns(table), *([action] if action else [])))
        values = {name: f"s.{name}" for name in _names(table)}
        merge = DeltaTable.forPath(self.spark, self.path(table)).alias("t").merge(kept.alias("s"), on)
        if action:
            merge = merge.whenMatchedDelete(f"s.{action} = 'delete'")
            merge = merge.whenMatchedUpdate(set=values).whenNotMatchedInsert(f"s.{action} <> 'delete'", values=values)
        else:
            merge = merge.whenMatchedUpdate(set=values).whenNotMatchedInsert(values=values)
        with self._stamped():
            tried(merge.execute)
        self.after_write(table.path)

    @contextmanager
    def _stamped(self) -> Iterator[None]:
        if self.stamp is None:
            yield
            return
        self.spark.conf.set(APP_ID, self.stamp.app)
        self.spark.conf.set(VERSION, str(self.stamp.version))
        try:
            yield
        finally:
            self.spark.conf.unset(APP_ID)
            self.spark.conf.unset(VERSION)


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
    """The frame, computed now, with a plan of one leaf.

    Spark analyses the whole plan again for each step that is added to it, so a long chain costs its square. Cut where
    a frame is used more than once or where a chain has grown.
    """
    alone = frame.sparkSession.conf.get("spark.sql.shuffle.partitions") == "1"
    return (frame.coalesce(1) if alone else frame).localCheckpoint(eager=True)


def empty(spark: SparkSession, columns: str) -> DataFrame:
    """A frame of these columns without rows; `createDataFrame` would start a Python process for it."""
    fields = StructType.fromDDL(columns).fields
    return spark.range(0).select(*(F.lit(None).cast(f.dataType).alias(f.name) for f in fields))


def _names(table: Table) -> list[str]:
    return list(StructType.fromDDL(table.columns).names)


def _columns(table: Table) -> list[object]:
    return [F.col(f.name).cast(f.dataType).alias(f.name) for f in StructType.fromDDL(table.columns).fields]


def _shaped(rows: DataFrame, table: Table) -> DataFrame:
    """The rows with exactly the table's columns, in its order."""
    return rows.select(*_columns(table))
