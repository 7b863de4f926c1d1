"""A batch of lines through the lake: the steps in their order, each one Delta commit."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.pipeline.coverage import write_coverage
from colline.pipeline.dimensions import write_columns, write_datasets
from colline.pipeline.gold import write_edges, write_jobs, write_reads, write_runs
from colline.pipeline.history import History
from colline.pipeline.parse import MENTION_FIELDS
from colline.pipeline.runs import stale
from colline.pipeline.store import Store, empty
from colline.pipeline.tables import BRONZE, OBSERVATIONS, QUARANTINE, RUNS
from colline.pipeline.work import SAID, Options, Work

# A batch of fewer lines than this is done by one task at a time, on one machine.
SMALL = 2_000


@dataclass(frozen=True, slots=True)
class Counts:
    """What a batch was made of."""

    lines: int
    events: int
    quarantined: int


def ingest_batch(store: Store, lines: DataFrame, options: Options | None = None) -> Counts:
    """Write the batch's lines to bronze and what they say to every table after it."""
    work = Work(store, lines, options)
    try:
        write_bronze(work)
        return derive(work)
    finally:
        work.close()


def derive(work: Work) -> Counts:
    """Everything after bronze."""
    counts = _counts(work)
    if counts.lines < SMALL and work.store.spark.sparkContext.master.startswith("local"):
        # tasks cost more than the work in them; the batch's session is its own
        work.store.spark.conf.set("spark.sql.shuffle.partitions", "1")
    write_quarantine(work, counts)
    write_observations(work)
    write_datasets(work)
    write_columns(work)
    history = History(work)
    write_edges(history)
    write_reads(history)
    write_coverage(history)
    write_jobs(history)
    write_runs(history)
    return counts


def expire_runs(store: Store) -> bool:
    """Whether there were runs without an end for too long; they are unfinished now, in every table that tells it."""
    known = store.read(RUNS).where("open").where(stale())
    if known.isEmpty():
        return False
    work = Work(
        store, empty(store.spark, "event_id string, raw string, file string, position bigint, received_at timestamp")
    )
    work.revisit(known)
    history = History(work)
    write_coverage(history)
    write_jobs(history)
    write_runs(history)
    work.close()
    return True


def write_bronze(work: Work) -> None:
    """Every line as it came."""
    stamp = work.store.stamp
    rows = work.lines.withColumn("batch", F.lit(f"{stamp.app}/{stamp.version}" if stamp else "")).withColumn(
        "dt", F.to_date("received_at")
    )
    work.store.append(BRONZE, rows)


def _counts(work: Work) -> Counts:
    found = work.judged.agg(F.count("*").alias("n"), F.count("reason").alias("bad")).first()
    lines, bad = (found["n"], found["bad"]) if found else (0, 0)
    return Counts(lines, lines - bad, bad)


def write_quarantine(work: Work, counts: Counts) -> None:
    """Lines that are no events, with the reason; no commit when there are none."""
    if not counts.quarantined and work.store.exists(QUARANTINE):
        return
    rows = work.judged.where("reason is not null")
    rows = rows.withColumn("quarantined_at", F.current_timestamp()).withColumn("replayed_at", F.lit(None))
    work.store.append(QUARANTINE, rows.withColumn("dt", F.to_date("received_at")))


def write_observations(work: Work) -> None:
    """What each run says of each dataset, once."""
    known = work.touched.select("run_id", F.explode("was_mentions").alias("m")).select(
        "run_id", *(F.col(f"m.{name}") for name in SAID)
    )
    key = ["run_id", *SAID]
    picks = work.said.join(known, key, "left_anti").groupBy(*key).agg(F.min(F.struct("t", "rid", "at")).alias("p"))
    picks = picks.select(F.col("p.t").alias("seen_at"), "p.rid", "p.at")
    rows = picks.join(work.events.select("rid", "run_id", "mentions"), "rid").withColumn(
        "m", F.element_at("mentions", F.col("at") + 1)
    )
    runs = work.touched.select("run_id", "part", "job_namespace", "job_name")
    more = ("kind", "schema", "symlinks", "owner", "tags", "fields", "rows", "reads")
    rows = rows.select("run_id", "seen_at", *(F.col(f"m.{name}") for name in (*MENTION_FIELDS, *more))).join(
        runs, "run_id"
    )
    work.store.append(OBSERVATIONS, rows)
