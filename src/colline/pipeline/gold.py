"""The steps that write edges, reads, jobs and runs: the difference between what a table says and what is true now."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.pipeline.dimensions import bucket_of
from colline.pipeline.history import JOB, History
from colline.pipeline.store import cut
from colline.pipeline.tables import EDGES, JOBS, READS, RUNS
from colline.pipeline.versions import KEY

EDGE_ROW = ("source_id", "target_id", "job_id", "type", "subtype", "masking", "description", "first_seen")
EDGE_STATE = ("last_seen", "retired_at", "first_run", "last_run", "runs")
READ_ROW = ("column_id", "job_id", "use", "kind")
READ_STATE = ("first_read", "last_read", "last_run", "reads", "dataset_id")


def _same_row(columns: tuple[str, ...], buckets: list[int]) -> str:
    listed = ", ".join(str(b) for b in buckets) or "-1"
    keys = " and ".join(f"t.{name} = s.{name}" for name in ("bucket", *columns))
    return f"t.bucket in ({listed}) and {keys}"


def _difference(old: DataFrame, new: DataFrame, row: tuple[str, ...], state: tuple[str, ...]) -> DataFrame:
    """The rows to write (`action` upsert) and to take away (delete) so that `old` becomes `new`."""
    before = old.select(*row, "bucket", F.struct(*state).alias("before"))
    after = new.select(*row, "bucket", F.struct(*state).alias("after"))
    both = before.join(after, [*row, "bucket"], "full")
    changed = both.where(~F.col("before").eqNullSafe(F.col("after")))
    kept = changed.withColumn("state", F.coalesce("after", "before"))
    action = F.when(F.col("after").isNull(), "delete").otherwise("upsert")
    return kept.select(*row, "bucket", "state.*", action.alias("action"))


def _found(rows: DataFrame) -> list[int]:
    found = rows.agg(F.collect_set("bucket").alias("buckets")).first()
    return sorted(found["buckets"]) if found else []


def write_edges(history: History) -> None:
    """Edges of the touched keys: new ones, retired ones, those seen again."""
    work = history.work
    known = work.store.read(EDGES)
    keys = history.items.select(*KEY).distinct()
    # keys that go on keep their retired edges as they are; jobs that are told again are replaced whole
    old = known.where("retired_at is null").join(F.broadcast(keys), list(KEY), "left_semi")
    if history.retold:
        old = old.join(history.again, "job_id", "left_anti").unionByName(
            known.join(F.broadcast(history.again), "job_id", "left_semi").select(*old.columns)
        )
    new = history.edges.withColumn("bucket", bucket_of(F.col("dataset_id")))
    state = (*EDGE_STATE, "dataset_id", "source_dataset_id")
    rows = work.keep(_difference(old, new, EDGE_ROW, state))
    work.store.merge(EDGES, rows, on=_same_row(EDGE_ROW, _found(rows)), action="action")


def write_reads(history: History) -> None:
    """Who read which column, how, how often and when last."""
    work = history.work
    news = work.news.select(*JOB, "run_id", "role", "shape", "ended_at").join(work.jobs, list(JOB))
    new = cut(_reads(history, cut(news)))
    known = work.store.read(READS)
    if history.retold:
        new = new.join(history.again, "job_id", "left_anti")
        retold = cut(_reads(history, history.again_news))
        gone = known.join(F.broadcast(history.again), "job_id", "left_semi")
    old = known.join(F.broadcast(new.select("column_id", "job_id").distinct()), ["column_id", "job_id"], "left_semi")
    old = cut(old)
    added = cut(_added(old, new))
    if history.retold:
        old, added = old.unionByName(gone), added.unionByName(retold.select(*added.columns))
    rows = work.keep(_difference(old, added.withColumn("bucket", bucket_of(F.col("dataset_id"))), READ_ROW, READ_STATE))
    work.store.merge(READS, rows, on=_same_row(READ_ROW, _found(rows)), action="action")


def _reads(history: History, news: DataFrame) -> DataFrame:
    """Reads that the news tell: through lineage when a run has any, else by the columns its inputs say were read."""
    shaped = news.where("shape is not null")
    writes = shaped.where("role <> 'I'").select("run_id", "job_id", "shape", "ended_at", F.lit("write").alias("kind"))
    writers = news.where("role = 'O'").select("run_id", "shape").groupBy("run_id").agg(F.max("shape").alias("has"))
    queries = shaped.where("role = 'I'").join(writers, "run_id", "left").where("has is null")
    outputs = news.where("role = 'O'").select("run_id", F.lit("write").alias("writes")).distinct()
    queries = queries.join(outputs, "run_id", "left").select(
        "run_id", "job_id", "shape", "ended_at", F.coalesce("writes", F.lit("query")).alias("kind")
    )
    each = cut(
        writes.unionByName(queries)
        .groupBy("job_id", "shape", "kind")
        .agg(
            F.countDistinct("run_id").alias("n"),
            F.min("ended_at").alias("first"),
            F.max(F.struct("ended_at", "run_id")).alias("last"),
        )
    )
    uses = history.all_facts.select(
        "shape", F.col("source_id").alias("column_id"), F.col("source_dataset_id").alias("dataset_id"), "use"
    ).distinct()
    return (
        each.join(uses, "shape")
        .groupBy("column_id", "job_id", "use", "kind")
        .agg(
            F.min("first").alias("first_read"),
            F.max("last").alias("newest"),
            F.sum("n").alias("reads"),
            F.max("dataset_id").alias("dataset_id"),
        )
        .select(
            *READ_ROW,
            "first_read",
            F.col("newest.ended_at").alias("last_read"),
            F.col("newest.run_id").alias("last_run"),
            "reads",
            "dataset_id",
        )
    )


def _added(old: DataFrame, new: DataFrame) -> DataFrame:
    """Old and new reads as one; an old row that nothing new speaks of stays as it is."""
    columns = (*READ_ROW, *READ_STATE)
    return (
        old.select(*columns)
        .unionByName(new.select(*columns))
        .groupBy(*READ_ROW)
        .agg(
            F.min("first_read").alias("first_read"),
            F.max(F.struct("last_read", "last_run")).alias("newest"),
            F.sum("reads").alias("reads"),
            F.max("dataset_id").alias("dataset_id"),
        )
        .select(*READ_ROW, "first_read", "newest.last_read", "newest.last_run", "reads", "dataset_id")
    )


def write_jobs(history: History) -> None:
    """What each touched job is and did last, and where its outputs stand."""
    work = history.work
    runs = work.touched.join(work.jobs, list(JOB))
    known = history.known_jobs
    now = runs
    if history.retold:
        columns = [name for name in history.again_runs.columns if name in runs.columns]
        untold = runs.join(history.again, "job_id", "left_anti").select(*columns, "was_known")
        now = untold.unionByName(history.again_runs.select(*columns, F.lit(False).alias("was_known")))
        known = known.join(history.again, "job_id", "left_anti")
    # a run told anew replaces what the job knew of it: its start may have come after its end
    anew = now.select(F.col("run_id").alias("last_run"), F.lit(True).alias("anew"))
    rows = cut(_job_rows(now, known.join(anew, "last_run", "left")))
    changed = work.store.read(EDGES).join(F.broadcast(rows.select("id")), F.col("job_id") == F.col("id"), "left_semi")
    changed = changed.groupBy("job_id").agg(F.max(F.greatest("first_seen", "retired_at")).alias("changed_at"))
    rows = rows.join(changed.withColumnRenamed("job_id", "id"), "id", "left")
    rows = rows.join(history.outputs.withColumnRenamed("job_id", "id"), "id", "left")
    work.store.merge(JOBS, rows, on="t.id = s.id")


def _job_rows(runs: DataFrame, known: DataFrame) -> DataFrame:
    clear = F.when(F.col("effective") & (F.size("opaque") == 0), F.col("ended_at"))
    facts = runs.select(
        "job_id",
        F.col("job_namespace").alias("namespace"),
        F.col("job_name").alias("name"),
        "integration",
        "owner",
        F.col("started_at").alias("first_seen"),
        F.struct("started_at", "run_id", "state", "ended_at").alias("last"),
        F.when(F.col("state") == "COMPLETE", F.col("ended_at")).alias("last_success"),
        F.when(F.col("state") == "FAIL", F.struct("ended_at", "error")).alias("failure"),
        F.when(~F.col("was_known"), 1).otherwise(0).cast("bigint").alias("runs"),
        clear.alias("last_clear"),
        F.lit(True).alias("is_new"),
    )
    before = known.select(
        "job_id",
        "namespace",
        "name",
        "integration",
        "owner",
        "first_seen",
        F.struct(
            F.col("last_started").alias("started_at"),
            F.col("last_run").alias("run_id"),
            F.col("last_state").alias("state"),
            F.col("last_ended").alias("ended_at"),
        ).alias("before"),
        "anew",
        "last_success",
        F.when(
            F.col("last_failure").isNotNull(),
            F.struct(F.col("last_failure").alias("ended_at"), F.col("last_error").alias("error")),
        ).alias("failure"),
        "runs",
        "last_clear",
        F.lit(False).alias("is_new"),
    )
    before = before.withColumn("last", F.when(F.col("anew").isNull(), F.col("before"))).drop("before", "anew")
    latest = F.max(F.struct("last.started_at", "last.run_id", "is_new", "last"))["last"]
    rows = (
        facts.unionByName(before)
        .groupBy("job_id", "namespace", "name")
        .agg(
            F.max("integration").alias("integration"),
            F.max("owner").alias("owner"),
            F.min("first_seen").alias("first_seen"),
            latest.alias("last"),
            F.max("last_success").alias("last_success"),
            F.max("failure").alias("failure"),
            F.sum("runs").alias("runs"),
            F.max("last_clear").alias("last_clear"),
        )
    )
    return rows.select(
        F.col("job_id").alias("id"),
        "namespace",
        "name",
        "integration",
        "owner",
        "first_seen",
        F.col("last.run_id").alias("last_run"),
        F.col("last.state").alias("last_state"),
        F.col("last.started_at").alias("last_started"),
        F.col("last.ended_at").alias("last_ended"),
        "last_success",
        F.col("failure.ended_at").alias("last_failure"),
        F.col("failure.error").alias("last_error"),
        "runs",
        "last_clear",
    )


def write_runs(history: History) -> None:
    """The touched runs, last of all: until now every step saw them as they were before the batch."""
    work = history.work
    found = work.touched.agg(F.collect_set("part").alias("parts")).first()
    listed = ", ".join(f"'{part}'" for part in sorted(found["parts"])) if found and found["parts"] else "''"
    work.store.merge(RUNS, work.touched, on=f"t.part in ({listed}) and t.part = s.part and t.run_id = s.run_id")
