"""Events → runs: what is known of each run, united over its events in any order, as often as they come.

Every column is a minimum, a maximum or a union, so the order and the number of events do not matter.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from colline.pipeline.parse import part_of, uuid7_time
from colline.pipeline.tables import MENTION

# columns of a run → how two values become one
EARLIEST = ("first_event", "failed_at", "aborted_at")
LATEST = ("last_event", "progressed_at", "completed_at")
LARGEST = ("parent_run", "root_run", "definition", "integration", "engine", "application", "owner", "error")
# how far back a run without an end may lie before it counts as unfinished
UNFINISHED_AFTER = "24 hours"


def folded(events: DataFrame) -> DataFrame:
    """One row per run of the batch."""

    def when(event_type: str) -> Column:
        return F.when(F.col("event_type") == event_type, F.col("t"))

    job = F.min(F.struct("job_namespace", "job_name"))
    return (
        events.groupBy("run_id")
        .agg(
            job.alias("job"),
            F.min("t").alias("first_event"),
            F.max("t").alias("last_event"),
            F.max(when("RUNNING")).alias("progressed_at"),
            F.max(when("COMPLETE")).alias("completed_at"),
            F.min(when("FAIL")).alias("failed_at"),
            F.min(when("ABORT")).alias("aborted_at"),
            *(F.max(name).alias(name) for name in LARGEST),
            F.max("streaming").alias("streaming"),
            F.array_distinct(F.flatten(F.collect_list("opaque"))).alias("opaque"),
            F.max(F.map_entries("delivery")).alias("delivery_entries"),
            F.array_distinct(F.flatten(F.collect_list("light"))).alias("mentions"),
        )
        .select(
            "*",
            F.col("job.job_namespace").alias("job_namespace"),
            F.col("job.job_name").alias("job_name"),
            F.map_from_entries("delivery_entries").alias("delivery"),
            part_of(F.col("run_id")).alias("part"),
        )
        .drop("job", "delivery_entries")
    )


def united(batch: DataFrame, known: DataFrame) -> DataFrame:
    """The batch's runs with what was known of them; `was_*` columns tell how they were before."""
    before = known.select(*(F.col(name).alias(f"was_{name}") for name in known.columns))
    both = batch.join(before, (F.col("part") == F.col("was_part")) & (F.col("run_id") == F.col("was_run_id")), "left")
    none = F.array().cast(f"array<{MENTION}>")
    merged = both.select(
        "run_id",
        "part",
        *(F.coalesce(f"was_{name}", name).alias(name) for name in ("job_namespace", "job_name")),
        *(F.least(name, f"was_{name}").alias(name) for name in EARLIEST),
        *(F.greatest(name, f"was_{name}").alias(name) for name in (*LATEST, *LARGEST)),
        F.coalesce(F.greatest("streaming", "was_streaming"), F.lit(False)).alias("streaming"),
        F.array_sort(_union("opaque", F.array().cast("array<string>"))).alias("opaque"),
        F.coalesce("delivery", "was_delivery").alias("delivery"),
        F.array_sort(_union("mentions", none)).alias("mentions"),
        F.coalesce("was_mentions", none).alias("was_mentions"),
        F.col("was_run_id").isNotNull().alias("was_known"),
        F.coalesce("was_effective", F.lit(False)).alias("was_effective"),
        F.col("was_state").alias("was_state"),
        F.col("was_ended_at").alias("was_ended_at"),
    )
    return judged(merged)


def _union(name: str, none: Column) -> Column:
    return F.array_union(F.coalesce(F.col(name), none), F.coalesce(F.col(f"was_{name}"), none))


def stale() -> Column:
    """Whether nothing was heard of a run for so long that it will not end any more."""
    return F.col("last_event") < F.current_timestamp() - F.expr(f"interval {UNFINISHED_AFTER}")


def judged(runs: DataFrame) -> DataFrame:
    """The runs with their state: FAIL and ABORT win over COMPLETE, and no end for long is UNFINISHED."""
    failed, aborted, completed = (F.col(f"{name}_at").isNotNull() for name in ("failed", "aborted", "completed"))
    state = (
        F.when(failed, "FAIL")
        .when(aborted, "ABORT")
        .when(completed, "COMPLETE")
        .when(stale(), "UNFINISHED")
        .otherwise("RUNNING")
    )
    flowing = F.col("streaming") & F.col("progressed_at").isNotNull()
    ended = F.when(flowing, F.greatest("progressed_at", "completed_at")).otherwise(
        F.coalesce("failed_at", "aborted_at", "completed_at")
    )
    return (
        runs.withColumn("state", state)
        .withColumn("effective", F.coalesce(flowing | (F.col("state") == "COMPLETE"), F.lit(False)))
        .withColumn("ended_at", ended)
        .withColumn("started_at", F.col("first_event"))
        .withColumn("open", F.col("state") == "RUNNING")
    )


def group_of() -> Column:
    """What makes runs one version: the run at the top, else the parent, else (a stream) the query, else itself."""
    stream = F.when(F.col("streaming"), F.concat(F.lit("query:"), F.col("definition")))
    return F.coalesce("root_run", "parent_run", stream, "run_id")


def group_started() -> Column:
    """When a group of runs cannot have begun before; null when nothing tells."""
    own = F.when(group_of() == F.col("run_id"), F.col("started_at"))
    return F.coalesce(uuid7_time(group_of()), own)
