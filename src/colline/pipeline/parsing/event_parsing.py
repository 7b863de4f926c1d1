"""Parses lines by the explicit schema: each is an event in columns, or has a reason why it is not one.

`REASONS` is the complete list. A bad line does not end a batch and is not dropped: the caller writes it to quarantine.
Expressions are SQL text: a thousand `Column` objects would each be several calls into the JVM.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.events import spark_schema
from colline.naming.normalize_sql import name_of, namespace_of
from colline.pipeline.sources.landing import FILE, event_id
from colline.pipeline.user_rules import Rules, apply_dataset_rules

REASONS: dict[str, str] = {
    "too_large": "longer than the limit for one event",
    "not_utf8": "bytes that are not UTF-8",
    "not_json": "not JSON",
    "not_an_event": "JSON, but neither a run, a job nor a dataset event",
    "wrong_type": "an object where a list must be, or the other way round",
    "unknown_event_type": "an eventType that OpenLineage does not have",
    "no_event_time": "no eventTime",
    "bad_event_time": "an eventTime that is not a time",
    "time_out_of_range": "an eventTime before 2000 or too far ahead",
}
EVENT_TYPES = ("START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER")
# what a mention of a dataset contains in addition to its columns
DESCRIPTION = ("role", "namespace", "name", "kind", "lifecycle", "symlinks", "owner", "tags", "description")
# longer texts are truncated
MAX_DESCRIPTION_CHARACTERS, MAX_SQL_CHARACTERS = 4000, 20_000
# reason, condition, detail; SQL
Check: TypeAlias = tuple[str, str, str]
# the reason that is only found inside the texts of a mention, and its detail
WRONG_TYPE, WRONG_DETAIL = "wrong_type", "inside a dataset or facet"
# identifies a line within a batch
LINE_ID = f"xxhash64({FILE}, position)"
_V7 = "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"
_IS_RUN = "coalesce(length(trim(e.run.runId)) > 0, false)"
_IS_JOB = "coalesce(length(trim(e.job.name)) > 0, false)"
_IS_DATASET = "coalesce(length(trim(e.dataset.name)) > 0, false)"
EVENT_TYPE = "upper(trim(coalesce(e.eventType, 'OTHER')))"
_PARENT = "coalesce(e.run.facets.parent, e.run.facets.parentRun)"
_EXCEPTION = "e.run.facets.`spark.exception`"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of an event: its size, and how far its time may be in the future."""

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
    """The partition of a run, from its id alone: the day inside a version-7 id, else one of 16 parts."""
    return f"coalesce(date_format({uuid7_time(run_id)}, 'yyyy-MM-dd'), concat('h', substring(md5({run_id}), 1, 1)))"


def parse_lines(lines: DataFrame, limits: Limits, rules: Rules) -> DataFrame:
    """One row per line: `reason` and `detail` of a bad line, else the event's columns and its `mentions`.

    Each mention has the reported `namespace` and `name`, the `dataset_id` of the dataset it stands for under the rules,
    and its parsed texts in `texts`.
    """
    read = lines.selectExpr(
        "*", f"if(octet_length(raw) <= {limits.bytes}, {from_json('raw', spark_schema.EVENT)}, null) as e"
    )
    timed = read.selectExpr("*", "try_to_timestamp(e.eventTime) as t")
    judged = timed.selectExpr("*", f"{_verdict(limits)} as verdict")
    columns = judged.selectExpr(
        f"{LINE_ID} as line_id",
        "verdict.reason as found",
        "verdict.detail as found_detail",
        *(f"{sql} as {name}" for name, sql in RUN_COLUMNS.items()),
        f"if(verdict is null, {_mentions()}, null) as named",
    )
    texts = columns.selectExpr("*", f"transform(named, m -> {_parsed_mention(rules)}) as mentions").drop("named")
    wrong = f"found is null and exists(mentions, m -> m.texts.{spark_schema.CORRUPT_RECORD} is not null)"
    return texts.selectExpr(
        "line_id",
        f"if({wrong}, '{WRONG_TYPE}', found) as reason",
        f"if({wrong}, '{WRONG_DETAIL}', found_detail) as detail",
        *RUN_COLUMNS,
        f"{part_of('run_id')} as part",
        "mentions",
    )


