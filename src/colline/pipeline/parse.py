"""Lines → events: each line is parsed once, by the explicit schema, and is either an event or has a reason not to be.

`REASONS` is the closed list. Nothing here stops on a bad line, and nothing is dropped: the caller writes what has a
reason to quarantine.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from colline.pipeline import wire
from colline.pipeline.names import name_of, namespace_of

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
OVERWRITES = ("OVERWRITE", "CREATE", "TRUNCATE")
_V7 = "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"


@dataclass(frozen=True, slots=True)
class Limits:
    """What is too much for one event."""

    bytes: int = 32 * 1024 * 1024
    days_ahead: int = 366


def uuid7_time(run_id: Column) -> Column:
    """The time inside a version-7 run id, null for any other id."""
    millis = F.conv(F.concat(F.substring(run_id, 1, 8), F.substring(run_id, 10, 4)), 16, 10).cast("bigint")
    time = F.timestamp_millis(millis)
    sane = time.between(F.lit("2015-01-01").cast("timestamp"), F.lit("2200-01-01").cast("timestamp"))
    return F.when(run_id.rlike(_V7), F.when(sane, time))


def part_of(run_id: Column) -> Column:
    """Where a run is kept, from its id alone: the day inside a version-7 id, else one of 16 parts."""
    day = F.date_format(uuid7_time(run_id), "yyyy-MM-dd")
    return F.coalesce(day, F.concat(F.lit("h"), F.substring(F.md5(run_id), 1, 1)))


def parsed(lines: DataFrame, limits: Limits | None = None) -> DataFrame:
    """One row per line: `reason` and `detail` when it is no event, else the event in columns."""
    limits = limits or Limits()
    fits = F.octet_length("raw") <= limits.bytes
    event = F.from_json(F.col("raw"), wire.EVENT, {"columnNameOfCorruptRecord": wire.CORRUPT})
    with_event = lines.withColumn("e", F.when(fits, event)).withColumn("t", F.try_to_timestamp(F.col("e.eventTime")))
    judged = with_event.withColumn("verdict", _verdict(limits))
    light = F.transform("mentions", lambda m: F.struct(*(m[name].alias(name) for name in MENTION_FIELDS)))
    columns = judged.select(
        "event_id",
        "file",
        "position",
        "received_at",
        F.col("verdict.reason").alias("reason"),
        F.col("verdict.detail").alias("detail"),
        F.when(F.col("verdict.reason").isNotNull(), readable(F.col("raw"))).alias("line"),
        *(expression.alias(name) for name, expression in _columns().items()),
    )
    return columns.withColumn("light", light)


def _verdict(limits: Limits) -> Column:
    e, raw = F.col("e"), F.col("raw")
    corrupt = e[wire.CORRUPT].isNotNull()
    is_run = F.length(F.trim(e.run.runId)) > 0
    is_named = F.length(F.trim(e.job["name"])) > 0
    is_dataset = F.length(F.trim(e.dataset["name"])) > 0
    kind = F.coalesce(F.when(is_run, is_named).otherwise(is_named | is_dataset), F.lit(False))
    event_type = F.upper(F.trim(F.coalesce(e.eventType, F.lit("OTHER"))))
    ahead = F.col("received_at") + F.make_dt_interval(F.lit(limits.days_ahead))
    in_range = F.col("t").between(F.lit("2000-01-01").cast("timestamp"), ahead)
    checks: tuple[tuple[str, Column, Column], ...] = (
        ("too_large", F.octet_length(raw) > limits.bytes, F.octet_length(raw).cast("string")),
        ("not_utf8", ~is_utf8(raw), F.lit(None)),
        ("not_json", corrupt & F.get_json_object(raw, "$").isNull(), F.lit(None)),
        ("not_an_event", ~F.ltrim(raw).startswith("{"), F.lit("not an object")),
        ("wrong_type", corrupt, _wrong_path(raw)),
        ("not_an_event", ~kind, _missing(is_run)),
        ("unknown_event_type", ~event_type.isin(*EVENT_TYPES), e.eventType),
        ("no_event_time", e.eventTime.isNull(), F.lit(None)),
        ("bad_event_time", F.col("t").isNull(), e.eventTime),
        ("time_out_of_range", ~in_range, e.eventTime),
    )
    chain = F.lit(None).cast("struct<reason:string,detail:string>")
    for reason, failed, detail in reversed(checks):
        told = F.struct(F.lit(reason).alias("reason"), F.substring(detail.cast("string"), 1, 200).alias("detail"))
        chain = F.when(F.coalesce(failed, F.lit(False)), told).otherwise(chain)
    return chain


def is_utf8(text: Column) -> Column:
    """Whether a string's bytes are UTF-8. Spark 4 has a function for it, and its `decode` raises on other bytes."""
    if hasattr(F, "is_valid_utf8"):
        return F.is_valid_utf8(text)
    return F.encode(F.decode(text.cast("binary"), "UTF-8"), "UTF-8") == text.cast("binary")


