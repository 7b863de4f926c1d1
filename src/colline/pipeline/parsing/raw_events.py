"""Splits each landed line into the run part and the dataset part of its event, and writes both to bronze.

The runs of a job report the same datasets every night, in the same bytes, which are nearly all of a line. So the
dataset part is replaced by its digest, the payload. The rest, the run part, is parsed for each line, and the dataset
part once per digest. A line is split only if the result is provably the same as that of parsing it whole (`_IS_SPLIT`);
any other line is a payload of its own.

    {"eventTime":…,"producer":…,"run":…,"job":…,  "inputs":[…],"outputs":[…]  }               the Spark jar, colline
    {"eventType":…,"eventTime":…,"run":…,"job":…, "inputs":[…],"outputs":[…], "producer":…}   as in the spec
    {"eventTime":…,"eventType":…, "inputs":[…],"job":…,"outputs":[…], "producer":…,"run":…}   openlineage-python

The dataset part may contain the job; the job is then taken from the line that was read whole.

Why a split is sound: with the digest in the place of the dataset part, the line is still one JSON object from its
first character to its last. So the dataset part begins where a member of the event begins, and ends where one ends.
Another line with the same payload was parsed whole, so the dataset part is valid JSON, and means the same in both.
"""

from __future__ import annotations

import hashlib
from functools import reduce

from pyspark.sql import DataFrame

from colline.environment.hadoop_files import HadoopFiles
from colline.events import spark_schema
from colline.lake.delta_log import files_added_by
from colline.lake.location import hadoop_glob
from colline.lake.tables import BRONZE, fields_of
from colline.pipeline.delta_tables import LakeTables
from colline.pipeline.parsing.event_parsing import (
    EVENT_TYPE,
    LINE_ID,
    RUN_COLUMNS,
    Limits,
    from_json,
    is_utf8,
    meaning,
    part_of,
)
from colline.pipeline.sources.landing import LINE, event_id

# the dataset part begins at the first of these two; lineage begins in it at the third
INPUTS, OUTPUTS, LINEAGE = '"inputs":', '"outputs":', '"columnLineage":'
# what may follow it, unless it came before: the producer with the rest of the event, or the schema's address alone
PRODUCER, SCHEMA = '"producer":', '"schemaURL":'
# at the end of the last dataset: statistics of one run only
STATISTICS = '"outputFacets":'
# how many bytes, counted from the end, are searched for each of them
PRODUCER_BYTES, STATISTICS_BYTES, SCHEMA_BYTES = 32 * 1024, 2048, 256
# the run part is stored in bronze up to this size; a longer one is most of its line
MAX_RUN_PART_BYTES = 32 * 1024
_ENDS_WITH_CR = r"endswith(raw, '}\r')"
# the first character of a payload that is followed by statistics
_WITH_STATISTICS = "s"
_HAS_STATISTICS = f"startswith(payload, '{_WITH_STATISTICS}')"
# the columns of an event that has a run and a job
SPLIT_COLUMNS = RUN_COLUMNS | {"run_id": "lower(trim(e.run.runId))", "event_type": EVENT_TYPE}
# those that describe its job
JOB_COLUMNS = (
    "job_namespace",
    "job_name",
    "integration",
    "streaming",
    "owner",
    "sql",
    "location",
    "job_description",
    "job_tags",
)
# The version of a table that a run read or wrote, and how much it read, do not distinguish payloads.
_VALUES_OF_ONE_RUN = (
    (r'("datasetVersion": ?)"[^"\\\x00-\x1f]*"', '$1""'),
    (r'("(?:rowCount|size|fileCount)": ?)(?:0|[1-9][0-9]{0,17})(?=[,}])', "$10"),
)
# found in a dataset part with such values; the search is for the first letter, which is rarer than a quote
_MARKS_OF_ONE_RUN = ('Version":', 'Statistics":')
# the jar's name of a job starts with the name of the parent run's job, which other runs need not have
_IS_NAMED_BY_PARENT = "contains(e.producer, '/integration/spark')"
_HAS_JOB = "length(trim(e.job.name)) > 0 and e.job.facets.lineage is null"
# the run part is that of a whole run event, and no dataset is outside of the dataset part
_IS_SPLIT = (
    f"e.{spark_schema.CORRUPT_RECORD} is null and e.{spark_schema.END_MARKER} is not null and e.inputs = payload"
    " and e.eventTime is not null"
    " and e.eventType is not null and e.producer is not null and length(trim(e.run.runId)) > 0 and e.dataset is null"
    f" and if(e.job is null, not {_IS_NAMED_BY_PARENT}, {_HAS_JOB})"
    " and if(has_statistics, size(e.outputs) = 1 and map_keys(e.outputs[0]) = array('_', 'outputFacets'),"
    f" e.outputs is null) and {is_utf8('run_part')}"
)
_TEXT = ("cast(raw as string) as raw", *(name for name in LINE if name != "raw"))


