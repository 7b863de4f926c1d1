"""What effective runs report about datasets: the input of lineage versions, observations and coverage."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from colline.lake.tables import COVERAGE, LINEAGE_VERSIONS, MENTIONS, OBSERVATIONS, RUNS
from colline.pipeline.delta_tables import LakeTables, empty, materialize, query
from colline.pipeline.history.aliases import Aliases
from colline.pipeline.history.runs import GROUP, GROUP_STARTED

# lifecycle changes that write no data
NOT_A_WRITE = "('DROP', 'RENAME', 'ALTER')"
_RUN = "job_id, run_id, run_group, group_started, started_at, effective_at, ended_at"

# One row per run and mention, with the dataset that the reported name stands for. `n` is 1 when the mention is counted
# for the first time, and 0 when a stream repeats it.
REPORTED = f"""
with counted as (
  select {_RUN}, explode(concat(
    transform(new, m -> struct(1 as n, m as m)), transform(unchanged, m -> struct(0 as n, m as m)))) as c
  from {{runs}} where effective
)
select /*+ broadcast(a) */ {_RUN}, c.n, c.m.role, c.m.digest, c.m.fingerprint, c.m.lifecycle, c.m.overwrite,
  coalesce(a.target_id, c.m.dataset_id) as dataset_id
from counted
left join {{aliases}} a on a.dataset_id = c.m.dataset_id
"""

# All runs of the jobs to recompute, with this batch, as if each were new.
ALL_RUNS = f"""
with runs as (
  select k.* from (select * from {{known}}) k
  left semi join {{jobs}} j on j.job_id = k.job_id
  left anti join {{runs}} r on r.run_id = k.run_id
), named as (
  select *, {GROUP} as run_group, {GROUP_STARTED} as group_started, mentions as new from runs
)
select ${{columns}}, run_group, group_started, new from named
union all
select ${{prefixed}}, r.run_group, r.group_started, r.mentions as new
from {{runs}} r left semi join {{jobs}} j on j.job_id = r.job_id
"""

# What each run writes, by the dataset that its names stand for.
WRITES = f"""
select {_RUN}, dataset_id,
  coalesce(max(if(fingerprint is not null, overwrite, null)), false) as overwrite,
  array_sort(collect_set(fingerprint)) as fingerprints,
  coalesce(max(if(fingerprint is not null, n, null)), 0) as n
from {{reported}}
where role in ('O', 'D')
group by {_RUN}, dataset_id
having size(fingerprints) > 0
"""

# Writes without column lineage, where no run of the group has it for the dataset. A bare CREATE TABLE is not one.
UNTRACED = f"""
with reads as (
  select distinct run_id from {{reported}} where role = 'I' and n = 1
), writes as (
  select {_RUN}, dataset_id, max(fingerprint) as fingerprint, max(lifecycle) as lifecycle
  from {{reported}}
  where n = 1 and role = 'O' and coalesce(lifecycle, '') not in {NOT_A_WRITE}
  group by {_RUN}, dataset_id
), grouped as (
  select w.*, r.run_id is not null as has_reads,
    max(w.fingerprint) over (partition by w.job_id, w.dataset_id, w.run_group) as traced
  from writes w left join reads r on r.run_id = w.run_id
)
select {_RUN}, dataset_id from grouped
where traced is null and not (lifecycle <=> 'CREATE' and not has_reads)
"""

# Jobs whose new facts do not simply follow what is known of them.
RECOMPUTED_JOBS = """
with past as (
  select job_id, dataset_id, last_write.run_group, last_write.last_seen, last_write.last_run from {past}
), late as (
  select w.job_id
  from {writes} w join past p on p.job_id = w.job_id and p.dataset_id = w.dataset_id
  where not coalesce(if(w.n = 0, w.run_id = p.last_run, w.ended_at > p.last_seen
    and if(w.run_group = p.run_group, w.started_at >= p.last_seen, w.group_started > p.last_seen)), false)
), untraced as (
  -- it may belong to an earlier version that has lineage
  select u.job_id
  from {untraced} u join past p on p.job_id = u.job_id and p.dataset_id = u.dataset_id
  where u.run_group <> u.run_id and u.run_group <> p.run_group and coalesce(u.group_started <= p.last_seen, true)
), traced as (
  -- lineage of a group that had a gap
  select w.job_id
  from {writes} w join {gaps} g on g.job_id = w.job_id and g.dataset_id = w.dataset_id
  where g.kind = 'no_column_lineage' and w.run_group <> w.run_id and coalesce(g.last_seen >= w.group_started, true)
), renamed as (
  select o.job_id
  from {observations} o join {mentions} m on m.digest = o.digest
  join {changed_names} c on c.dataset_id = m.dataset_id
  where m.role <> 'I'
)
select job_id from {runs} where needs_recompute
-- the run had another name of its job before
union select explode(array(job_id, was_job_id)) from {runs} where was_job_id <> job_id
union select job_id from late
union select job_id from untraced
union select job_id from traced
union select job_id from renamed
"""


@dataclass(frozen=True, slots=True)
class Reports:
    """What the runs of a batch report about datasets, and the runs themselves."""

    runs: DataFrame  # the runs that count here: those of the batch, and all runs of jobs to recompute
    mentions: DataFrame
    writes: DataFrame
    untraced: DataFrame
    past: DataFrame  # the current lineage versions of the jobs, without those to recompute
    recomputed: DataFrame  # job_id
    jobs: DataFrame  # job_id of all jobs that change
    has_recomputed: bool


def reports(tables: LakeTables, runs: DataFrame, aliases: Aliases) -> Reports:
    """What the batch's runs report, and for jobs that must be recomputed, what all of their runs report."""
    spark = tables.spark
    mentions = materialize(query(spark, REPORTED, runs=runs, aliases=aliases.resolved))
    jobs = runs.select("job_id").distinct()
    writes, untraced = _writes(tables, mentions)
    past = materialize(_select_jobs(tables, tables.read(LINEAGE_VERSIONS).where("is_current"), jobs))
    gaps = _select_jobs(tables, tables.read(COVERAGE).where("kind = 'no_column_lineage'"), jobs)
    recomputed = query(
        spark,
        RECOMPUTED_JOBS,
        runs=runs,
        past=past,
        writes=writes,
        untraced=untraced,
        gaps=gaps,
        observations=tables.read(OBSERVATIONS).select("job_id", "digest"),
        mentions=tables.read(MENTIONS).select("digest", "dataset_id", "role"),
        changed_names=aliases.changed,
    )
    if recomputed.isEmpty():
        none = empty(spark, {"job_id": "bigint"})
        return Reports(runs, mentions, writes, untraced, past, none, jobs, has_recomputed=False)
    recomputed = materialize(recomputed)
    batch = Reports(runs, mentions, writes, untraced, past, recomputed, jobs, has_recomputed=True)
    return _with_recomputed(tables, batch, aliases)