def readable(text: Column) -> Column:
    """The text with what is not UTF-8 in it replaced by a mark."""
    return F.make_valid_utf8(text) if hasattr(F, "make_valid_utf8") else F.decode(text.cast("binary"), "UTF-8")


def _missing(is_run: Column) -> Column:
    return F.when(is_run, F.lit("no job.name")).otherwise(F.lit("no run.runId, no job.name, no dataset.name"))


def _wrong_path(raw: Column) -> Column:
    """The first place of `wire.STRUCTURE` that has the wrong bracket; deeper ones are told as inside a dataset."""
    found = F.lit("inside a dataset or facet")
    for path, bracket in reversed(wire.STRUCTURE):
        there = F.get_json_object(raw, path)
        found = F.when(there.isNotNull() & ~there.startswith(bracket), F.lit(path)).otherwise(found)
    return found


def _columns() -> dict[str, Column]:
    """The columns of an event; all null when the line has a reason."""
    e = F.col("e")
    facets, job = e.run.facets, e.job.facets
    parent = F.coalesce(facets.parent, facets.parentRun)
    is_run = F.length(F.trim(e.run.runId)) > 0
    is_job = F.length(F.trim(e.job["name"])) > 0
    run_id = (
        F.when(is_run, F.lower(F.trim(e.run.runId)))
        .when(is_job, F.concat(F.lit("job:"), F.col("event_id")))
        .otherwise(F.concat(F.lit("dataset:"), F.col("event_id")))
    )
    namespace = F.when(is_job, e.job.namespace).otherwise(e.dataset.namespace)
    return {
        "t": F.col("t"),
        "run_id": run_id,
        "event_type": F.when(is_run, F.upper(F.trim(F.coalesce(e.eventType, F.lit("OTHER"))))).otherwise("COMPLETE"),
        "job_namespace": F.coalesce(namespace, F.lit("")),
        "job_name": F.when(is_job, _job_name(e, parent)).otherwise(e.dataset["name"]),
        "integration": F.upper(F.when(is_job, job.jobType.integration).otherwise(F.lit("DATASET"))),
        "streaming": F.upper(job.jobType.processingType) == "STREAMING",
        "owner": F.try_element_at(job.ownership.owners, F.lit(1))["name"],
        "engine": F.concat_ws(" ", facets.processing_engine["name"], facets.processing_engine.version),
        "application": facets.spark_applicationDetails.applicationId,
        "parent_run": F.lower(parent.run.runId),
        "root_run": F.lower(parent.root.run.runId),
        "definition": facets.colline_query.definition,
        "error": F.substring(_error(facets), 1, 2000),
        "opaque": F.transform(
            facets.colline_opaque.steps, lambda s: F.concat_ws(": ", F.coalesce(s.function, s.node), s.why)
        ),
        "delivery": _delivery(facets),
        "mentions": _mentions(e),
    }


def _job_name(e: Column, parent: Column) -> Column:
    """The job's name; the Spark jar's `app.plan_node.table` is its application.

    The jar names a job after the root of the physical plan, and tells one CTAS as two jobs. What a user calls the job
    is the application, which the jar gives as the parent.
    """
    name, above = F.trim(e.job["name"]), F.trim(parent.job["name"])
    from_jar = e.producer.contains("/integration/spark") & name.startswith(F.concat(above, F.lit(".")))
    return F.when(from_jar, above).otherwise(name)


def _error(facets: Column) -> Column:
    exception = facets["spark.exception"]
    first_line = F.try_element_at(F.split(exception.stackTrace, "\n", 2), F.lit(1))
    return F.coalesce(facets.errorMessage.message, exception.message, first_line)


def _delivery(facets: Column) -> Column:
    pairs = [part for name in wire.DELIVERY for part in (F.lit(name), facets.colline_delivery[name])]
    return F.when(facets.colline_delivery.isNotNull(), F.create_map(*pairs))


def _mentions(e: Column) -> Column:
    """Every dataset the event names, as reader (`I`), writer (`O`) or on its own (`D`)."""
    none = F.array().cast(f"array<{wire.DATASET}>")
    entries = F.coalesce(e.job.facets.lineage.entries, F.array().cast(wire.array_of(wire.JOB_ENTRY)))
    told = F.filter(entries, lambda x: (F.upper(x.type) == "DATASET") & x["name"].isNotNull())
    raw = F.concat(
        F.transform(F.coalesce(e.inputs, none), lambda d: _mention(d, "I")),
        F.transform(F.coalesce(e.outputs, none), lambda d: _mention(d, "O")),
        F.transform(F.when(e.dataset["name"].isNotNull(), F.array(e.dataset)).otherwise(none), _dataset_event),
        F.transform(told, _entry),
    )
    named = F.filter(raw, lambda m: F.length(F.trim(m["name"])) > 0)
    return F.transform(named, _digested)