def lines_of_bronze(rows: DataFrame) -> DataFrame:
    """Rows of bronze as the lines that landed."""
    return rows.selectExpr(*_TEXT)


def write_bronze(tables: LakeTables, landed: DataFrame, limits: Limits) -> None:
    """Write every line as it landed, with its run part and the digest of its dataset part."""
    is_stored = f"run_part is null or (octet_length(run_part) <= {MAX_RUN_PART_BYTES} and {is_utf8('run_part')})"
    rows = split(landed, limits).selectExpr(
        *LINE,
        f"{event_id('raw')} as event_id",
        f"'{tables.marker}' as batch",
        "payload",
        f"if({is_stored}, run_part, null) as run_part",
        f"if({is_stored}, '{split_rule(limits)}', null) as split_rule",
        "to_date(received_at) as dt",
    )
    tables.append(BRONZE, rows)
    tables.wait()


def split_bronze(rows: DataFrame, limits: Limits) -> DataFrame:
    """Rows of bronze as split lines, without their bytes. Lines that were split by another rule are split again."""
    names = ("file", "position", "received_at", "payload", "run_part")
    stored = rows.where(f"split_rule = '{split_rule(limits)}'").select(*names)
    others = rows.where(f"split_rule is null or split_rule <> '{split_rule(limits)}'")
    return stored.unionByName(split(lines_of_bronze(others), limits).select(*names))


def bronze_of_batch(tables: LakeTables, files: HadoopFiles) -> DataFrame:
    """The rows of bronze that this batch wrote, read from the files of its commit where the log names them.

    Searching the table for them would cost more with every batch.
    """
    table = tables.spark.read.format("delta").load(tables.path(BRONZE)).where(f"batch = '{tables.marker}'")
    if tables.stamp is None:
        return table
    found = files_added_by(files, tables.path(BRONZE), tables.stamp.app, tables.stamp.version) or {}
    # a table with column mapping has other partition names
    known = (name for name, values in found.items() if set(values) == set(BRONZE.partitions))
    # maintenance may have replaced files of a batch that was killed
    paths = [path for name in known if (path := hadoop_glob(name)) is not None and files.exists(name)]
    if not paths or len(paths) < len(found):
        return table
    columns = {name: kind for name, kind in fields_of(BRONZE).items() if name not in BRONZE.partitions}
    schema = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    return tables.spark.read.schema(schema).parquet(*paths)


def run_parts(lines: DataFrame, limits: Limits) -> DataFrame:
    """One row per split line: `line_id`, `payload`; if `is_split`, the event's columns, or the reason of a bad line.

    `has_job`: whether the columns of `JOB_COLUMNS` are those of the line, and not those of its payload.
    """
    event = f"if(payload is null, null, {from_json('run_part', spark_schema.RUN_PART)}) as e"
    read = lines.selectExpr("*", event, f"{_HAS_STATISTICS} as has_statistics", f"{LINE_ID} as line_id")
    tested = read.selectExpr("*", f"coalesce({_IS_SPLIT}, false) as fits", "e.job is not null as has_job")
    timed = tested.selectExpr("*", "if(fits, try_to_timestamp(e.eventTime), null) as t")
    judged = timed.selectExpr("*", f"if(fits, {meaning(limits)}, null) as verdict")
    # of two faults of a line, the job's is reported first
    decided = judged.selectExpr("*", "fits and (has_job or verdict is null) as is_split")
    columns = decided.selectExpr(
        "line_id",
        "file",
        "is_split",
        "has_job",
        "if(is_split, concat(if(has_job, 'j', ''), payload), concat('line ', line_id)) as payload",
        "if(is_split, verdict.reason, null) as reason",
        "if(is_split, verdict.detail, null) as detail",
        *(f"if(is_split, {sql}, null) as {name}" for name, sql in SPLIT_COLUMNS.items()),
    )
    return columns.selectExpr("*", f"{part_of('run_id')} as part")


