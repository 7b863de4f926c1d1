"""Lineage versions: which fingerprints of lineage a job's output had when, as a slowly changing dimension (type 2).

Runs of one (job, dataset) that share a group are one write: an application that appends from ten branches, or a command
and its write. An overwrite that begins when everything before it in its group has ended starts the next write.
Consecutive writes with equal fingerprints are one version. The last version is current.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from colline.lake.tables import LINEAGE_VERSIONS
from colline.pipeline.delta_tables import LakeTables, materialize, query
from colline.pipeline.history.reports import Reports

_KEY = "job_id, dataset_id"
_OF_GROUP = f"partition by {_KEY}, run_group order by is_past desc, started, last, run_id"
_IN_ORDER = f"partition by {_KEY} order by last, first, run_group, epoch"

# The versions of all outputs that the runs write, continued from their current version (`past`).
VERSIONS = f"""
with written as (
  select distinct {_KEY} from {{writes}}
), past as (
  select p.* from {{past}} p left semi join written w on w.job_id = p.job_id and w.dataset_id = p.dataset_id
), items as (
  select {_KEY}, last_write.last_run as run_id, last_write.run_group, last_write.started,
    last_write.first_seen as first, last_write.last_seen as last, false as overwrite, fingerprints,
    last_write.runs as n, true as is_past
  from past
  union all
  select {_KEY}, run_id, run_group, started_at as started, effective_at as first, ended_at as last, overwrite,
    fingerprints, cast(n as bigint) as n, false as is_past
  from {{writes}}
), ended as (
  select *, max(last) over ({_OF_GROUP} rows between unbounded preceding and 1 preceding) as previous_end from items
), epochs as (
  select *, sum(cast(coalesce(overwrite and started >= previous_end, false) as int)) over (
    {_OF_GROUP} rows between unbounded preceding and current row) as epoch
  from ended
), combined as (
  select {_KEY}, run_group, epoch, min(started) as started, min(first) as first, max(last) as last,
    array_sort(array_distinct(flatten(collect_list(fingerprints)))) as fingerprints, sum(n) as n,
    max(struct(last, run_id)).run_id as last_run
  from epochs group by {_KEY}, run_group, epoch
), compared as (
  select *, row_number() over ({_IN_ORDER}) as place, lead(first) over ({_IN_ORDER}) as next_first,
    lead(last) over ({_IN_ORDER}) as next_last,
    cast(coalesce(lag(fingerprints) over ({_IN_ORDER}) <> fingerprints, false) as int) as is_changed
  from combined
), numbered as (
  select *, sum(is_changed) over ({_IN_ORDER} rows between unbounded preceding and current row) as number
  from compared
), spans as (
  select e.job_id, e.dataset_id, c.number, explode(e.fingerprints) as fingerprint, e.n as runs,
    struct(e.first as at, e.run_id as run) as first, struct(e.last as at, e.run_id as run) as last
  from epochs e join numbered c
    on c.job_id = e.job_id and c.dataset_id = e.dataset_id and c.run_group = e.run_group and c.epoch = e.epoch
  where not e.is_past
  union all
  select r.job_id, r.dataset_id, c.number, r.f.fingerprint, r.f.runs,
    struct(r.f.first_seen as at, r.f.first_run as run) as first,
    struct(r.f.last_seen as at, r.f.last_run as run) as last
  from (select {_KEY}, last_write.run_group, explode(reported) as f from past) r
  join epochs e on e.job_id = r.job_id and e.dataset_id = r.dataset_id and e.is_past
  join numbered c
    on c.job_id = e.job_id and c.dataset_id = e.dataset_id and c.run_group = e.run_group and c.epoch = e.epoch
), united as (
  select {_KEY}, number, fingerprint, sum(runs) as runs, min(first) as first, max(last) as last
  from spans group by {_KEY}, number, fingerprint
), reported as (
  select {_KEY}, number, min(first.at) as valid_from, array_sort(collect_list(struct(fingerprint, runs,
    first.at as first_seen, first.run as first_run, last.at as last_seen, last.run as last_run))) as reported
  from united group by {_KEY}, number
), newest as (
  select {_KEY}, number, max(struct(place, fingerprints, next_first, next_last,
    struct(run_group, started, first as first_seen, last as last_seen, last_run, n as runs) as last_write)) as v
  from numbered group by {_KEY}, number
)
select v.job_id, v.dataset_id, cast(coalesce(p.version, 0) + v.number as int) as version, r.valid_from,
  if(v.v.next_first > v.v.last_write.last_seen, v.v.next_first, v.v.next_last) as valid_to,
  v.v.next_last is null as is_current, v.v.fingerprints, r.reported, v.v.last_write
from newest v
join reported r on r.job_id = v.job_id and r.dataset_id = v.dataset_id and r.number = v.number
left join past p on p.job_id = v.job_id and p.dataset_id = v.dataset_id
"""

KEPT = """
select k.* from {known} k
left anti join {now} n on n.job_id = k.job_id and n.dataset_id = k.dataset_id and k.is_current
left anti join {recomputed} r on r.job_id = k.job_id
"""

CURRENT = """
select p.* from {past} p left anti join {now} n on n.job_id = p.job_id and n.dataset_id = p.dataset_id
union all
select * from {now} where is_current
"""


def lineage_versions(tables: LakeTables, reports: Reports) -> DataFrame:
    """The versions that replace the current ones of the outputs that are written."""
    return materialize(query(tables.spark, VERSIONS, writes=reports.writes, past=reports.past))


def current_of_jobs(tables: LakeTables, reports: Reports, now: DataFrame) -> DataFrame:
    """The current versions of all outputs of the jobs that change."""
    return query(tables.spark, CURRENT, past=reports.past, now=now)


def write_versions(tables: LakeTables, reports: Reports, now: DataFrame) -> None:
    """Begin to replace the current versions and to append closed ones; a recomputed job is replaced whole."""
    if now.isEmpty() and not reports.has_recomputed:
        return
    known = tables.read(LINEAGE_VERSIONS)
    where = None if reports.has_recomputed else "is_current = true"
    known = known if where is None else known.where(where)
    kept = query(tables.spark, KEPT, known=known, now=now, recomputed=reports.recomputed)
    tables.replace(LINEAGE_VERSIONS, kept.unionByName(now.select(*kept.columns)), where)