def _dataset_event(d: Column) -> Column:
    return _mention(d, "D")


def _mention(d: Column, role: str) -> Column:
    f = d.facets
    namespace = namespace_of(d.namespace)
    lifecycle = F.upper(f.lifecycleStateChange.lifecycleStateChange)
    reads = F.coalesce(d.inputFacets.colline_columnsRead.fields, f.colline_columnsRead.fields)
    return F.struct(
        F.lit(role).alias("role"),
        namespace.alias("namespace"),
        name_of(namespace, d["name"]).alias("name"),
        _kind(f, namespace).alias("kind"),
        lifecycle.alias("lifecycle"),
        f.schema.fields.alias("schema"),
        f.symlinks.identifiers.alias("symlinks"),
        F.try_element_at(f.ownership.owners, F.lit(1))["name"].alias("owner"),
        f.tags.tags.alias("tags"),
        F.coalesce(f.columnLineage.fields, f.lineage.fields).alias("fields"),
        F.coalesce(f.columnLineage.dataset, f.lineage.inputs).alias("rows"),
        (reads if role == "I" else F.lit(None).cast(wire.READS)).alias("reads"),
    )


def _entry(x: Column) -> Column:
    """An entry of the newer job-level `lineage` facet, which names its own target."""
    namespace = namespace_of(x.namespace)
    return F.struct(
        F.lit("O").alias("role"),
        namespace.alias("namespace"),
        name_of(namespace, x["name"]).alias("name"),
        F.lit(None).cast("string").alias("kind"),
        F.lit(None).cast("string").alias("lifecycle"),
        F.lit(None).cast(wire.SCHEMA_FIELDS).alias("schema"),
        F.lit(None).cast(wire.SYMLINKS).alias("symlinks"),
        F.lit(None).cast("string").alias("owner"),
        F.lit(None).cast(wire.TAG_LIST).alias("tags"),
        F.coalesce(x.fields, F.create_map().cast(wire.FIELDS)).alias("fields"),
        x.inputs.alias("rows"),
        F.lit(None).cast(wire.READS).alias("reads"),
    )


def _kind(f: Column, namespace: Column) -> Column:
    """TABLE, VIEW, FILE, TOPIC, JDBC or OTHER, from what the facets and the namespace say."""
    told = F.upper(f.datasetType.datasetType)
    return (
        F.when(told.isin("TABLE", "VIEW", "FILE", "TOPIC"), told)
        .when(namespace.startswith("kafka"), F.lit("TOPIC"))
        .when(namespace.rlike("^(postgres|mysql|sqlserver|oracle|db2|derby|jdbc)[:/]"), F.lit("JDBC"))
        .when(F.exists(f.symlinks.identifiers, lambda s: F.upper(s.type) == "TABLE"), F.lit("TABLE"))
        .when(f.storage.storageLayer.isNotNull(), F.lit("TABLE"))
        .when(namespace.rlike("^(file$|s3:|gs:|abfss:|wasbs:|hdfs:|dbfs)"), F.lit("FILE"))
    )


def _hash(*columns: Column) -> Column:
    """128 bits, cheap and the same everywhere."""
    return F.concat(F.hex(F.xxhash64(*columns)), F.hex(F.xxhash64(F.lit("2"), *columns)))


def _digested(m: Column) -> Column:
    """The mention with `shape` (what its lineage says, null for none) and `content` (all it says)."""
    has_lineage = (m["role"] != "I") & (
        m.fields.isNotNull() | (F.size(F.coalesce(m.rows, F.array().cast(wire.INPUTS))) > 0)
    )
    lineage = _hash(F.map_entries(m.fields), m.rows)
    shape = F.when(has_lineage, lineage).when(
        F.size(m.reads) > 0, F.concat(F.lit("r"), _hash(m.namespace, m["name"], m.reads))
    )
    fields = (
        "role",
        "namespace",
        "name",
        "kind",
        "lifecycle",
        "schema",
        "symlinks",
        "owner",
        "tags",
        "fields",
        "rows",
        "reads",
    )
    return F.struct(
        *(m[name].alias(name) for name in fields),
        shape.alias("shape"),
        _hash(m.schema, m.symlinks, m.owner, m.tags, m.lifecycle, m.kind, F.coalesce(shape, F.lit(""))).alias(
            "content"
        ),
        m.lifecycle.isin(*OVERWRITES).alias("overwrite"),
    )