def _with_recomputed(tables: LakeTables, batch: Reports, aliases: Aliases) -> Reports:
    """The reports of a batch, with all runs of the jobs that must be recomputed."""
    spark, runs, recomputed = tables.spark, batch.runs, batch.recomputed
    every = _all_runs(tables, runs, recomputed)
    counted_again = every.selectExpr("*", "slice(new, 1, 0) as unchanged")
    again = query(spark, REPORTED, runs=counted_again, aliases=aliases.resolved)
    mentions = exclude_jobs(tables, batch.mentions, recomputed)
    both = materialize(mentions.unionByName(again.select(*mentions.columns)))
    columns = [name for name in runs.columns if name in every.columns]
    counted = exclude_jobs(tables, runs, recomputed).select(*columns, "was_known")
    counted = counted.unionByName(every.selectExpr(*columns, "false as was_known"))
    writes, untraced = _writes(tables, both)
    jobs = batch.jobs.unionByName(recomputed).distinct()
    past = materialize(exclude_jobs(tables, batch.past, recomputed))
    return Reports(materialize(counted), both, writes, untraced, past, recomputed, jobs, has_recomputed=True)


def exclude_jobs(tables: LakeTables, rows: DataFrame, jobs: DataFrame) -> DataFrame:
    """The rows without those of these jobs."""
    statement = "select r.* from {rows} r left anti join {jobs} j on j.job_id = r.job_id"
    return query(tables.spark, statement, rows=rows, jobs=jobs)


def _select_jobs(tables: LakeTables, rows: DataFrame, jobs: DataFrame) -> DataFrame:
    statement = "select /*+ broadcast(j) */ r.* from {rows} r left semi join {jobs} j on j.job_id = r.job_id"
    return query(tables.spark, statement, rows=rows, jobs=jobs)


def _writes(tables: LakeTables, mentions: DataFrame) -> tuple[DataFrame, DataFrame]:
    writes = query(tables.spark, WRITES, reported=mentions)
    return materialize(writes), query(tables.spark, UNTRACED, reported=mentions)


def _all_runs(tables: LakeTables, runs: DataFrame, jobs: DataFrame) -> DataFrame:
    known = tables.read(RUNS)
    statement = ALL_RUNS.replace("${columns}", ", ".join(known.columns))
    statement = statement.replace("${prefixed}", ", ".join(f"r.{name}" for name in known.columns))
    return materialize(query(tables.spark, statement, known=known, runs=runs, jobs=jobs))
