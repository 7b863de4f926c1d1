"""Lines → events: each line is parsed by the explicit schema, and is either an event or has a reason not to be.

`REASONS` is the closed list. Nothing here stops on a bad line, and nothing is dropped: the caller writes what has a
reason to quarantine. What an event says of every column stays text at first (`parsed`) and is known by its digest;
`whole` reads it, once per digest. Expressions are SQL text: a thousand `Column` objects would each be several calls
into the JVM.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.events import spark_schema
from colline.naming.normalize_sql import name_of, namespace_of
from colline.pipeline.landing import FILE, event_id

REASONS: dict[str, str] = {
    "too_large": "longer than the limit for one event",
    "not_utf8": "bytes that are not UTF-8",
    "not_json": "not JSON",
    "not_an_event": "JSON, but neither a run, a job nor a dataset event",
    "wrong_type": "an object where a list must be, or the other way round",
    "unknown_event_type": "an eventType that OpenLineage does not have",
    "no_event_time": "no eventTime",
    "bad_event_time": "an eventTime that is no time",
    "time_out_of_range": "an eventTime before 2000 or too far ahead",
}
EVENT_TYPES = ("START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER")
# what is kept of a mention with its run; the rest is an observation
MENTION_FIELDS = ("role", "namespace", "name", "shape", "content", "lifecycle", "overwrite")
# what a mention says besides its columns
SAYS = ("role", "namespace", "name", "kind", "lifecycle", "symlinks", "owner", "tags")
# reason, when it holds, what is told with it; SQL
Check: TypeAlias = tuple[str, str, str]
# the reason that only `whole` finds, and what is told with it
WRONG, WRONG_DETAIL = "wrong_type", "inside a dataset or facet"
# what a line is known by within a batch
RID = f"xxhash64({FILE}, position)"
_V7 = "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"
_IS_RUN = "coalesce(length(trim(e.run.runId)) > 0, false)"
_IS_JOB = "coalesce(length(trim(e.job.name)) > 0, false)"
_IS_DATASET = "coalesce(length(trim(e.dataset.name)) > 0, false)"
EVENT_TYPE = "upper(trim(coalesce(e.eventType, 'OTHER')))"
_PARENT = "coalesce(e.run.facets.parent, e.run.facets.parentRun)"
_EXCEPTION = "e.run.facets.`spark.exception`"


@dataclass(frozen=True, slots=True)
class Limits:
    """What is too much for one event."""

    bytes: int = 32 * 1024 * 1024
    days_ahead: int = 366


def uuid7_time(run_id: str) -> str:
    """The time inside a version-7 run id, null for any other id; SQL of SQL."""
    millis = f"cast(conv(concat(substring({run_id}, 1, 8), substring({run_id}, 10, 4)), 16, 10) as bigint)"
    time = f"timestamp_millis({millis})"
    return (
        f"if({run_id} rlike '{_V7}', if({time} between timestamp'2015-01-01' and timestamp'2200-01-01', {time}, null),"
        " null)"
    )


def part_of(run_id: str) -> str:
    """Where a run is kept, from its id alone: the day inside a version-7 id, else one of 16 parts."""
    return f"coalesce(date_format({uuid7_time(run_id)}, 'yyyy-MM-dd'), concat('h', substring(md5({run_id}), 1, 1)))"


def parsed(lines: DataFrame, limits: Limits | None = None) -> DataFrame:
    """One row per line: `reason` and `detail` when it is no event, else the event in columns."""
    limits = limits or Limits()
    read = lines.selectExpr(
        "*", f"if(octet_length(raw) <= {limits.bytes}, {from_json('raw', spark_schema.EVENT)}, null) as e"
    )
    timed = read.selectExpr("*", "try_to_timestamp(e.eventTime) as t")
    judged = timed.selectExpr("*", f"{_verdict(limits)} as verdict")
    columns = judged.selectExpr(
        f"{RID} as rid",
        "file",
        "verdict.reason",
        "verdict.detail",
        *(f"{sql} as {name}" for name, sql in COLUMNS.items()),
    )
    light = f"transform(mentions, m -> struct({', '.join(f'm.{name}' for name in MENTION_FIELDS)}))"
    return columns.selectExpr("*", f"{light} as light", f"{part_of('run_id')} as part")


def whole(mention: str) -> str:
    """What a mention's texts say: a struct of `WHOLE`, its last field set when one has a wrong type; SQL of SQL.

    A text that is no JSON spoils its own mention only.
    """
    texts = ", ".join(
        f"',\"{name}\":', {_text(f'{mention}.{name}', bracket)}"
        for name, bracket in spark_schema.UNPARSED_FIELDS.items()
    )
    return from_json(f"concat('{{\"_\":0', {texts}, '}}')", spark_schema.PARSED_FIELDS)


def from_json(text: str, kind: str) -> str:
    """A text read as a struct that tells in its field `spark_schema.CORRUPT` that it could not be; SQL of SQL."""
    return f"from_json({text}, '{kind}', map('columnNameOfCorruptRecord', '{spark_schema.CORRUPT_RECORD}'))"


def _text(text: str, bracket: str) -> str:
    """The text, where it begins as it must; else one that is no JSON."""
    return f"case when {text} is null then 'null' when startswith({text}, '{bracket}') then {text} else 'wrong' end"


def _verdict(limits: Limits) -> str:
    """A struct of reason and detail, null for an event; the first check that holds counts."""
    corrupt = f"e.{spark_schema.CORRUPT_RECORD} is not null"
    return _first_of(
        ("too_large", f"octet_length(raw) > {limits.bytes}", "cast(octet_length(raw) as string)"),
        ("not_utf8", f"not ({is_utf8('raw')})", "null"),
        ("not_json", f"{corrupt} and get_json_object(raw, '$') is null", "null"),
        ("not_an_event", "not startswith(ltrim(raw), '{')", "'not an object'"),
        (WRONG, corrupt, _wrong_path()),
        *_meanings(limits),
    )


def meaning(limits: Limits) -> str:
    """The verdict on an event with a run and a job, whose text is sound; SQL."""
    return _first_of(*_meanings(limits)[1:])


def _meanings(limits: Limits) -> tuple[Check, ...]:
    ahead = f"received_at + make_dt_interval({limits.days_ahead})"
    kinds = ", ".join(f"'{kind}'" for kind in EVENT_TYPES)
    missing = f"if({_IS_RUN}, 'no job.name', 'no run.runId, no job.name, no dataset.name')"
    return (
        ("not_an_event", f"not if({_IS_RUN}, {_IS_JOB}, {_IS_JOB} or {_IS_DATASET})", missing),
        ("unknown_event_type", f"{EVENT_TYPE} not in ({kinds})", "e.eventType"),
        ("no_event_time", "e.eventTime is null", "null"),
        ("bad_event_time", "t is null", "e.eventTime"),
        ("time_out_of_range", f"not t between timestamp'2000-01-01' and {ahead}", "e.eventTime"),
    )


def _first_of(*checks: Check) -> str:
    cases = " ".join(
        f"when {holds} then struct('{reason}' as reason, substring(cast({detail} as string), 1, 200) as detail)"
        for reason, holds, detail in checks
    )
    return f"case {cases} end"


def is_utf8(text: str) -> str:
    """Whether a string's bytes are UTF-8: others would not come back. Spark 4's own function takes twice as long.

    Its `decode` raises on other bytes unless `settings.ALWAYS` says otherwise.
    """
    return f"decode(cast({text} as binary), 'UTF-8') = {text}"


def readable(text: str) -> str:
    """The text with what is not UTF-8 in it replaced by a mark."""
    return f"make_valid_utf8({text})" if hasattr(F, "make_valid_utf8") else f"decode(cast({text} as binary), 'UTF-8')"


def _wrong_path() -> str:
    """The first place of `STRUCTURE` that has the wrong bracket; deeper ones are told as inside a dataset."""
    places = " ".join(
        f"when not startswith(get_json_object(raw, '{path}'), '{bracket}') then '{path}'"
        for path, bracket in spark_schema.CONTAINER_PATHS
    )
    return f"case {places} else '{WRONG_DETAIL}' end"


def _job_name() -> str:
    """The job's name; the Spark jar's `app.plan_node.table` is its application.

    The jar names a job after the root of the physical plan, and tells one CTAS as two jobs. What a user calls the job
    is the application, which the jar gives as the parent.
    """
    above = f"trim({_PARENT}.job.name)"
    from_jar = f"contains(e.producer, '/integration/spark') and startswith(trim(e.job.name), concat({above}, '.'))"
    return f"if({from_jar}, {above}, trim(e.job.name))"


def _delivery() -> str:
    pairs = ", ".join(f"'{name}', e.run.facets.colline_delivery.{name}" for name in spark_schema.DELIVERY_COUNTERS)
    return f"if(e.run.facets.colline_delivery is not null, map({pairs}), null)"


def _mentions() -> str:
    """Every dataset the event names, as reader (`I`), writer (`O`) or on its own (`D`)."""
    named = (
        "concat(transform(coalesce(e.inputs, array()), d -> struct('I' as role, d as d)),"
        " transform(coalesce(e.outputs, array()), d -> struct('O' as role, d as d)),"
        " if(e.dataset.name is null, array(), array(struct('D' as role, e.dataset as d))))"
    )
    spelled = f"transform({named}, p -> struct(p.role, p.d, p.d.facets as f, {namespace_of('p.d.namespace')} as ns))"
    told = f"transform({spelled}, p -> {_mention()})"
    entries = "filter(e.job.facets.lineage.entries, x -> upper(x.type) = 'DATASET' and x.name is not null)"
    entries = f"transform(coalesce({entries}, array()), x -> struct(x as x, {namespace_of('x.namespace')} as ns))"
    each = f"filter(concat({told}, transform({entries}, p -> {_entry()})), m -> length(trim(m.name)) > 0)"
    shaped = f"transform({each}, m -> struct({_fields()}, {_shape()} as shape))"
    overwrites = "m.lifecycle in ('OVERWRITE', 'CREATE', 'TRUNCATE')"
    said = f"to_json(struct({', '.join(f'm.{name}' for name in SAYS)}))"
    content = _digest(f"concat_ws('\n', {said}, m.schema, m.shape)")
    return f"transform({shaped}, m -> struct({_fields()}, m.shape, {content} as content, {overwrites} as overwrite))"


def _fields() -> str:
    return ", ".join(f"m.{name}" for name in (*SAYS, *spark_schema.UNPARSED_FIELDS))


def _mention() -> str:
    """A dataset of an event (`p.d`, its facets `p.f`, its namespace spelled `p.ns`) as a mention."""
    reads = "coalesce(p.d.inputFacets.colline_columnsRead.fields, p.f.colline_columnsRead.fields)"
    return (
        f"struct(p.role, p.ns as namespace, {name_of('p.ns', 'p.d.name')} as name, {_kind()} as kind,"
        " upper(p.f.lifecycleStateChange.lifecycleStateChange) as lifecycle, p.f.schema.fields as schema,"
        " p.f.symlinks.identifiers as symlinks, try_element_at(p.f.ownership.owners, 1).name as owner,"
        f" p.f.tags.tags as tags,"
        f" coalesce(p.f.columnLineage.fields, to_json({_newer_fields('p.f.lineage')})) as fields,"
        f" coalesce(p.f.columnLineage.dataset, to_json({_newer_rows('p.f.lineage')})) as rows,"
        f" if(p.role = 'I', {reads}, null) as reads)"
    )


def _entry() -> str:
    """An entry of the newer job-level `lineage` facet, which names its own target, as a mention."""
    return (
        f"struct('O' as role, p.ns as namespace, {name_of('p.ns', 'p.x.name')} as name, cast(null as string) as kind,"
        " cast(null as string) as lifecycle, cast(null as string) as schema,"
        f" cast(null as {spark_schema.SYMLINKS}) as symlinks, cast(null as string) as owner,"
        f" cast(null as {spark_schema.TAG_LIST}) as tags, to_json({_newer_fields('p.x')}) as fields,"
        f" to_json({_newer_rows('p.x')}) as rows, cast(null as string) as reads)"
    )


def _newer_fields(facet: str) -> str:
    """The fields of a `lineage` facet; null when it names datasets only, which is no lineage of columns."""
    some = f"size({facet}.fields) > 0 or size({_newer_rows(facet)}) > 0"
    return f"if({some}, coalesce({facet}.fields, cast(map() as {spark_schema.FIELDS})), null)"


def _newer_rows(facet: str) -> str:
    """The inputs of a `lineage` facet that name a column."""
    return f"filter({facet}.inputs, i -> length(trim(i.field)) > 0)"


def _kind() -> str:
    """TABLE, VIEW, FILE, TOPIC, JDBC or OTHER, from what the facets and the namespace say."""
    told = "upper(p.f.datasetType.datasetType)"
    return (
        f"case when {told} in ('TABLE', 'VIEW', 'FILE', 'TOPIC') then {told}"
        " when startswith(p.ns, 'kafka') then 'TOPIC'"
        " when p.ns rlike '^(postgres|mysql|sqlserver|oracle|db2|derby|jdbc)[:/]' then 'JDBC'"
        " when exists(p.f.symlinks.identifiers, s -> upper(s.type) = 'TABLE') then 'TABLE'"
        " when p.f.storage.storageLayer is not null then 'TABLE'"
        " when p.ns rlike '^(file$|s3:|gs:|abfss:|wasbs:|hdfs:|dbfs)' then 'FILE' end"
    )


def _digest(text: str) -> str:
    """128 bits that nobody can forge."""
    return f"left(sha2({text}, 256), 32)"


def _shape() -> str:
    """What a mention's lineage says, or (with an `r`) what it says was read; null for neither."""
    lineage = _digest("concat(coalesce(m.fields, ''), '\\n', coalesce(m.rows, ''))")
    reads = _digest("concat_ws('\\n', m.namespace, m.name, m.reads)")
    # Spark writes a nested text anew, without blanks
    return (
        f"case when m.role <> 'I' and (m.fields is not null or m.rows <> '[]') then {lineage}"
        f" when m.reads <> '[]' then concat('r', {reads}) end"
    )


