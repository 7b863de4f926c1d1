"""The SQL statements that derive the flat tables of `lake.flat_shapes` from the stored tables of `lake.tables`.

Stored rows have the ids of the names that events reported. `canonical_datasets` and `canonical_columns` find the
dataset or column that a reported one stands for, because an alias is the same dataset under another name.
"""

from __future__ import annotations

_CANONICAL_COLUMNS = """
  named_columns as (
    select c.column_id, c.dataset_id, coalesce(a.target_id, c.dataset_id) as canonical_dataset, lower(c.field) as key,
           max(c.field) as field, array_distinct(flatten(collect_list(c.tags))) as tags
    from {columns} c left join {aliases} a on a.dataset_id = c.dataset_id
    group by all
  ),
  canonical_columns as (
    -- the column of the canonical dataset; if it has none, the one with the smallest id
    select column_id as reported_id, canonical_dataset as dataset_id, key, field, tags,
           case when dataset_id = canonical_dataset then column_id else coalesce(
             min(case when dataset_id = canonical_dataset then column_id end) over same_column,
             min(column_id) over same_column
           ) end as column_id
    from named_columns
    window same_column as (partition by canonical_dataset, key)
  )"""

_OBSERVED_MENTIONS = """
  mention_times as (
    select digest, min(first_seen) as first_seen, max(last_seen) as last_seen from {observations} group by digest
  ),
  observed_mentions as (
    select m.*, coalesce(a.target_id, m.dataset_id) as canonical_dataset, t.first_seen, t.last_seen
    from {mentions} m join mention_times t using (digest) left join {aliases} a on a.dataset_id = m.dataset_id
  ),
  fingerprint_times as (
    select fingerprint, min(first_seen) as first_seen, max(last_seen) as last_seen
    from observed_mentions where fingerprint is not null group by fingerprint
  ),
  schema_versions as (
    select canonical_dataset, schema_digest as digest, min(first_seen) as first_seen, max(last_seen) as last_seen,
           max(transform(columns, c -> struct(c.name as name, c.type as type))) as fields
    from observed_mentions
    where role in ('O', 'D') and lifecycle is distinct from 'DROP' and schema_digest is not null and size(columns) > 0
    group by all
  )"""

_NAMED_DATASETS = """
  named_datasets as (
    select d.dataset_id, coalesce(a.target_id, d.dataset_id) as canonical_dataset, max(d.namespace) as namespace,
           max(d.name) as name, max(d.layer) as layer, max(d.owner) as owner, max(d.domain) as domain
    from {datasets} d left join {aliases} a on a.dataset_id = d.dataset_id
    group by all
  )"""

EDGES_VIEW = f"""
with {_CANONICAL_COLUMNS},
  reported as (
    select job_id, dataset_id, version, valid_to, inline(reported) from {{lineage_versions}}
  ),
  edges_of_versions as (
    select r.job_id, r.dataset_id, r.version, s.column_id as source_id, t.column_id as target_id, e.type, e.subtype,
           e.masking, e.description, max(s.dataset_id) as source_dataset_id, max(r.valid_to) as valid_to,
           min(struct(r.first_seen, r.first_run)) as first, max(struct(r.last_seen, r.last_run)) as last,
           sum(r.runs) as runs
    from reported r
      join {{edges}} e on e.fingerprint = r.fingerprint and e.target_id is not null
      join canonical_columns s on s.reported_id = e.source_id
      join canonical_columns t on t.reported_id = e.target_id
    group by all
  ),
  islands as (
    -- consecutive versions with the same edge have the same difference
    select *, version - row_number() over (
      partition by job_id, dataset_id, source_id, target_id, type, subtype, masking, description order by version
    ) as island
    from edges_of_versions
  )
select source_id, target_id, job_id, type, subtype, masking, description,
       min(first).first_seen as first_seen, max(last).last_seen as last_seen, max_by(valid_to, version) as retired_at,
       min(first).first_run as first_run, max(last).last_run as last_run, sum(runs) as runs, dataset_id,
       max(source_dataset_id) as source_dataset_id
from islands
group by job_id, dataset_id, source_id, target_id, type, subtype, masking, description, island
"""

