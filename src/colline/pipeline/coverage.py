"""The step that writes where lineage is missing: unknown is never shown as none."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.lake.tables import COVERAGE
from colline.pipeline.history import History, bare_writes
from colline.pipeline.store import together
from colline.pipeline.versions import KEY

ROW = ("kind", "job_id", "dataset_id", "run_id", "detail", "first_seen", "last_seen")
# gaps that one run has; the others are a job's
OF_RUN = "kind in ('dropped_events', 'unfinished_run')"


def write_coverage(history: History) -> None:
    """Gaps the touched runs show, and gaps of theirs that are closed now."""
    work = history.work
    runs = _runs(history)
    gaps = (_unlined(history), _of_runs(runs))
    known = work.known(COVERAGE)
    of_touched = known.join(history.all_jobs, "job_id", "left_semi")
    told = work.touched.selectExpr("run_id", "true as told")
    # what one run lacked is told by the run as it is now
    before = history.not_again(of_touched).join(told, "run_id", "left").where(f"not ({OF_RUN} and told is not null)")
    both = together(*gaps, before.select(*ROW)).selectExpr("*", f"if({OF_RUN}, run_id, '') as of_run")
    columns = ("max(struct(last_seen, run_id)).run_id as run_id", "min(first_seen) as first_seen")
    each = both.groupBy("kind", "job_id", "dataset_id", "detail", "of_run")
    each = each.agg(*(F.expr(column) for column in (*columns, "max(last_seen) as last_seen")))
    rows = _resolved(history, each, runs).select(*ROW, "resolved_at")
    others = known.join(history.all_jobs, "job_id", "left_anti")
    work.store.replace(COVERAGE, others.unionByName(rows))


def _runs(history: History) -> DataFrame:
    """The runs that gaps are told from: the touched ones, and all of the jobs that are told again."""
    columns = ("job_id", "run_id", "state", "effective", "ended_at", "last_event", "opaque", "delivery")
    runs = history.not_again(history.work.runs).select(*columns)
    return runs.unionByName(history.again_runs.select(*columns)) if history.retold else runs


def _unlined(history: History) -> DataFrame:
    """Writes without column lineage, of no version that has it."""
    past = history.past.select(*KEY, "grp")
    bare = history.not_again(history.bare).join(past, [*KEY, "grp"], "left_anti").select(*KEY, "run_id", "seen")
    if history.retold:
        bare = bare.unionByName(bare_writes(history.again_told, history.again_said).select(*bare.columns))
    return bare.selectExpr(
        "'no_column_lineage' as kind", *KEY, "run_id", "'' as detail", "seen as first_seen", "seen as last_seen"
    )


def _of_runs(runs: DataFrame) -> DataFrame:
    """Steps nobody can look into, events that were dropped where they were made, runs without an end.

    A run that ends later takes the gap it had by that with it.
    """
    lost = " + ".join(f"coalesce(try_cast(delivery['{name}'] as bigint), 0)" for name in ("dropped", "failed"))
    steps = f"if(effective, transform(opaque, step -> {_gap('opaque_step', 'step', 'ended_at')}), array())"
    dropped = _gap("dropped_events", "concat(cast(lost as string), ' events dropped at the source')", "last_event")
    unfinished = _gap("unfinished_run", "'no end was reported'", "last_event")
    gaps = (
        steps,
        f"if(lost > 0, array({dropped}), array())",
        f"if(state = 'UNFINISHED', array({unfinished}), array())",
    )
    each = runs.selectExpr("*", f"{lost} as lost").selectExpr(
        "job_id", "run_id", f"explode(concat({', '.join(gaps)})) as g"
    )
    return each.selectExpr(
        "g.kind",
        "job_id",
        "cast(null as bigint) as dataset_id",
        "run_id",
        "g.detail",
        "g.seen as first_seen",
        "g.seen as last_seen",
    )


def _gap(kind: str, detail: str, seen: str) -> str:
    return f"struct('{kind}' as kind, {detail} as detail, {seen} as seen)"


def _resolved(history: History, each: DataFrame, runs: DataFrame) -> DataFrame:
    """The gaps with the time of the run that closed them, when one did."""
    lined = history.outputs.selectExpr("job_id", "explode(outputs) as o")
    lined = lined.selectExpr("job_id", "o.dataset_id", "o.last as lined")
    clear = "max(if(effective and size(opaque) = 0, ended_at, null)) as clear_now"
    now = runs.groupBy("job_id").agg(F.expr(clear))
    before = history.not_again(history.work.jobs.select("job_id", "last_clear"))
    joined = each.join(lined, ["job_id", "dataset_id"], "left").join(now, "job_id", "left")
    closed = "case kind when 'no_column_lineage' then lined when 'opaque_step' then greatest(clear_now, last_clear) end"
    joined = joined.join(before, "job_id", "left").selectExpr("*", f"{closed} as closed")
    return joined.selectExpr("*", "if(closed >= last_seen, closed, null) as resolved_at")
