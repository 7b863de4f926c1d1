"""Finds the dataset that a name stands for: catalog names are symlinks, the physical location is the identity."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from colline.lake.tables import ALIASES, DATASETS, MENTIONS, OBSERVATIONS, RUNS, fields_of
from colline.pipeline.delta_tables import LakeTables, empty, materialize, query

# what the effective runs of the batch report with symlinks
LINKED = """
select m.digest, ended_at, m.links
from (select ended_at, explode(mentions) as m from {runs} where effective)
where m.links is not null
"""

# jobs with a run that failed after its links were counted
FAILED_JOBS = """
select distinct was_job_id as job_id from {runs}
where was_effective and not effective and exists(was_mentions, m -> m.links is not null)
"""

# links that the lake does not have
NEW_LINKS = """
with links as (
  select distinct l.alias_id, l.target_id from (select explode(links) as l from {linked})
)
select l.alias_id from links l
left anti join {known} k on k.dataset_id = l.alias_id and k.direct_id = l.target_id
"""

# runs of the jobs that the batch does not change
EARLIER_RUNS = """
select k.* from {known} k
left semi join {jobs} j on j.job_id = k.job_id
left anti join {runs} r on r.run_id = k.run_id
"""

# The dataset that was last reported to have each name. Of `a is b` and `b is a` the smaller name is the dataset.
RESOLVED = """
with seen as (
  select digest, max(seen) as seen from (
    select o.digest, o.last_seen as seen from {observations} o left anti join {failed} f on f.job_id = o.job_id
    union all
    select digest, ended_at as seen from {linked})
  group by digest
), linked as (
  select m.dataset_id, s.dataset_id as linked_id, coalesce(upper(s.type) = 'LOCATION', false) as is_location, t.seen
  from (select digest, dataset_id, explode(symlinks) as s from {mentions}) m join seen t on t.digest = m.digest
), pairs as (
  select if(is_location, dataset_id, linked_id) as alias_id, if(is_location, linked_id, dataset_id) as target_id, seen
  from linked where dataset_id <> linked_id
), names as (
  select distinct dataset_id, namespace, name from {datasets}
), newest as (
  select p.alias_id, max(struct(p.seen, n.namespace, n.name, p.target_id)) as target
  from pairs p join names n on n.dataset_id = p.target_id
  group by p.alias_id
), named as (
  select l.alias_id, l.target.target_id as direct_id,
    array(n.namespace, n.name) < array(l.target.namespace, l.target.name) as is_smaller
  from newest l join names n on n.dataset_id = l.alias_id
), direct as (
  select alias_id, direct_id from (
    select *, count(*) over (
      partition by least(alias_id, direct_id), greatest(alias_id, direct_id)) > 1 as is_mutual
    from named)
  where not (is_mutual and is_smaller)
)
select d.alias_id as dataset_id, d.direct_id, coalesce(e.direct_id, d.direct_id) as target_id
from direct d left join direct e on e.alias_id = d.direct_id
"""

CHANGED = """
select coalesce(n.dataset_id, k.dataset_id) as dataset_id
from {now} n full join {known} k on k.dataset_id = n.dataset_id
where n.target_id is distinct from k.target_id
"""


@dataclass(frozen=True, slots=True)
class Aliases:
    """The dataset that each symlink stands for, and the ids for which the batch changed that."""

    tables: LakeTables
    resolved: DataFrame
    changed: DataFrame
    has_changed: bool

    def write(self) -> None:
        """Begin to write the aliases, if they have changed."""
        if self.has_changed:
            self.tables.replace(ALIASES, self.resolved)


def resolve(tables: LakeTables, runs: DataFrame, mentions: DataFrame, datasets: DataFrame) -> Aliases:
    """The aliases with the links that the batch's runs report. `mentions` and `datasets` are the rows it adds."""
    spark, known = tables.spark, tables.read(ALIASES)
    linked, failed = query(spark, LINKED, runs=runs), query(spark, FAILED_JOBS, runs=runs)
    if query(spark, NEW_LINKS, linked=linked, known=known).union(failed).isEmpty():
        return known_aliases(tables)
    failed = materialize(failed)
    now = materialize(
        query(
            spark,
            RESOLVED,
            observations=tables.read(OBSERVATIONS).select("job_id", "digest", "last_seen"),
            failed=failed,
            linked=linked.unionByName(_earlier_linked(tables, runs, failed)),
            mentions=_with_new(tables.read(MENTIONS), mentions, "digest", "dataset_id", "symlinks"),
            datasets=_with_new(tables.read(DATASETS), datasets, "dataset_id", "namespace", "name"),
        )
    )
    changed = materialize(query(spark, CHANGED, now=now, known=known))
    return Aliases(tables, now, changed, has_changed=not changed.isEmpty())


def _earlier_linked(tables: LakeTables, runs: DataFrame, jobs: DataFrame) -> DataFrame:
    """What earlier runs of these jobs report with symlinks: their observations include the runs that failed."""
    known = empty(tables.spark, fields_of(RUNS)) if jobs.isEmpty() else tables.read(RUNS)
    earlier = query(tables.spark, EARLIER_RUNS, known=known, jobs=jobs, runs=runs)
    return query(tables.spark, LINKED, runs=earlier)


def known_aliases(tables: LakeTables) -> Aliases:
    """The aliases as they were before the batch."""
    return Aliases(tables, tables.read(ALIASES), empty(tables.spark, {"dataset_id": "bigint"}), has_changed=False)


def _with_new(known: DataFrame, new: DataFrame, *columns: str) -> DataFrame:
    return known.select(*columns).unionByName(new.select(*columns))