def _parsed_mention(rules: Rules) -> str:
    """A mention with the id of its dataset, the datasets it is linked to, and its texts as structs; SQL."""
    namespace, name = apply_dataset_rules("m.namespace", "m.name", rules)
    described = (
        *("role", "namespace", "name", "kind", "lifecycle", "owner", "description"),
        *("digest", "fingerprint", "overwrite"),
    )
    listed = ", ".join(f"m.{field}" for field in described)
    return (
        f"struct({listed}, xxhash64({namespace}, {name}) as dataset_id, {namespace} as to_namespace,"
        f" {name} as to_name, {_linked_names()} as symlinks, m.tags, {_texts('m')} as texts)"
    )


def _linked_names() -> str:
    """The symlinks of a mention, normalized, with the ids of the datasets they name; SQL."""
    spaces = f"transform(m.symlinks, s -> struct(s.name, s.type, {namespace_of('s.namespace')} as ns))"
    names = f"transform({spaces}, s -> struct(s.type, s.ns, {name_of('s.ns', 's.name')} as linked))"
    linked = "struct(xxhash64(s.ns, s.linked) as dataset_id, s.ns as namespace, s.linked as name, s.type)"
    return f"transform(filter({names}, s -> length(s.linked) > 0), s -> {linked})"


def _texts(mention: str) -> str:
    """The texts of a mention as a struct of `PARSED_FIELDS`; SQL. The struct is corrupt if one is not JSON."""
    texts = ", ".join(
        f"',\"{name}\":', {_text(f'{mention}.{name}', bracket)}"
        for name, bracket in spark_schema.UNPARSED_FIELDS.items()
    )
    return from_json(f"concat('{{\"_\":0', {texts}, '}}')", spark_schema.PARSED_FIELDS)


def from_json(text: str, kind: str) -> str:
    """A text read as a struct, with the text in the field `CORRUPT_RECORD` if it cannot be read; SQL."""
    return f"from_json({text}, '{kind}', map('columnNameOfCorruptRecord', '{spark_schema.CORRUPT_RECORD}'))"


def _text(text: str, bracket: str) -> str:
    """The text if it begins with the bracket of its type; otherwise a text that is not JSON."""
    return f"case when {text} is null then 'null' when startswith({text}, '{bracket}') then {text} else 'wrong' end"