# the columns of an event; all of a line that is none are null or not looked at
COLUMNS: dict[str, str] = {
    "t": "t",
    "run_id": (
        f"if({_IS_RUN}, lower(trim(e.run.runId)), concat(if({_IS_JOB}, 'job:', 'dataset:'), {event_id('raw')}))"
    ),
    "event_type": f"if({_IS_RUN}, {EVENT_TYPE}, 'COMPLETE')",
    "job_namespace": f"coalesce(if({_IS_JOB}, e.job.namespace, e.dataset.namespace), '')",
    "job_name": f"if({_IS_JOB}, {_job_name()}, e.dataset.name)",
    "integration": f"upper(if({_IS_JOB}, e.job.facets.jobType.integration, 'DATASET'))",
    "streaming": "upper(e.job.facets.jobType.processingType) = 'STREAMING'",
    "owner": "try_element_at(e.job.facets.ownership.owners, 1).name",
    "engine": "concat_ws(' ', e.run.facets.processing_engine.name, e.run.facets.processing_engine.version)",
    "application": "e.run.facets.spark_applicationDetails.applicationId",
    "parent_run": f"lower({_PARENT}.run.runId)",
    "root_run": f"lower({_PARENT}.root.run.runId)",
    "definition": "e.run.facets.colline_query.definition",
    "error": (
        f"substring(coalesce(e.run.facets.errorMessage.message, {_EXCEPTION}.message,"
        f" split_part({_EXCEPTION}.stackTrace, '\\n', 1)), 1, 2000)"
    ),
    "opaque": (
        "transform(e.run.facets.colline_opaque.steps, s -> concat_ws(': ', coalesce(s.function, s.node), s.why))"
    ),
    "delivery": _delivery(),
    "mentions": _mentions(),
}
