"""The state of each job: its last run, last success and last failure."""

from __future__ import annotations

from pyspark.sql import DataFrame

from colline.lake.tables import JOBS
from colline.pipeline.delta_tables import LakeTables, empty, query
from colline.pipeline.history.reports import Reports

# A job runs several statements; of those that have changed over time, the latest are kept.
MAX_STATEMENTS = 20
DESCRIBED = {
    **{"job_id": "bigint", "at": "timestamp", "run_group": "string", "sql": "string", "location": "string"},
    **{"job_description": "string", "job_tags": "array<string>"},
}

# The latest of a job's runs is the one that started last.
STATES = f"""
with known as (
  select /*+ broadcast(j) */ k.* from {{known}} k
  left semi join {{jobs}} j on j.job_id = k.job_id
  left anti join {{recomputed}} r on r.job_id = k.job_id
), facts as (
  select job_id, job_namespace as namespace, job_name as name, integration, owner, started_at as first_seen,
    struct(started_at, run_id, true as is_new, state, ended_at) as last,
    if(state = 'COMPLETE', ended_at, null) as last_success,
    if(state = 'FAIL', struct(ended_at, error), null) as failure,
    cast(if(was_known, 0, 1) as bigint) as runs,
    if(effective and size(opaque) = 0, ended_at, null) as last_clear
  from {{runs}}
  union all
  -- a run of this batch replaces the job's values of it: its first event may arrive after its last one
  select k.job_id, k.namespace, k.name, k.integration, k.owner, k.first_seen,
    if(r.run_id is null, struct(k.last_started as started_at, k.last_run as run_id, false as is_new,
      k.last_state as state, k.last_ended as ended_at), null) as last,
    k.last_success,
    if(k.last_failure is not null, struct(k.last_failure as ended_at, k.last_error as error), null) as failure,
    k.runs, k.last_clear
  from known k left join {{runs}} r on r.run_id = k.last_run
), united as (
  select job_id, namespace, name, max(integration) as integration, max(owner) as owner, min(first_seen) as first_seen,
    max(last) as last, max(last_success) as last_success, max(failure) as failure, sum(runs) as runs,
    max(last_clear) as last_clear
  from facts group by job_id, namespace, name
), written as (
  -- what the events of the batch, and those before it, contain about the jobs
  select job_id, at, run_group, sql, location, job_description, job_tags from {{described}}
  union all
  select k.job_id, c.at, c.run_group, c.sql, null, null, null
  from (select job_id, explode(code) as c from {{known}}) k left semi join {{jobs}} j on j.job_id = k.job_id
  union all
  select k.job_id, k.about.at, null, null, k.about.location, k.about.description, k.about.tags
  from {{known}} k left semi join {{jobs}} j on j.job_id = k.job_id where k.about is not null
), statements as (
  select job_id, sql, max(struct(at, run_group)) as last from written where sql is not null group by job_id, sql
), code as (
  select job_id, slice(reverse(array_sort(collect_list(struct(last.at, last.run_group, sql)))), 1, {MAX_STATEMENTS})
    as code
  from statements group by job_id
), about as (
  select job_id, max(struct(at, location, job_description as description, job_tags as tags)) as about
  from written where location is not null or job_description is not null or size(job_tags) > 0 group by job_id
)
select u.job_id, namespace, name, integration, owner, first_seen, last.run_id as last_run, last.state as last_state,
  last.started_at as last_started, last.ended_at as last_ended, last_success, failure.ended_at as last_failure,
  failure.error as last_error, runs, last_clear, c.code, a.about
from united u
left join code c on c.job_id = u.job_id
left join about a on a.job_id = u.job_id
union all
select k.* from {{known}} k left anti join {{jobs}} j on j.job_id = k.job_id
"""


def describe_jobs(tables: LakeTables, events: DataFrame | None) -> DataFrame:
    """What events contain about their jobs in addition to runs: SQL, code location, description, tags."""
    if events is None:
        return empty(tables.spark, DESCRIBED)
    has_any = "sql is not null or location is not null or job_description is not null or size(job_tags) > 0"
    group = "coalesce(root_run, parent_run, run_id) as run_group"
    columns = ("job_id", "t as at", group, "sql", "location", "job_description", "job_tags")
    return events.where(has_any).selectExpr(*columns)


def write_jobs(tables: LakeTables, reports: Reports, described: DataFrame) -> None:
    """Begin to replace the states of the jobs that change."""
    rows = query(
        tables.spark,
        STATES,
        known=tables.read(JOBS),
        jobs=reports.jobs,
        recomputed=reports.recomputed,
        runs=reports.runs,
        described=described,
    )
    tables.replace(JOBS, rows)
