"""Turns the lineage facets of every producer into column edges.

The compact form, the cartesian one, the deprecated `transformationType` and the newer `lineage` facet give the same
edges. An edge to the rows of a dataset (`is_rows`) decides which rows there are. An edge without a target is a read.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from colline.naming.normalize_sql import name_of, namespace_of
from colline.pipeline.delta_tables import materialize, query
from colline.pipeline.user_rules import Rules, apply_dataset_rules

# subtypes of effects on rows: if all columns have one in common, it is the rows' own, even with a single column
ROW_SUBTYPES = ("FILTER", "JOIN", "GROUP_BY", "SORT")
USES = ("value", "join", "filter", "group_by", "sort", "window", "conditional")
_USE = (
    "case when type = 'DIRECT' then 'value' "
    f"when lower(subtype) in ({', '.join(repr(use) for use in USES)}) then lower(subtype) else 'conditional' end"
)
_TYPE = "coalesce(upper(trim(t.type)), 'DIRECT')"

# One row per input field, target and transformation. A missing effect is the weakest claim.
EFFECTS = f"""
with outputs as (
  select fingerprint, dataset_id, size(fields) as width, explode(fields) as (target, output) from {{lineages}}
), inputs as (
  select fingerprint, dataset_id, width, trim(target) as target, output.transformationType as old_type,
    output.transformationDescription as old_text, explode(coalesce(output.inputFields, output.inputs)) as i,
    false as in_rows
  from outputs where length(trim(target)) > 0
  union all
  select fingerprint, dataset_id, 0 as width, cast(null as string) as target, cast(null as string) as old_type,
    cast(null as string) as old_text, explode(rows) as i, true as in_rows
  from {{lineages}}
), transformations as (
  select *, explode_outer(i.transformations) as t from inputs
)
select fingerprint, dataset_id, width, target, in_rows, i.namespace, i.name, trim(i.field) as field,
  if({_TYPE} = 'INDIRECT', 'INDIRECT', 'DIRECT') as type,
  coalesce(upper(trim(t.subtype)), if({_TYPE} = 'DIRECT',
    if(upper(old_type) = 'IDENTITY', 'IDENTITY', 'TRANSFORMATION'), 'CONDITIONAL')) as subtype,
  coalesce(lower(t.masking) = 'true', upper(old_type) = 'MASKED', false) as masking,
  coalesce(t.description, old_text, '') as description
from transformations
where length(trim(i.field)) > 0 and length(i.name) > 0
"""

# Effects with the normalized names of their sources, as edges.
EDGES = f"""
with named as (
  select e.fingerprint, e.dataset_id, e.width, e.target, e.in_rows, n.to_namespace as namespace, n.to_name as name,
    e.field, e.type, e.subtype, e.masking, e.description, n.reported_namespace, n.reported_name
  from {{effects}} e
  join {{names}} n on n.namespace <=> e.namespace and n.name = e.name
), direct as (
  select distinct * from named where type = 'DIRECT' and not in_rows
), indirect as (
  -- an effect that all columns have in common belongs to the rows
  select *, count(*) over (
    partition by fingerprint, namespace, name, field, type, subtype, masking, description) as columns
  from (select distinct * from named where type = 'INDIRECT' and not in_rows)
), edges as (
  select fingerprint, dataset_id, target, false as is_rows, namespace, name, field, type, subtype, masking,
    description, reported_namespace, reported_name
  from direct
  union all
  select fingerprint, dataset_id, target,
    columns = width and (width > 1 or subtype in ({", ".join(repr(subtype) for subtype in ROW_SUBTYPES)})) as is_rows,
    namespace, name, field, type, subtype, masking, description, reported_namespace, reported_name
  from indirect
  union all
  select fingerprint, dataset_id, target, true as is_rows, namespace, name, field, type, subtype, masking,
    description, reported_namespace, reported_name
  from named where in_rows and type = 'INDIRECT'
  union all
  -- a direct effect on all rows repeats what a column reports, or stands for the rows of its branch
  select n.fingerprint, n.dataset_id, n.target, true as is_rows, n.namespace, n.name, n.field, 'INDIRECT' as type,
    'FILTER' as subtype, n.masking, n.description, n.reported_namespace, n.reported_name
  from named n
  left anti join direct d on d.fingerprint = n.fingerprint and d.namespace = n.namespace and d.name = n.name
    and d.field = n.field
  where n.in_rows and n.type = 'DIRECT'
)
select distinct fingerprint, dataset_id, if(is_rows, '*', target) as target, namespace, name, field, type, subtype,
  masking, description, {_USE} as use, reported_namespace, reported_name
from edges
"""

# Columns read by a query that writes nothing, of the `colline_columnsRead` facet.
READS = """
with columns as (
  select fingerprint, dataset_id, to_namespace, to_name, namespace, name, explode(reads) as r from {lineages}
), uses as (
  select *, explode(coalesce(r.uses, array('value'))) as used from columns where length(r.name) > 0
)
select distinct fingerprint, dataset_id, cast(null as string) as target, to_namespace as namespace, to_name as name,
  r.name as field, cast(null as string) as type, cast(null as string) as subtype, false as masking, '' as description,
  lower(used) as use, namespace as reported_namespace, name as reported_name
from uses
"""


def lineage_edges(spark: SparkSession, lineages: DataFrame, rules: Rules) -> DataFrame:
    """The edges of each fingerprint, in names.

    `lineages` has one row per fingerprint with `fields`, `rows` and `reads`, and the names of its dataset.
    """
    written = lineages.where("not startswith(fingerprint, 'r')")
    effects = materialize(query(spark, EFFECTS, lineages=written))
    edges = query(spark, EDGES, effects=effects, names=_names(effects, rules))
    reads = query(spark, READS, lineages=lineages.where("startswith(fingerprint, 'r')"))
    return materialize(edges.unionByName(reads))


def _names(effects: DataFrame, rules: Rules) -> DataFrame:
    """The distinct names of sources with their normalized form: thousands of edges have a dozen names."""
    names = effects.select("namespace", "name").distinct()
    spelled = names.selectExpr("*", f"{namespace_of('namespace')} as reported_namespace")
    # materialized, because Spark would otherwise normalize the name of each edge to find the empty ones
    spelled = materialize(spelled.selectExpr("*", f"{name_of('reported_namespace', 'name')} as reported_name"))
    to_namespace, to_name = apply_dataset_rules("reported_namespace", "reported_name", rules)
    named = spelled.where("length(reported_name) > 0")
    return named.selectExpr("*", f"{to_namespace} as to_namespace", f"{to_name} as to_name")