def split(lines: DataFrame, limits: Limits) -> DataFrame:
    """Lines with `payload`, the digest of their dataset part, and `run_part`; both null where a line is not split."""
    return reduce(lambda rows, step: rows.selectExpr(*step), _steps(limits), lines)


def split_rule(limits: Limits) -> str:
    """The name of the rule by which lines are split; it changes with the rule."""
    return hashlib.sha256(repr(_steps(limits)).encode()).hexdigest()[:16]


def _steps(limits: Limits) -> list[tuple[str, ...]]:
    """Lists of SQL columns that split a line, one after the other.

    A frame copies what it keeps, so the dataset part is digested where it is found. Places are counted in bytes.
    """
    fits = f"octet_length(raw) <= {limits.bytes} and (endswith(raw, '}}') or {_ENDS_WITH_CR})"
    first = f"substring_index(substring_index(raw, '{INPUTS}', 1), '{OUTPUTS}', 1)"
    statistics = f"octet_length({_after_last(STATISTICS, 'end', STATISTICS_BYTES)})"
    datasets = f"if(begin < size, {_bytes('raw', 'begin', 'until')}, null)"
    outputs = """if(until < end, ',"outputs":[{"_":0', ''), if(rest = '', '', ',')"""
    run_part = f"""concat(before, '{INPUTS}"', payload, '"', {outputs}, rest, ',"{spark_schema.END_MARKER}":0}}')"""
    return [
        (*LINE, f"octet_length(raw) - if({_ENDS_WITH_CR}, 1, 0) as size", f"if({fits}, {first}, raw) as before"),
        ("*", "octet_length(before) as begin", f"contains(before, '{PRODUCER}') as has_producer"),
        ("*", f"{_end()} as end"),
        ("*", f"coalesce(end - {statistics} - {len(STATISTICS)}, end) as until"),
        (
            "*",
            f"{_bytes('raw', 'until', 'size - 1')} as rest",
            f"concat(if(until < end, '{_WITH_STATISTICS}', 'e'), sha2({_without_run_values(datasets)}, 256))"
            " as payload",
        ),
        (*LINE, "payload", f"{run_part} as run_part"),
    ]


def _end() -> str:
    """The position after the datasets: at the producer or the schema's address, else at the last bracket."""
    producer = f"octet_length({_after_last(PRODUCER, 'size', PRODUCER_BYTES)}) + {len(PRODUCER)}"
    schema = f"octet_length({_after_last(SCHEMA, 'size', SCHEMA_BYTES)}) + {len(SCHEMA)}"
    return f"size - coalesce(if(has_producer, {schema}, {producer}), 1)"


def _after_last(word: str, end: str, size: int) -> str:
    """The text after the last such word in the `size` bytes before `end`, excluding `before`; null without one."""
    among = _bytes("raw", f"greatest(begin, {end} - {size})", end)
    after = f"substring_index({among}, '{word}', -1)"
    return f"if(octet_length({after}) < octet_length({among}), {after}, null)"


def _without_run_values(text: str) -> str:
    """The dataset part without the values of one run. They are searched before the first lineage only."""
    datasets = f"substring_index({text}, '{LINEAGE}', 1)"
    lineage = f"sha2({_bytes(text, f'octet_length({datasets})')}, 256)"
    without = datasets
    for pattern, replacement in _VALUES_OF_ONE_RUN:
        without = f"regexp_replace({without}, r'{pattern}', '{replacement}')"
    has_values = " or ".join(f"contains({datasets}, '{word}')" for word in _MARKS_OF_ONE_RUN)
    return f"if({has_values}, concat({lineage}, {without}), {text})"


def _bytes(text: str, begin: str, end: str | None = None) -> str:
    """A piece of a text by byte positions, which are found without reading the characters before them."""
    size = f", {end} - {begin}" if end else ""
    return f"cast(substring(cast({text} as binary), {begin} + 1{size}) as string)"
