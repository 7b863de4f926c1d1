"""Reads the lines of a batch as events: each distinct dataset part (payload) is parsed once in the life of the lake."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from colline.environment.hadoop_files import HadoopFiles
from colline.lake.tables import BRONZE, MENTION, PAYLOADS
from colline.pipeline.delta_tables import LakeTables, empty, materialize, query
from colline.pipeline.parsing.event_parsing import LINE_ID, RUN_COLUMNS, Limits, parse_lines
from colline.pipeline.parsing.raw_events import JOB_COLUMNS, bronze_of_batch, lines_of_bronze, run_parts, split_bronze
from colline.pipeline.user_rules import Rules, apply_job_rules

# if the lines to parse are in more files than this, bronze is not filtered by file
MAX_FILTERED_FILES = 100
_OTHER_TYPES = {
    "line_id": "bigint",
    "t": "timestamp",
    "streaming": "boolean",
    "opaque": "array<string>",
    "job_tags": "array<string>",
    "delivery": "map<string,string>",
    "is_split": "boolean",
    "has_plan": "boolean",
    "mentions": f"array<{MENTION}>",
}

_LINKS = (
    "filter(transform(m.symlinks, s -> if(coalesce(upper(s.type) = 'LOCATION', false),"
    " struct(m.dataset_id as alias_id, s.dataset_id as target_id),"
    " struct(s.dataset_id as alias_id, m.dataset_id as target_id))), l -> l.alias_id <> l.target_id)"
)
REFERENCES = (
    "transform(mentions, m -> struct(m.role, m.to_namespace as namespace, m.to_name as name, m.dataset_id, m.digest,"
    " m.fingerprint, m.lifecycle, m.overwrite,"
    f" if(size({_LINKS}) > 0, {_LINKS}, null) as links))"
)

# the first line of each payload that the lake has not parsed
UNPARSED = """
select payload, is_split, first.line_id, first.file
from (
  select r.payload, r.is_split, min(struct(r.t, r.line_id, r.file)) as first
  from {run_parts} r
  where r.reason is null
  group by r.payload, r.is_split
) lines
left anti join {known} k on k.payload = lines.payload
"""

# every line of the batch as an event or with the reason of a bad line
EVENTS = """
with payloads as (
  select payload, reason, detail, ${job_columns}, mentions from {known}
  union all
  select payload, reason, detail, ${job_columns}, mentions from {parsed} where is_split
)
select
  r.line_id,
  coalesce(r.reason, p.reason) as reason,
  if(r.reason is null, p.detail, r.detail) as detail,
  ${run_columns},
  r.part,
  p.mentions
from {run_parts} r
left join payloads p on p.payload = r.payload
where r.is_split
union all
select line_id, reason, detail, ${whole_columns}, part, mentions
from {parsed} where not is_split
"""


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of the pipeline that users have."""

    limits: Limits = field(default_factory=Limits)
    rules: Rules = field(default_factory=Rules)


@dataclass(frozen=True, slots=True)
class BatchEvents:
    """A batch's lines as they are in bronze, their events, and the payloads parsed for the first time."""

    lines: DataFrame
    events: DataFrame
    parsed: DataFrame
    has_new_payloads: bool

    @property
    def new_payloads(self) -> DataFrame:
        """Rows of silver/payloads to add."""
        return self.parsed.where("is_split")


def read_events(tables: LakeTables, files: HadoopFiles, options: Options) -> BatchEvents:
    """The events of the batch that is in bronze; in a rebuild, of all of bronze."""
    rows = tables.read(BRONZE) if tables.is_rebuild else bronze_of_batch(tables, files)
    lines = lines_of_bronze(rows)
    parts = materialize(run_parts(split_bronze(rows, options.limits), options.limits))
    known = tables.read(PAYLOADS)
    unparsed = materialize(query(tables.spark, UNPARSED, run_parts=parts, known=known.select("payload")))
    files_to_parse = _files(unparsed)
    found = (
        _no_events(tables) if not files_to_parse else _parse(tables, lines, unparsed, files_to_parse, options=options)
    )
    columns = ", ".join(
        f"if(r.has_job, r.{name}, p.{name}) as {name}" if name in JOB_COLUMNS else f"r.{name}" for name in RUN_COLUMNS
    )
    statement = EVENTS.replace("${run_columns}", columns).replace("${whole_columns}", ", ".join(RUN_COLUMNS))
    statement = statement.replace("${job_columns}", ", ".join(JOB_COLUMNS))
    each = query(tables.spark, statement, run_parts=parts, known=known, parsed=found)
    named = apply_job_rules("job_name", options.rules)
    events = each.selectExpr(*(f"{named} as job_name" if name == "job_name" else name for name in each.columns))
    events = materialize(events.selectExpr("*", "xxhash64(job_namespace, job_name) as job_id"))
    return BatchEvents(lines, events, found, bool(files_to_parse))


def _files(unparsed: DataFrame) -> list[str]:
    """The files of the lines to parse, or the first of them."""
    found = unparsed.selectExpr(f"slice(collect_set(file), 1, {MAX_FILTERED_FILES + 1}) as files").first()
    return list(found["files"]) if found else []


def _no_events(tables: LakeTables) -> DataFrame:
    """The result of `_parse` for no lines, without the plan that parses lines."""
    names = ("line_id", "reason", "detail", *RUN_COLUMNS, "part", "payload", "is_split", "mentions")
    return empty(tables.spark, {name: _OTHER_TYPES.get(name, "string") for name in names})


def _parse(
    tables: LakeTables, lines: DataFrame, unparsed: DataFrame, files: list[str], *, options: Options
) -> DataFrame:
    """The events of these lines, whole, with their `payload` and the `mentions` as references, `described` in full."""
    some = lines.where(lines["file"].isin(files)) if len(files) <= MAX_FILTERED_FILES else lines
    wanted = query(
        tables.spark,
        f"select /*+ broadcast(u) */ l.* from {{lines}} l left semi join {{unparsed}} u on {LINE_ID} = u.line_id",
        lines=some,
        unparsed=unparsed.selectExpr("line_id"),
    )
    events = parse_lines(wanted, options.limits, options.rules)
    keyed = events.join(unparsed.selectExpr("line_id", "payload", "is_split").hint("broadcast"), "line_id")
    columns = [name for name in keyed.columns if name != "mentions"]
    return materialize(keyed.selectExpr(*columns, "mentions as described", f"{REFERENCES} as mentions"))
