"""The step that writes where lineage is missing: unknown is never shown as none."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.pipeline.history import JOB, History
from colline.pipeline.store import cut
from colline.pipeline.tables import COVERAGE
from colline.pipeline.work import NOT_A_WRITE

ROW = ("kind", "job_id", "dataset_id", "run_id", "detail", "first_seen", "last_seen")


def write_coverage(history: History) -> None:
    """Gaps the touched runs show, and gaps of theirs that are closed now."""
    work = history.work
    runs = cut(work.touched.join(work.jobs, list(JOB)))
    gaps = cut(_unlined(history)).unionByName(_opaque(runs)).unionByName(_dropped(runs)).unionByName(_unfinished(runs))
    known = work.store.read(COVERAGE).join(F.broadcast(work.jobs.select("job_id")), "job_id", "left_semi")
    same = ("kind", "job_id", "dataset_id", "detail", "of_run")
    of_run = F.when(F.col("kind").isin("dropped_events", "unfinished_run"), F.col("run_id")).otherwise("")
    both = gaps.unionByName(known.select(*ROW)).withColumn("of_run", of_run)
    each = both.groupBy(*same).agg(
        F.max(F.struct("last_seen", "run_id"))["run_id"].alias("run_id"),
        F.min("first_seen").alias("first_seen"),
        F.max("last_seen").alias("last_seen"),
    )
    rows = _resolved(history, cut(each), runs)
    on = (
        "t.kind = s.kind and t.job_id = s.job_id and t.dataset_id <=> s.dataset_id and t.detail = s.detail "
        "and (s.kind not in ('dropped_events', 'unfinished_run') or t.run_id = s.run_id)"
    )
    columns = (*ROW, "resolved_at")
    # a run that ended after all, or that told its lineage after all, never was a gap
    same_run = (F.col("kind") == "no_column_lineage") & (F.col("closed") == F.col("last_seen"))
    never = same_run | ((F.col("kind") == "unfinished_run") & F.col("closed").isNotNull())
    action = F.when(F.coalesce(never, F.lit(False)), "delete").otherwise("upsert").alias("action")
    work.store.merge(COVERAGE, rows.select(*columns, action), on=on, action="action")


def _unlined(history: History) -> DataFrame:
    """Writes without column lineage; a bare CREATE TABLE is none."""
    work = history.work
    news = cut(work.with_dataset(work.news).join(work.jobs, list(JOB)))
    written = news.where("role = 'O'").where(~F.coalesce(F.col("lifecycle"), F.lit("")).isin(*NOT_A_WRITE))
    reads = news.where("role = 'I'").select("run_id").distinct().withColumn("reads", F.lit(True))
    bare = written.groupBy("job_id", "dataset_id", "run_id", "grp").agg(
        F.max("shape").alias("shape"), F.max("ended_at").alias("seen"), F.max("lifecycle").alias("lifecycle")
    )
    lined = bare.where("shape is not null").select("dataset_id", "grp").distinct()
    bare = bare.where("shape is null").join(lined, ["dataset_id", "grp"], "left_anti").join(reads, "run_id", "left")
    bare = bare.where("not (lifecycle <=> 'CREATE' and reads is null)")
    return bare.select(
        F.lit("no_column_lineage").alias("kind"),
        "job_id",
        "dataset_id",
        "run_id",
        F.lit("").alias("detail"),
        F.col("seen").alias("first_seen"),
        F.col("seen").alias("last_seen"),
    )


def _opaque(runs: DataFrame) -> DataFrame:
    steps = runs.where("effective").select("job_id", "run_id", "ended_at", F.explode("opaque").alias("detail"))
    return _gap(steps, "opaque_step", "detail", "ended_at")


def _dropped(runs: DataFrame) -> DataFrame:
    lost = F.coalesce(F.expr("try_cast(delivery['dropped'] as bigint)"), F.lit(0)) + F.coalesce(
        F.expr("try_cast(delivery['failed'] as bigint)"), F.lit(0)
    )
    found = runs.withColumn("lost", lost).where("lost > 0")
    told = found.withColumn("detail", F.concat(F.col("lost").cast("string"), F.lit(" events dropped at the source")))
    return _gap(told, "dropped_events", "detail", "last_event")


def _unfinished(runs: DataFrame) -> DataFrame:
    """Runs that have no end after a while; a run that ends later takes its gap with it."""
    open_runs = runs.where("state = 'UNFINISHED'").withColumn("detail", F.lit("no end was reported"))
    return _gap(open_runs, "unfinished_run", "detail", "last_event")


def _gap(rows: DataFrame, kind: str, detail: str, seen: str) -> DataFrame:
    return rows.select(
        F.lit(kind).alias("kind"),
        "job_id",
        F.lit(None).cast("bigint").alias("dataset_id"),
        "run_id",
        F.col(detail).alias("detail"),
        F.col(seen).alias("first_seen"),
        F.col(seen).alias("last_seen"),
    )


def _resolved(history: History, each: DataFrame, runs: DataFrame) -> DataFrame:
    """The gaps with the time of the run that closed them, when one did."""
    lined = history.outputs.select("job_id", F.explode("outputs").alias("o"))
    lined = lined.select("job_id", "o.dataset_id", F.col("o.last").alias("lined"))
    clear = F.when(F.col("effective") & (F.size("opaque") == 0), F.col("ended_at"))
    now = runs.groupBy("job_id").agg(F.max(clear).alias("clear_now"))
    before = history.known_jobs.select("job_id", "last_clear")
    ended = runs.where("state not in ('UNFINISHED', 'RUNNING')").select("run_id", "ended_at")
    joined = each.join(lined, ["job_id", "dataset_id"], "left").join(now, "job_id", "left")
    joined = joined.join(before, "job_id", "left").join(ended, "run_id", "left")
    closed = (
        F.when(F.col("kind") == "no_column_lineage", F.col("lined"))
        .when(F.col("kind") == "opaque_step", F.greatest("clear_now", "last_clear"))
        .when(F.col("kind") == "unfinished_run", F.col("ended_at"))
    )
    return joined.withColumn("closed", closed).withColumn(
        "resolved_at", F.when(F.col("closed") >= F.col("last_seen"), F.col("closed"))
    )
