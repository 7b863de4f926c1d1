"""Finds where lineage is missing, so that unknown is distinguished from none."""

from __future__ import annotations

from pyspark.sql import DataFrame

from colline.lake.tables import COVERAGE, JOBS
from colline.pipeline.delta_tables import LakeTables, materialize, query
from colline.pipeline.history.reports import Reports

# gaps of one run; all others belong to a job
_IS_OF_RUN = "kind in ('dropped_events', 'unfinished_run')"
_LOST = " + ".join(f"coalesce(try_cast(delivery['{name}'] as bigint), 0)" for name in ("dropped", "failed"))
_ROW = "kind, job_id, dataset_id, run_id, detail, first_seen, last_seen"

# Gaps that the runs show: outputs without lineage, opaque steps, events lost at the source, runs without an end.
GAPS = f"""
with lossy as (
  select *, {_LOST} as lost from {{runs}}
), of_runs as (
  select job_id, run_id, explode(concat(
    if(effective, transform(opaque, s -> struct('opaque_step' as kind, s as detail, ended_at as seen)), array()),
    if(lost > 0, array(struct('dropped_events' as kind,
      concat(cast(lost as string), ' events dropped at the source') as detail, last_event as seen)), array()),
    if(state = 'UNFINISHED', array(struct('unfinished_run' as kind, 'no end was reported' as detail,
      last_event as seen)), array()))) as g
  from lossy
)
select g.kind, job_id, cast(null as bigint) as dataset_id, run_id, g.detail, g.seen as first_seen, g.seen as last_seen
from of_runs
union all
select 'no_column_lineage' as kind, u.job_id, u.dataset_id, u.run_id, '' as detail, u.ended_at as first_seen,
  u.ended_at as last_seen
from {{untraced}} u
left anti join {{past}} p
  on p.job_id = u.job_id and p.dataset_id = u.dataset_id and p.last_write.run_group = u.run_group
"""

KNOWN = "select /*+ broadcast(j) */ k.* from {known} k left semi join {jobs} j on j.job_id = k.job_id"

# The gaps of the changed jobs, with the time of the run that closed them.
NOW = f"""
with before as (
  -- the gaps of these runs are derived again
  select b.* from {{before}} b
  left anti join {{recomputed}} j on j.job_id = b.job_id
  left anti join {{runs}} r on r.run_id = b.run_id and {_IS_OF_RUN}
), each as (
  select {_ROW} from {{gaps}} union all select {_ROW} from before
), united as (
  select kind, job_id, dataset_id, max(struct(last_seen, run_id)).run_id as run_id, detail,
    min(first_seen) as first_seen, max(last_seen) as last_seen
  from each group by kind, job_id, dataset_id, detail, if({_IS_OF_RUN}, run_id, '')
), traced as (
  select job_id, dataset_id, last_write.last_seen as at from {{current}}
), clear as (
  select job_id, max(at) as at from (
    select job_id, if(effective and size(opaque) = 0, ended_at, null) as at from {{runs}}
    union all
    select k.job_id, k.last_clear from {{job_rows}} k left anti join {{recomputed}} j on j.job_id = k.job_id)
  group by job_id
), closed as (
  select u.*, case u.kind when 'no_column_lineage' then t.at when 'opaque_step' then c.at end as closed_at
  from united u
  left join traced t on t.job_id = u.job_id and t.dataset_id = u.dataset_id
  left join clear c on c.job_id = u.job_id
)
select {_ROW}, if(closed_at >= last_seen, closed_at, null) as resolved_at from closed
"""

KEPT = "select k.* from {known} k left anti join {jobs} j on j.job_id = k.job_id"


def write_coverage(tables: LakeTables, reports: Reports, current: DataFrame) -> None:
    """Begin to write the gaps of the changed jobs, if they differ. `current` are the lineage versions of these jobs."""
    spark, known = tables.spark, tables.read(COVERAGE)
    gaps = query(spark, GAPS, runs=reports.runs, untraced=reports.untraced, past=reports.past)
    before = query(spark, KNOWN, known=known, jobs=reports.jobs)
    if gaps.select("job_id").unionByName(before.select("job_id")).isEmpty():
        return
    gaps, before = materialize(gaps), materialize(before)
    now = materialize(
        query(
            spark,
            NOW,
            gaps=gaps,
            before=before,
            recomputed=reports.recomputed,
            runs=reports.runs,
            current=current,
            job_rows=query(spark, KNOWN, known=tables.read(JOBS), jobs=reports.jobs),
        )
    ).select(*before.columns)
    if now.exceptAll(before).isEmpty() and before.exceptAll(now).isEmpty():
        return
    kept = query(spark, KEPT, known=known, jobs=reports.jobs)
    tables.replace(COVERAGE, kept.unionByName(now))
