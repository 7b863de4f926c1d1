"""Runs → versions → edges: which lineage was true when.

Runs of one (job, output dataset) that share the run at the top are one version: an application that appends from ten
branches, or a command and its write. An overwrite that begins when everything before it in its group has ended starts
the next version. The last version's edges are current; an edge that the next version does not have is retired.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from colline.pipeline.store import cut

KEY = ("job_id", "dataset_id")
EDGE = ("source_id", "target_id", "type", "subtype", "masking", "description")
# An item is a run's write to a key, or (`is_past`) all that a version is known to have been so far.
ITEM = (*KEY, "run_id", "grp", "started", "first", "last", "overwrite", "shapes", "n", "is_past")


def with_epochs(items: DataFrame) -> DataFrame:
    """The items with `epoch`: how many overwrites began afresh in their group before them."""
    group = Window.partitionBy(*KEY, "grp").orderBy(F.desc("is_past"), "started", "last", "run_id")
    before = group.rowsBetween(Window.unboundedPreceding, -1)
    fresh = F.col("overwrite") & (F.col("started") >= F.max("last").over(before))
    return items.withColumn("fresh", F.coalesce(fresh, F.lit(False)).cast("int")).withColumn(
        "epoch", F.sum("fresh").over(group.rowsBetween(Window.unboundedPreceding, 0))
    )


def versions(items: DataFrame) -> DataFrame:
    """One row per version, in order (`v`), with the stretch of equal lineage it lies in (`stretch`) and the time at
    which what it has and the next one lacks is retired (`until`)."""
    each = items.groupBy(*KEY, "grp", "epoch").agg(
        F.min("started").alias("started"),
        F.min("first").alias("first"),
        F.max("last").alias("last"),
        F.array_sort(F.array_distinct(F.flatten(F.collect_list("shapes")))).alias("shapes"),
        F.sum("n").alias("n"),
        F.max(F.struct("last", "run_id")).alias("newest"),
    )
    each = cut(each)
    order = Window.partitionBy(*KEY).orderBy("last", "first", "grp", "epoch")
    next_first, next_last = F.lead("first").over(order), F.lead("last").over(order)
    changed = F.coalesce(F.lag("shapes").over(order) != F.col("shapes"), F.lit(False)).cast("int")
    return (
        each.withColumn("v", F.row_number().over(order))
        .withColumn("changed", changed)
        .withColumn("until", F.when(next_first > F.col("last"), next_first).otherwise(next_last))
        .withColumn("is_last", next_last.isNull())
        .withColumn("stretch", F.sum("changed").over(order.rowsBetween(Window.unboundedPreceding, 0)))
        .drop("changed")
    )


def edges(items: DataFrame, version: DataFrame, facts: DataFrame, past: DataFrame) -> DataFrame:
    """The edges of the keys with when each was first and last seen and when it was retired.

    `facts` maps a key's shape to edges; `past` holds the open edges of the versions that came in as items.
    """
    place = version.select(*KEY, "grp", "epoch", "stretch")
    placed = items.join(place, [*KEY, "grp", "epoch"])
    spans = (
        placed.where(~F.col("is_past"))
        .select(*KEY, "stretch", F.explode("shapes").alias("shape"), "n", _seen("last", "run_id"))
        .groupBy(*KEY, "stretch", "shape")
        .agg(F.sum("n").alias("n"), F.min("seen").alias("first"), F.max("seen").alias("last"))
    )
    spans = cut(spans)
    now = spans.join(facts, [*KEY, "shape"]).select(*KEY, "stretch", *EDGE, "source_dataset_id", "n", "first", "last")
    then = placed.where("is_past").select(*KEY, "stretch").join(past, list(KEY))
    then = then.select(
        *KEY,
        "stretch",
        *EDGE,
        "source_dataset_id",
        F.col("runs").alias("n"),
        F.struct(F.col("first_seen").alias("at"), F.col("first_run").alias("run")).alias("first"),
        F.struct(F.col("last_seen").alias("at"), F.col("last_run").alias("run")).alias("last"),
    )
    each = (
        now.unionByName(then)
        .groupBy(*KEY, "stretch", *EDGE)
        .agg(
            F.max("source_dataset_id").alias("source_dataset_id"),
            F.sum("n").alias("n"),
            F.min("first").alias("first"),
            F.max("last").alias("last"),
        )
    )
    return _retired(cut(_islands(cut(each))), version)


def _seen(at: str, run: str) -> Column:
    return F.struct(F.col(at).alias("at"), F.col(run).alias("run")).alias("seen")


def _islands(each: DataFrame) -> DataFrame:
    """Stretches that follow one another with the same edge, as one row."""
    order = Window.partitionBy(*KEY, *EDGE).orderBy("stretch")
    gap = F.coalesce(F.col("stretch") != F.lag("stretch").over(order) + 1, F.lit(False)).cast("int")
    island = F.sum("gap").over(order.rowsBetween(Window.unboundedPreceding, 0))
    return (
        each.withColumn("gap", gap)
        .withColumn("island", island)
        .groupBy(*KEY, *EDGE, "island")
        .agg(
            F.max("stretch").alias("stretch"),
            F.max("source_dataset_id").alias("source_dataset_id"),
            F.sum("n").alias("runs"),
            F.min("first").alias("first"),
            F.max("last").alias("last"),
        )
    )


def _retired(islands: DataFrame, version: DataFrame) -> DataFrame:
    ends = version.groupBy(*KEY, "stretch").agg(F.max(F.struct("v", "until")).alias("end"))
    joined = islands.join(ends, [*KEY, "stretch"])
    return joined.select(
        *KEY,
        *EDGE,
        "source_dataset_id",
        F.col("first.at").alias("first_seen"),
        F.col("last.at").alias("last_seen"),
        F.col("end.until").alias("retired_at"),
        F.col("first.run").alias("first_run"),
        F.col("last.run").alias("last_run"),
        "runs",
    )


def state(version: DataFrame) -> DataFrame:
    """Per job, the last version of each of its outputs: where the next batch goes on."""
    last = version.where("is_last").select(
        "job_id",
        F.struct(
            "dataset_id",
            F.col("grp").alias("group"),
            "started",
            "first",
            "last",
            "shapes",
            F.col("newest.run_id").alias("last_run"),
            F.col("n").alias("runs"),
        ).alias("output"),
    )
    return last.groupBy("job_id").agg(F.array_sort(F.collect_list("output")).alias("outputs"))
