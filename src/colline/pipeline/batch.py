"""A batch of lines through the lake: its steps, each one Delta commit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timezone

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.lake import delta_log
from colline.lake.tables import BRONZE, OBSERVATIONS, QUARANTINE, RUNS, fields_of
from colline.pipeline import runs
from colline.pipeline.bronze import write_bronze
from colline.pipeline.coverage import write_coverage
from colline.pipeline.dimensions import Dimensions, NoDimensions, write_columns, write_datasets
from colline.pipeline.gold import write_edges, write_jobs, write_reads, write_runs
from colline.pipeline.history import History
from colline.pipeline.ingest_settings import sized, unsized
from colline.pipeline.landing import event_id
from colline.pipeline.parse import RID, readable
from colline.pipeline.reading import LinesOf, Options
from colline.pipeline.store import Store, empty
from colline.pipeline.work import CONTENT_BUCKET, Work


@dataclass(frozen=True, slots=True)
class Counts:
    """What a batch was made of."""

    lines: int
    events: int
    quarantined: int
    # catalog names that stand for another dataset now
    moved: tuple[str, ...] = ()


def ingest_batch(
    store: Store, lines: DataFrame, options: Options | None = None, lines_of: LinesOf | None = None
) -> Counts:
    """Write the batch's lines to bronze and what they say to every table after it."""
    unsized(store.spark)
    work = Work(store, lines, options, lines_of=lines_of)
    try:
        write_bronze(work.store, work.lines, work.options.limits)
        work.threads.settle_all()  # lines are read from there, and nothing is told of any that it does not have
        return derive(work)
    finally:
        work.close()


def derive(work: Work) -> Counts:
    """Everything after bronze."""
    lines = work.totals["lines"]
    sized(work.store.spark, lines=lines, different=work.totals["different"])
    counts = Counts(lines, lines - work.bad, work.bad)
    if work.store.elders is None:  # a rebuild leaves bronze as it is
        write_quarantine(work, counts)
    write_observations(work)
    beside = work.threads.beside
    beside(lambda: work.facts_here, lambda: work.spoken)
    dimensions = Dimensions(work)
    beside(lambda: work.runs, lambda: write_datasets(dimensions))
    history = History(dimensions)
    beside(lambda: history.versions, lambda: write_columns(dimensions))
    write_reads(history)  # with the facts that edges are made of
    beside(lambda: history.edges, lambda: write_coverage(history))
    write_edges(history)
    write_state(history)
    return replace(counts, moved=work.links.moved)


def write_state(history: History) -> None:
    """What the next batch goes on from, after all else: runs are known only when everything is told of them."""
    threads = history.work.threads
    write_jobs(history)
    threads.settle_all()
    write_runs(history)
    threads.settle_all()


def expire_runs(store: Store) -> bool:
    """Whether there were runs without an end for too long; they are unfinished now, in every table that tells it."""
    if delta_log.has_open_runs(store.lake, datetime.now(timezone.utc) - runs.UNFINISHED_AFTER) is False:
        return False
    known = store.read(RUNS).where("open").where(runs.stale())
    if known.isEmpty():
        return False
    work = Work(store, store.read(BRONZE).limit(0))
    try:
        work.revisit(known)
        history = History(NoDimensions(work))
        write_coverage(history)
        write_state(history)
    finally:
        work.close()
    return True


def write_quarantine(work: Work, counts: Counts) -> None:
    """Lines that are no events, with the reason; when there are none, the table is made and no line is looked at."""
    if not counts.quarantined:
        if not work.store.exists(QUARANTINE):
            work.store.append(QUARANTINE, empty(work.store.spark, fields_of(QUARANTINE)))
        return
    bad = work.judged.where("reason is not null").select("rid", "reason", "detail")
    lines = work.lines.selectExpr("*", f"{RID} as rid").join(F.broadcast(bad), "rid")
    rows = lines.selectExpr(
        "*",
        f"{event_id('raw')} as event_id",
        f"{readable('raw')} as line",
        "current_timestamp() as quarantined_at",
        "null as replayed_at",
        "to_date(received_at) as dt",
    )
    work.store.append(QUARANTINE, rows)


def write_observations(work: Work) -> None:
    """What runs say of datasets, each content once; which run said it is told in silver/runs."""
    known = work.store.read(OBSERVATIONS).select("content")
    new = work.picked.join(known, "content", "left_anti")
    work.store.append(OBSERVATIONS, new.withColumn("bucket", F.expr(CONTENT_BUCKET)))