def _verdict(limits: Limits) -> str:
    """A struct of reason and detail, null for an event; the first check that holds counts."""
    corrupt = f"e.{spark_schema.CORRUPT_RECORD} is not null"
    return _first_of(
        ("too_large", f"octet_length(raw) > {limits.bytes}", "cast(octet_length(raw) as string)"),
        ("not_utf8", f"not ({is_utf8('raw')})", "null"),
        ("not_json", f"{corrupt} and get_json_object(raw, '$') is null", "null"),
        ("not_an_event", "not startswith(ltrim(raw), '{')", "'not an object'"),
        (WRONG_TYPE, corrupt, _wrong_path()),
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
    """Whether a string's bytes are UTF-8; others could not be restored. Spark 4's own function takes twice as long.

    Spark's `decode` raises on other bytes, except with the settings of `ingest_settings.ALWAYS`.
    """
    return f"decode(cast({text} as binary), 'UTF-8') = {text}"


def readable(text: str) -> str:
    """The text with a replacement character for bytes that are not UTF-8."""
    return f"make_valid_utf8({text})" if hasattr(F, "make_valid_utf8") else f"decode(cast({text} as binary), 'UTF-8')"


def _wrong_path() -> str:
    """The first of `CONTAINER_PATHS` that has the wrong bracket; deeper ones are reported as inside a dataset."""
    places = " ".join(
        f"when not startswith(get_json_object(raw, '{path}'), '{bracket}') then '{path}'"
        for path, bracket in spark_schema.CONTAINER_PATHS
    )
    return f"case {places} else '{WRONG_DETAIL}' end"


def _job_name() -> str:
    """The job's name; the Spark jar's `app.plan_node.table` is its application.

    The jar names a job after the root of the physical plan, and reports one CTAS as two jobs. Users know the job by the
    name of its application, which is the parent in the jar's events.
    """
    above = f"trim({_PARENT}.job.name)"
    from_jar = f"contains(e.producer, '/integration/spark') and startswith(trim(e.job.name), concat({above}, '.'))"
    return f"if({from_jar}, {above}, trim(e.job.name))"


def _delivery() -> str:
    pairs = ", ".join(f"'{name}', e.run.facets.colline_delivery.{name}" for name in spark_schema.DELIVERY_COUNTERS)
    return f"if(e.run.facets.colline_delivery is not null, map({pairs}), null)"


def _mentions() -> str:
    """Every dataset that the event names: as input (`I`), as output (`O`) or on its own (`D`)."""
    named = (
        "concat(transform(coalesce(e.inputs, array()), d -> struct('I' as role, d as d)),"
        " transform(coalesce(e.outputs, array()), d -> struct('O' as role, d as d)),"
        " if(e.dataset.name is null, array(), array(struct('D' as role, e.dataset as d))))"
    )
    spelled = f"transform({named}, p -> struct(p.role, p.d, p.d.facets as f, {namespace_of('p.d.namespace')} as ns))"
    mentions = f"transform({spelled}, p -> {_mention()})"
    entries = "filter(e.job.facets.lineage.entries, x -> upper(x.type) = 'DATASET' and x.name is not null)"
    entries = f"transform(coalesce({entries}, array()), x -> struct(x as x, {namespace_of('x.namespace')} as ns))"
    each = f"filter(concat({mentions}, transform({entries}, p -> {_entry()})), m -> length(trim(m.name)) > 0)"
    lined = f"transform({each}, m -> struct({_fields()}, {_fingerprint()} as fingerprint))"
    overwrites = "m.lifecycle in ('OVERWRITE', 'CREATE', 'TRUNCATE')"
    described = f"to_json(struct({', '.join(f'm.{name}' for name in DESCRIPTION)}))"
    digest = _digest(f"concat_ws('\n', {described}, m.schema, m.fingerprint)")
    return f"transform({lined}, m -> struct({_fields()}, m.fingerprint, {digest} as digest, {overwrites} as overwrite))"


def _fields() -> str:
    return ", ".join(f"m.{name}" for name in (*DESCRIPTION, *spark_schema.UNPARSED_FIELDS))


def _mention() -> str:
    """A dataset of an event (`p.d`, its facets `p.f`, its namespace spelled `p.ns`) as a mention."""
    reads = "coalesce(p.d.inputFacets.colline_columnsRead.fields, p.f.colline_columnsRead.fields)"
    return (
        f"struct(p.role, p.ns as namespace, {name_of('p.ns', 'p.d.name')} as name, {_kind()} as kind,"
        " upper(p.f.lifecycleStateChange.lifecycleStateChange) as lifecycle, p.f.schema.fields as schema,"
        " p.f.symlinks.identifiers as symlinks, try_element_at(p.f.ownership.owners, 1).name as owner,"
        f" p.f.tags.tags as tags, {_truncate('p.f.documentation.description')} as description,"
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
        f" cast(null as {spark_schema.TAG_LIST}) as tags, cast(null as string) as description,"
        f" to_json({_newer_fields('p.x')}) as fields,"
        f" to_json({_newer_rows('p.x')}) as rows, cast(null as string) as reads)"
    )


def _truncate(text: str, characters: int = MAX_DESCRIPTION_CHARACTERS) -> str:
    """The start of a text, null for a blank one; SQL."""
    return f"nullif(substring(trim({text}), 1, {characters}), '')"


def tag_words(tags: str) -> str:
    """`{key: PII, value: true}` → `PII`, `{key: domain, value: sales}` → `domain=sales`; SQL."""
    plain = "lower(coalesce(t.value, '')) in ('', 'true', 'yes')"
    words = f"transform({tags}, t -> if({plain}, t.key, concat_ws('=', t.key, t.value)))"
    return f"coalesce({words}, cast(array() as array<string>))"


def _newer_fields(facet: str) -> str:
    """The fields of a `lineage` facet; null if it names datasets only: no columns."""
    some = f"size({facet}.fields) > 0 or size({_newer_rows(facet)}) > 0"
    return f"if({some}, coalesce({facet}.fields, cast(map() as {spark_schema.FIELDS})), null)"


def _newer_rows(facet: str) -> str:
    """The inputs of a `lineage` facet that name a column."""
    return f"filter({facet}.inputs, i -> length(trim(i.field)) > 0)"


def _kind() -> str:
    """TABLE, VIEW, FILE, TOPIC or JDBC, according to the facets and the namespace."""
    declared = "upper(p.f.datasetType.datasetType)"
    return (
        f"case when {declared} in ('TABLE', 'VIEW', 'FILE', 'TOPIC') then {declared}"
        " when startswith(p.ns, 'kafka') then 'TOPIC'"
        " when p.ns rlike '^(postgres|mysql|sqlserver|oracle|db2|derby|jdbc)[:/]' then 'JDBC'"
        " when exists(p.f.symlinks.identifiers, s -> upper(s.type) = 'TABLE') then 'TABLE'"
        " when p.f.storage.storageLayer is not null then 'TABLE'"
        " when p.ns rlike '^(file$|s3:|gs:|abfss:|wasbs:|hdfs:|dbfs)' then 'FILE' end"
    )


def _digest(text: str) -> str:
    """A digest of 128 bits that cannot be forged; SQL."""
    return f"left(sha2({text}, 256), 32)"


def _fingerprint() -> str:
    """The digest of a mention's lineage, or (with the prefix `r`) of the columns that were read; null for neither."""
    lineage = _digest("concat_ws('\n', m.namespace, m.name, coalesce(m.fields, ''), coalesce(m.rows, ''))")
    reads = _digest("concat_ws('\n', m.namespace, m.name, m.reads)")
    # Spark writes a nested text without blanks
    return (
        f"case when m.role <> 'I' and (m.fields is not null or m.rows <> '[]') then {lineage}"
        f" when m.reads <> '[]' then concat('r', {reads}) end"
    )


# the columns of an event without its datasets; those of a bad line are not used
RUN_COLUMNS: dict[str, str] = {
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
    "sql": _truncate("e.job.facets.sql.query", MAX_SQL_CHARACTERS),
    "location": _truncate("coalesce(e.job.facets.sourceCodeLocation.url, e.job.facets.sourceCodeLocation.path)"),
    "job_description": _truncate("e.job.facets.documentation.description"),
    "job_tags": tag_words("e.job.facets.tags.tags"),
    "engine": "concat_ws(' ', e.run.facets.processing_engine.name, e.run.facets.processing_engine.version)",
    "application": "e.run.facets.spark_applicationDetails.applicationId",
    "parent_run": f"lower({_PARENT}.run.runId)",
    "root_run": f"lower({_PARENT}.root.run.runId)",
    "definition": "e.run.facets.colline_query.definition",
    "error": (
        f"substring(coalesce(e.run.facets.errorMessage.message, {_EXCEPTION}.message,"
        f" split_part({_EXCEPTION}.stackTrace, '\\n', 1)), 1, 2000)"
    ),
    # of an event with a plan, only that the plan is not analyzed yet; a later event of the run has the rest
    "opaque": (
        "if(e.run.facets.colline_plan is null, transform(e.run.facets.colline_opaque.steps,"
        " s -> concat_ws(': ', coalesce(s.function, s.node), s.why)), null)"
    ),
    "has_plan": "e.run.facets.colline_plan is not null",
    "delivery": _delivery(),
}