READS_VIEW = f"""
with {_CANONICAL_COLUMNS},
  columns_of_fingerprints as (
    select distinct e.fingerprint, s.column_id, s.dataset_id, e.use
    from {{edges}} e join canonical_columns s on s.reported_id = e.source_id
  )
select c.column_id, o.job_id, c.use, o.kind, min(o.first_seen) as first_read,
       max(struct(o.last_seen, o.last_run)).last_seen as last_read,
       max(struct(o.last_seen, o.last_run)).last_run as last_run, sum(o.runs) as reads, max(c.dataset_id) as dataset_id
from {{observations}} o join {{mentions}} m using (digest) join columns_of_fingerprints c using (fingerprint)
where o.kind is not null
group by c.column_id, o.job_id, c.use, o.kind
"""

COLUMNS_VIEW = f"""
with {_CANONICAL_COLUMNS},
  {_OBSERVED_MENTIONS},
  {_NAMED_DATASETS},
  mentioned_columns as (
    select canonical_dataset, first_seen, last_seen, posexplode(columns) as (ordinal, column)
    from observed_mentions where lifecycle is distinct from 'DROP'
  ),
  contributions as (
    select column.column_id, first_seen, last_seen, column.tags,
           struct(last_seen as typed_at, column.type, ordinal, column.name as field) as typed,
           if(column.description is null, null, struct(last_seen, column.description as text)) as described
    from mentioned_columns
    union all
    select e.source_id, t.first_seen, t.last_seen, null, null, null
    from {{edges}} e join fingerprint_times t using (fingerprint)
    union all
    select e.target_id, t.first_seen, t.last_seen, null, null, null
    from {{edges}} e join fingerprint_times t using (fingerprint) where e.target_id is not null
  ),
  expressions as (
    select c.column_id as id, max(struct(e.last_seen, e.value.text as text)).text as expression
    from (select last_seen, explode(expressions) as value from observed_mentions) e
      join canonical_columns c on c.reported_id = e.value.column_id
    group by c.column_id
  ),
  observed_columns as (
    select c.column_id as id, c.dataset_id, c.key, coalesce(max(o.typed).field, max(c.field)) as field,
           max(o.typed).type as type, max(o.typed).ordinal as ordinal, min(o.first_seen) as first_seen,
           max(o.last_seen) as last_seen, flatten(collect_set(o.tags)) as tags,
           max(o.described).text as description
    from contributions o join canonical_columns c on c.reported_id = o.column_id
    group by c.column_id, c.dataset_id, c.key
  ),
  rule_tags as (
    select column_id as id, flatten(collect_set(tags)) as tags from canonical_columns group by column_id
  ),
  newest_schemas as (
    select canonical_dataset, max_by(struct(first_seen, fields), struct(last_seen, digest)) as newest
    from schema_versions group by canonical_dataset
  ),
  described as (
    select o.*, d.namespace, d.name, concat(o.tags, r.tags, coalesce(x.tags, array())) as all_tags,
           n.newest.first_seen as schema_since, transform(n.newest.fields, f -> lower(f.name)) as listed
    from observed_columns o
      join rule_tags r on r.id = o.id
      join named_datasets d on d.dataset_id = o.dataset_id
      left join newest_schemas n on n.canonical_dataset = o.dataset_id
      left join {{descriptions}} x on x.namespace = d.namespace and x.name = d.name and lower(x.column) = o.key
  )
select id, dataset_id, if(field = '*', 'rows', 'column') as kind, namespace, name, field, type, ordinal,
       array_sort(array_distinct(all_tags)) as tags, first_seen, last_seen,
       case when field <> '*' and not array_contains(listed, key)
              and not array_contains(listed, substring_index(key, '.', 1)) and last_seen < schema_since
            then schema_since end as removed_at, description, x.expression
from described left join expressions x using (id)
"""

