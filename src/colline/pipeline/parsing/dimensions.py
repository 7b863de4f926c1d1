"""Facts that the payloads of a batch contain for the first time: mentions, lineage edges, datasets and columns.

They are immutable, so rows are only added. When they were true is derived from observations.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from colline.lake.tables import COLUMNS, DATASETS, DESCRIPTIONS, EDGES, MENTIONS, PAYLOADS, fields_of
from colline.pipeline.delta_tables import LakeTables, empty, materialize, query
from colline.pipeline.parsing.event_parsing import MAX_DESCRIPTION_CHARACTERS, tag_words
from colline.pipeline.parsing.lineage_edges import lineage_edges
from colline.pipeline.parsing.payloads import BatchEvents
from colline.pipeline.user_rules import Rules, attribute_of, read_metadata, tags_of

_OF_COLUMN = tag_words("filter(m.tags, t -> length(t.field) > 0 and lower(t.field) = lower(f.name))")

# columns that are derived from no column, with what the event reports about their value
_EXPRESSIONS = (
    "transform(filter(map_entries(m.texts.fields), e -> length(e.value.transformationDescription) > 0"
    " and coalesce(size(coalesce(e.value.inputFields, e.value.inputs)), 0) <= 0),"
    " e -> struct(xxhash64(m.dataset_id, lower(e.key)) as column_id,"
    f" substring(e.value.transformationDescription, 1, {MAX_DESCRIPTION_CHARACTERS}) as text))"
)

NEW_MENTIONS = f"""
with found as (
  select line_id, posexplode(mentions) as (position, mention) from {{parsed}} where reason is null
), first as (
  select mention.digest, min(struct(line_id, position)) as place from found group by mention.digest
), new as (
  select /*+ broadcast(k) */ f.* from first f left anti join {{known}} k on k.digest = f.digest
), described as (
  select /*+ broadcast(n) */ element_at(p.described, n.place.position + 1) as m
  from {{parsed}} p join new n on p.line_id = n.place.line_id
)
select m.digest, m.role, m.dataset_id, m.kind, m.lifecycle, m.owner,
  {tag_words("filter(m.tags, t -> coalesce(t.field, '') = '')")} as tags,
  m.symlinks, m.fingerprint,
  if(size(m.texts.schema) > 0, hex(xxhash64(transform(m.texts.schema, f -> struct(f.name, f.type)))), null)
    as schema_digest,
  transform(filter(m.texts.schema, f -> length(f.name) > 0),
    f -> struct(xxhash64(m.dataset_id, lower(f.name)) as column_id, f.name, f.type, {_OF_COLUMN} as tags,
      nullif(substring(trim(f.description), 1, {MAX_DESCRIPTION_CHARACTERS}), '') as description)) as columns,
  m.description, {_EXPRESSIONS} as expressions,
  m.namespace, m.name, m.to_namespace, m.to_name, m.texts.fields, m.texts.rows, m.texts.reads
from described
"""

# one mention per fingerprint that the lake does not have
NEW_LINEAGES = """
with numbered as (
  select *, row_number() over (partition by fingerprint order by digest) as n from {mentions}
  where fingerprint is not null
)
select n.* from numbered n
left anti join {known} k on k.fingerprint = n.fingerprint
where n.n = 1
"""

NEW_EDGES = """
select distinct dataset_id, fingerprint, xxhash64(namespace, name) as source_dataset_id,
  xxhash64(xxhash64(namespace, name), lower(field)) as source_id,
  if(target is null, null, xxhash64(dataset_id, lower(target))) as target_id,
  type, subtype, masking, description, use
from {edges}
"""

NEW_DATASETS = """
with names as (
  select namespace, name, to_namespace, to_name from {mentions}
  union
  select reported_namespace, reported_name, namespace, name from {edges}
), described as (
  select xxhash64(to_namespace, to_name) as dataset_id, to_namespace as namespace, to_name as name,
    ${layer} as layer, ${owner} as owner, ${domain} as domain
  from names
  union
  select s.dataset_id, s.namespace, s.name, null, null, null
  from (select explode(symlinks) as s from {mentions})
)
select d.* from described d
left anti join {known} k on k.dataset_id = d.dataset_id
  and k.layer <=> d.layer and k.owner <=> d.owner and k.domain <=> d.domain
