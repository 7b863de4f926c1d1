"""Observations: when each job reported each mention of a dataset, and how many runs read or wrote it."""

from __future__ import annotations

from pyspark.sql import DataFrame

from colline.lake.tables import OBSERVATIONS
from colline.pipeline.delta_tables import LakeTables, materialize, query
from colline.pipeline.history.reports import Reports
from colline.pipeline.history.runs import partition_condition

# A run reads the columns of its lineage; without lineage, those that its inputs list. It counts once per fingerprint.
NEW = """
with roles as (
  select run_id, max(role = 'O') as has_outputs, max(role = 'O' and fingerprint is not null) as has_lineage
  from {mentions} group by run_id
), used as (
  select m.*, case when m.fingerprint is null then null when m.role <> 'I' then 'write'
    when r.has_lineage then null when r.has_outputs then 'write' else 'query' end as kind
  from {mentions} m join roles r on r.run_id = m.run_id
), counted as (
  select *, row_number() over (partition by run_id, fingerprint, kind order by n desc, digest) = 1 as is_first from used
)
select job_id, digest, kind, sum(if(is_first and kind is not null, n, 0)) as runs, min(effective_at) as first_seen,
  max(struct(ended_at, run_id)) as last
from counted group by job_id, digest, kind
"""

# The rows of the table that change: those of the same keys, and all of recomputed jobs.
BEFORE = """
select k.* from {known} k
left semi join {new} n on n.job_id = k.job_id and n.digest = k.digest and n.kind <=> k.kind
union
select k.* from {known} k left semi join {recomputed} r on r.job_id = k.job_id
"""

AFTER = """
with rows as (
  select job_id, digest, kind, runs, first_seen, last from {new}
  union all
  select b.job_id, b.digest, b.kind, b.runs, b.first_seen, struct(b.last_seen as ended_at, b.last_run as run_id) as last
  from {before} b left anti join {recomputed} r on r.job_id = b.job_id
), united as (
  select job_id, digest, kind, sum(runs) as runs, min(first_seen) as first_seen, max(last) as last
  from rows group by job_id, digest, kind
)
select job_id, digest, kind, runs, first_seen, last.ended_at as last_seen, last.run_id as last_run,
  date_format(last.ended_at, 'yyyy-MM') as part
from united
"""

KEPT = """
select k.* from {known} k
left anti join {before} b on b.job_id = k.job_id and b.digest = k.digest and b.kind <=> k.kind
"""


def write_observations(tables: LakeTables, reports: Reports) -> None:
    """Begin to add what the runs report; only the months that change are replaced."""
    spark, known = tables.spark, tables.read(OBSERVATIONS)
    new = materialize(query(spark, NEW, mentions=reports.mentions))
    if new.isEmpty() and not reports.has_recomputed:
        return
    before = materialize(query(spark, BEFORE, known=known, new=new, recomputed=reports.recomputed))
    after = query(spark, AFTER, new=new, before=before, recomputed=reports.recomputed)
    parts = _parts(before)
    if not parts:
        tables.append(OBSERVATIONS, after)
        return
    kept = query(spark, KEPT, known=known.where(partition_condition(parts)), before=before)
    tables.replace(OBSERVATIONS, kept.unionByName(after.select(*kept.columns)), partition_condition(parts))


def _parts(rows: DataFrame) -> list[str]:
    found = rows.selectExpr("sort_array(collect_set(part)) as parts").first()
    return list(found["parts"]) if found else []