DATASETS_VIEW = f"""
with {_OBSERVED_MENTIONS},
  {_NAMED_DATASETS},
  read_datasets as (
    select distinct e.source_dataset_id as reported_id, coalesce(a.target_id, e.source_dataset_id) as canonical_dataset,
           e.fingerprint
    from {{edges}} e left join {{aliases}} a on a.dataset_id = e.source_dataset_id
  ),
  contributions as (
    select canonical_dataset, dataset_id as reported_id, first_seen, last_seen,
           case when role = 'O' and coalesce(lifecycle, '') not in ('DROP', 'RENAME', 'ALTER') then last_seen end
             as last_written,
           case when role = 'I' then last_seen end as last_read,
           case when lifecycle = 'DROP' then last_seen end as dropped_at, kind, owner, tags,
           if(description is null, null, struct(last_seen, description as text)) as described
    from observed_mentions
    union all
    select r.canonical_dataset, r.reported_id, t.first_seen, t.last_seen, null, t.last_seen, null, null, null, null,
           null
    from read_datasets r join fingerprint_times t using (fingerprint)
  ),
  observed_datasets as (
    select o.canonical_dataset as id, min(o.first_seen) as first_seen, max(o.last_seen) as last_seen,
           max(o.last_written) as last_written, max(o.last_read) as last_read, max(o.dropped_at) as dropped_at,
           coalesce(max(array_position(array('OTHER', 'FILE', 'JDBC', 'TOPIC', 'TABLE', 'VIEW'), o.kind)), 0) as rank,
           max(coalesce(d.owner, o.owner)) as owner, flatten(collect_set(o.tags)) as tags,
           max(o.described).text as description
    from contributions o left join named_datasets d on d.dataset_id = o.reported_id
    group by o.canonical_dataset
  ),
  rules as (
    select canonical_dataset, max(layer) as layer, max(domain) as domain from named_datasets group by canonical_dataset
  ),
  link_times as (
    select canonical_dataset, link.namespace, link.name, link.type, max(last_seen) as seen
    from observed_mentions lateral view explode(symlinks) as link
    where length(link.name) > 0
    group by all
  ),
  links as (
    select canonical_dataset, array_sort(collect_list(struct(namespace, name, type, seen))) as symlinks
    from link_times group by canonical_dataset
  ),
  schemas as (
    select canonical_dataset,
           slice(reverse(array_sort(collect_list(struct(last_seen, digest, first_seen, fields)))), 1, 100)
             as newest_first
    from schema_versions group by canonical_dataset
  )
select o.id, d.namespace, d.name,
       element_at(array('OTHER', 'FILE', 'JDBC', 'TOPIC', 'TABLE', 'VIEW'), greatest(cast(o.rank as int), 1)) as kind,
       coalesce(x.layer, r.layer) as layer, coalesce(x.owner, o.owner) as owner, coalesce(x.domain, r.domain) as domain,
       coalesce(l.symlinks, array()) as symlinks,
       array_sort(array_distinct(concat(o.tags, coalesce(x.tags, array())))) as tags,
       o.first_seen, o.last_seen, o.last_written, o.last_read,
       case when o.last_written > o.dropped_at then null else o.dropped_at end as dropped_at,
       coalesce(
         transform(s.newest_first, v -> struct(v.digest, v.first_seen, v.last_seen, v.fields)), array()
       ) as schemas,
       cast(null as bigint) as merged_into, o.description
from observed_datasets o
  join named_datasets d on d.dataset_id = o.id
  left join rules r on r.canonical_dataset = o.id
  left join links l on l.canonical_dataset = o.id
  left join schemas s on s.canonical_dataset = o.id
  left join {{descriptions}} x on x.namespace = d.namespace and x.name = d.name and x.column is null
union all
-- an alias that events reported as a dataset, so that its id is found
select d.dataset_id, d.namespace, d.name, null, null, null, null, null, null, null, null, null, null, null, null,
       d.canonical_dataset, null
from named_datasets d join (select distinct reported_id from contributions) c on c.reported_id = d.dataset_id
where d.dataset_id <> d.canonical_dataset
"""

# `edges` is the flat table here
JOBS_VIEW = """
with changes as (
  select job_id, max(greatest(first_seen, retired_at)) as changed_at from {edges} group by job_id
),
outputs as (
  select job_id, array_sort(collect_set(dataset_id)) as outputs
  from {lineage_versions} where is_current group by job_id
)
select j.job_id as id, j.namespace, j.name, j.integration, j.owner, j.first_seen, j.last_run, j.last_state,
       j.last_started, j.last_ended, j.last_success, j.last_failure, j.last_error, c.changed_at, j.runs,
       coalesce(o.outputs, array()) as outputs, j.about.description, coalesce(j.about.tags, array()) as tags,
       -- the statements of the last group of runs, in their order
       array_join(reverse(transform(filter(j.code, s -> s.run_group <=> j.code[0].run_group), s -> s.sql)), ';\n\n')
         as sql,
       j.about.location
from {jobs} j left join changes c using (job_id) left join outputs o using (job_id)
"""

COVERAGE_VIEW = """
select kind, job_id, dataset_id, run_id, detail, first_seen, last_seen, resolved_at from {coverage}
"""