"""

NEW_COLUMNS = """
with fields as (
  select dataset_id, to_namespace as namespace, to_name as name, c.name as field
  from (select dataset_id, to_namespace, to_name, explode(columns) as c from {mentions})
  union
  select xxhash64(namespace, name) as dataset_id, namespace, name, field from {edges}
  union
  select e.dataset_id, m.to_namespace, m.to_name, e.target
  from {edges} e
  join (select distinct dataset_id, to_namespace, to_name from {mentions}) m on m.dataset_id = e.dataset_id
  where e.target is not null
), tagged as (
  select xxhash64(dataset_id, lower(field)) as column_id, dataset_id, field, ${tags} as tags from fields
)
select t.* from tagged t
left anti join {known} k on k.column_id = t.column_id and k.field = t.field
"""


@dataclass(frozen=True, slots=True)
class NewFacts:
    """Rows to add to the tables of immutable facts."""

    payloads: DataFrame
    mentions: DataFrame
    edges: DataFrame
    datasets: DataFrame
    columns: DataFrame
    is_empty: bool = False


def new_facts(tables: LakeTables, events: BatchEvents, rules: Rules) -> NewFacts:
    """The facts in the batch's payloads that the lake does not have."""
    if not events.has_new_payloads:
        return _no_facts(tables)
    spark, known = tables.spark, tables.read(MENTIONS)
    mentions = materialize(query(spark, NEW_MENTIONS, parsed=events.parsed, known=known.select("digest")))
    lineages = query(spark, NEW_LINEAGES, mentions=mentions, known=known.select("fingerprint"))
    edges = lineage_edges(spark, lineages, rules)
    return NewFacts(
        events.new_payloads,
        mentions,
        materialize(query(spark, NEW_EDGES, edges=edges)),
        _new_datasets(tables, mentions, edges, rules),
        _new_columns(tables, mentions, edges, rules),
    )


def _no_facts(tables: LakeTables) -> NewFacts:
    mentions, datasets = (empty(tables.spark, fields_of(table)) for table in (MENTIONS, DATASETS))
    payloads, edges, columns = (empty(tables.spark, fields_of(table)) for table in (PAYLOADS, EDGES, COLUMNS))
    return NewFacts(payloads, mentions, edges, datasets, columns, is_empty=True)


def _new_datasets(tables: LakeTables, mentions: DataFrame, edges: DataFrame, rules: Rules) -> DataFrame:
    statement = NEW_DATASETS
    for word in ("layer", "owner", "domain"):
        statement = statement.replace(f"${{{word}}}", attribute_of(word, rules))
    known = tables.read(DATASETS)
    return materialize(query(tables.spark, statement, mentions=mentions, edges=edges, known=known))


def _new_columns(tables: LakeTables, mentions: DataFrame, edges: DataFrame, rules: Rules) -> DataFrame:
    statement = NEW_COLUMNS.replace("${tags}", tags_of(rules))
    known = tables.read(COLUMNS).select("column_id", "field")
    return materialize(query(tables.spark, statement, mentions=mentions, edges=edges, known=known))


def write_facts(tables: LakeTables, facts: NewFacts) -> None:
    """Begin to add the new rows; a table without new rows gets no commit."""
    if facts.is_empty:
        return
    rows = {
        PAYLOADS: facts.payloads,
        MENTIONS: facts.mentions,
        EDGES: facts.edges,
        DATASETS: facts.datasets,
        COLUMNS: facts.columns,
    }
    for table, added in rows.items():
        if not added.isEmpty():
            tables.append(table, added)


def write_descriptions(tables: LakeTables, rules: Rules) -> None:
    """Replace the copy of the user's metadata table if the user has changed it."""
    given = read_metadata(tables.spark, rules)
    if given is None:
        return
    known = tables.read(DESCRIPTIONS)
    rows = materialize(given)
    if not rows.exceptAll(known).isEmpty() or not known.exceptAll(rows).isEmpty():
        tables.replace(DESCRIPTIONS, rows)
