"""The steps that write edges, reads, jobs and runs: what is true now, in the place of what was."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.lake.tables import EDGES, JOBS, READS, RUNS, fields_of
from colline.pipeline.dimensions import BUCKET, in_buckets
from colline.pipeline.history import TELLING, History
from colline.pipeline.store import cut, together
from colline.pipeline.work import JOB, in_parts

# a job's row, from what was gathered of it
JOB_ROW = {
    **{name: name for name in ("integration", "owner", "first_seen", "last_success", "runs", "last_clear", "outputs")},
    "namespace": "job_namespace as namespace",
    "name": "job_name as name",
    "last_run": "last.run_id as last_run",
    "last_state": "last.state as last_state",
    "last_started": "last.started_at as last_started",
    "last_ended": "last.ended_at as last_ended",
    "last_failure": "failure.ended_at as last_failure",
    "last_error": "failure.error as last_error",
    "changed_at": "greatest(changed_at, changed_now) as changed_at",
}
READ_ROW = ("column_id", "job_id", "use", "kind")


def write_edges(history: History) -> None:
    """Edges of the touched keys: new ones, retired ones, those seen again."""
    new = history.edges.selectExpr("*", f"{BUCKET} as bucket")
    history.work.store.replace(EDGES, history.kept_edges.unionByName(new), in_buckets(history.buckets))


def write_reads(history: History) -> None:
    """Who read which column, how, how often and when last."""
    work = history.work
    new = history.not_again(_reads(history, history.told))
    if history.retold:
        new = new.unionByName(_reads(history, history.again_told).select(*new.columns))
    known = history.not_again(history.known(READS)).select(*new.columns)
    rows = _added(together(known, new)).selectExpr("*", f"{BUCKET} as bucket")
    work.store.replace(READS, rows, in_buckets(history.buckets))


def _reads(history: History, told: DataFrame) -> DataFrame:
    """Reads that runs tell: through lineage when a run has any, else by the columns its inputs say were read."""
    outputs = told.where("role = 'O'").groupBy(*TELLING)
    outputs = outputs.agg(F.expr("max(shape) as has"), F.expr("'write' as writes"))
    shaped = told.where("shape is not null").join(outputs, list(TELLING), "left").where("role <> 'I' or has is null")
    shaped = shaped.selectExpr("*", "if(role <> 'I', 'write', coalesce(writes, 'query')) as kind")
    by_telling = ("max(n) * max(runs) as n", "min(first.at) as first", "max(last) as last")
    each = shaped.groupBy(*TELLING, "shape", "kind").agg(*(F.expr(column) for column in by_telling))
    by_shape = ("sum(n) as n", "min(first) as first", "max(last) as last")
    each = each.groupBy("job_id", "shape", "kind").agg(*(F.expr(column) for column in by_shape))
    uses = history.all_facts.selectExpr("shape", "source_id as column_id", "source_dataset_id as dataset_id", "use")
    rows = each.join(uses.distinct(), "shape").selectExpr(
        *READ_ROW,
        "first as first_read",
        "last.at as last_read",
        "last.run as last_run",
        "n as reads",
        "dataset_id",
    )
    return _added(rows)


def _added(rows: DataFrame) -> DataFrame:
    """One row per column, job, use and kind."""
    columns = (
        "min(first_read) as first_read",
        "max(struct(last_read, last_run)) as newest",
        "sum(reads) as reads",
        "max(dataset_id) as dataset_id",
    )
    united = rows.groupBy(*READ_ROW).agg(*(F.expr(column) for column in columns))
    return united.selectExpr(*READ_ROW, "first_read", "newest.last_read", "newest.last_run", "reads", "dataset_id")


def write_jobs(history: History) -> None:
    """What each touched job is and did last, and where its outputs stand."""
    work = history.work
    runs = work.runs
    known, now = work.jobs.where("was_job"), runs
    if history.retold:
        columns = [name for name in history.again_runs.columns if name in runs.columns]
        untold = history.not_again(runs).select(*columns, "was_known")
        now = untold.unionByName(history.again_runs.select(*columns, F.expr("false as was_known")))
        known = history.not_again(known)
    # a run told anew replaces what the job knew of it: its start may have come after its end
    anew = now.selectExpr("run_id as last_run", "true as anew")
    rows = _job_rows(now, known.join(anew, "last_run", "left")).join(history.outputs, "job_id", "left")
    rows = cut(rows.join(history.changed, "job_id", "left"))
    work.threads.settle_all()  # nothing but runs is written after jobs
    rows = rows.selectExpr("job_id as id", *(JOB_ROW[name] for name in fields_of(JOBS) if name != "id"))
    before = work.known(JOBS)
    others = before.join(history.all_jobs.selectExpr("job_id as id"), "id", "left_anti").select(*before.columns)
    work.store.replace(JOBS, others.unionByName(rows.select(*before.columns)))


def _job_rows(runs: DataFrame, known: DataFrame) -> DataFrame:
    """What is known of each job with these runs; the latest of its runs is the one that started last."""
    facts = runs.selectExpr(
        "job_id",
        *JOB,
        "integration",
        "owner",
        "started_at as first_seen",
        "struct(started_at, run_id, true as is_new, state, ended_at) as last",
        "if(state = 'COMPLETE', ended_at, null) as last_success",
        "if(state = 'FAIL', struct(ended_at, error), null) as failure",
        "cast(if(was_known, 0, 1) as bigint) as runs",
        "if(effective and size(opaque) = 0, ended_at, null) as last_clear",
        "cast(null as timestamp) as changed_at",
    )
    last = (
        "struct(last_started as started_at, last_run as run_id, false as is_new, last_state as state,"
        " last_ended as ended_at)"
    )
    failure = "struct(last_failure as ended_at, last_error as error)"
    before = known.selectExpr(
        "job_id",
        *JOB,
        "integration",
        "owner",
        "first_seen",
        f"if(anew is null, {last}, null) as last",
        "last_success",
        f"if(last_failure is not null, {failure}, null) as failure",
        "runs",
        "last_clear",
        "changed_at",
    )
    largest = ("integration", "owner", "last", "last_success", "failure", "last_clear", "changed_at")
    columns = ("min(first_seen) as first_seen", "sum(runs) as runs", *(f"max({name}) as {name}" for name in largest))
    return together(facts, before).groupBy("job_id", *JOB).agg(*(F.expr(column) for column in columns))


def write_runs(history: History) -> None:
    """The touched runs, last of all: until now every step saw them as they were before the batch."""
    work = history.work
    parts = list(work.changes["parts"])
    if not parts:
        work.store.append(RUNS, work.touched, split=work.splits_runs)
        return
    where = in_parts(parts)
    known = work.known(RUNS, where).where(where)
    kept = known.join(work.touched.select("run_id"), "run_id", "left_anti").select(*known.columns)
    work.store.replace(RUNS, kept.unionByName(work.touched.select(*known.columns)), where)
