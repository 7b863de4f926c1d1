"""A line as head and body: what it says of its run, and what it says of datasets.

The runs of a job say the same of its datasets every night, in the same letters, and that is nearly all of a line. So
its datasets are cut out of a line: what is left, the head, is parsed, the body is known by its digest, and `parse`
reads the first line of each body. A line is cut where that cannot be told from reading it whole (`_IS_CUT`); any other
is a body of its own.

    {"eventTime":…,"producer":…,"run":…,"job":…,  "inputs":[…],"outputs":[…]  }               the Spark jar, colline
    {"eventType":…,"eventTime":…,"run":…,"job":…, "inputs":[…],"outputs":[…], "producer":…}   as the spec shows it
    {"eventTime":…,"eventType":…, "inputs":[…],"job":…,"outputs":[…], "producer":…,"run":…}   openlineage-python

A body may have the job in it; it is then told by the line that was read whole.

Why a cut is sound: with the digest in the body's place the line is still one object of JSON from its first letter to
its last, so the body begins where a member of the event does, and ends where one does. Another line with the same body
was read whole, so the body is such a piece of JSON, and means the same in both.
"""

from __future__ import annotations

import hashlib
from functools import reduce

from pyspark.sql import DataFrame

from colline.events import spark_schema
from colline.pipeline.landing import LINE
from colline.pipeline.parse import COLUMNS, EVENT_TYPE, RID, Limits, from_json, is_utf8, meaning, part_of

# where a body begins, whichever comes first; and where lineage does in it
INPUTS, OUTPUTS, LINEAGE = '"inputs":', '"outputs":', '"columnLineage":'
# what may come after it, if it has not come before: the producer with all that follows, or the schema's address alone
PRODUCER, SCHEMA = '"producer":', '"schemaURL":'
# at the end of its last dataset: what tells of one run only
STATISTICS = '"outputFacets":'
# in how many bytes, counted from the end, each of them is looked for
FAR, NEAR, LAST = 32 * 1024, 2048, 256
# a line that ends as lines do on Windows: what is after the bracket is no part of it
_IS_OF_WINDOWS = r"endswith(raw, '}\r')"
# how a body begins that is followed by statistics
_WITH_STATISTICS = "s"
_HAS_STATISTICS = f"startswith(body, '{_WITH_STATISTICS}')"
# what the event is besides its datasets, of an event that has a run and a job
OF_HEAD = {name: sql for name, sql in COLUMNS.items() if name != "mentions"} | {
    "run_id": "lower(trim(e.run.runId))",
    "event_type": EVENT_TYPE,
}
# what of that is told of its job
OF_JOB = ("job_namespace", "job_name", "integration", "streaming", "owner")
# The version of a table that a run read or wrote, and how much it read: a body is the same with other ones.
_OF_ONE_RUN = (
    (r'("datasetVersion": ?)"[^"\\\x00-\x1f]*"', '$1""'),
    (r'("(?:rowCount|size|fileCount)": ?)(?:0|[1-9][0-9]{0,17})(?=[,}])', "$10"),
)
# what a body with such contains; a text is searched for its first letter, which is rare here and a quote is not
_HAS_SUCH = ('Version":', 'Statistics":')
# the jar's name of a job goes by the run above it, which no other run need have
_NAMED_BY_PARENT = "contains(e.producer, '/integration/spark')"
_HAS_JOB = "length(trim(e.job.name)) > 0 and e.job.facets.lineage is null"
# the head is that of a whole run event, and nothing about datasets is outside of the body
_IS_CUT = (
    f"e.{spark_schema.CORRUPT_RECORD} is null and e.{spark_schema.END_MARKER} is not null and e.inputs = body"
    " and e.eventTime is not null"
    " and e.eventType is not null and e.producer is not null and length(trim(e.run.runId)) > 0 and e.dataset is null"
    f" and if(e.job is null, not {_NAMED_BY_PARENT}, {_HAS_JOB})"
    " and if(has_statistics, size(e.outputs) = 1 and map_keys(e.outputs[0]) = array('_', 'outputFacets'),"
    f" e.outputs is null) and {is_utf8('head')}"
)


def heads(lines: DataFrame, limits: Limits) -> DataFrame:
    """One row per halved line: its `rid`, `file`, `body`; when it is cut, its columns, or why they are no event.

    `has_job`: whether the columns of `OF_JOB` are those of the line, and not its body's.
    """
    event = f"if(body is null, null, {from_json('head', spark_schema.RUN_PART)}) as e"
    read = lines.selectExpr("*", event, f"{_HAS_STATISTICS} as has_statistics", f"{RID} as rid")
    told = read.selectExpr("*", f"coalesce({_IS_CUT}, false) as fits", "e.job is not null as has_job").drop("head")
    timed = told.selectExpr("*", "if(fits, try_to_timestamp(e.eventTime), null) as t")
    judged = timed.selectExpr("*", f"if(fits, {meaning(limits)}, null) as verdict")
    # which of two things is wrong with a line is told by its job first
    decided = judged.selectExpr("*", "fits and (has_job or verdict is null) as is_cut")
    columns = decided.selectExpr(
        "rid",
        "file",
        "is_cut",
        "has_job",
        "if(is_cut, concat(if(has_job, 'j', ''), body), concat('line ', rid)) as body",
        "if(is_cut, verdict.reason, null) as reason",
        "if(is_cut, verdict.detail, null) as detail",
        *(f"if(is_cut, {sql}, null) as {name}" for name, sql in OF_HEAD.items()),
    )
    return columns.selectExpr("*", f"{part_of('run_id')} as part")


def halved(lines: DataFrame, limits: Limits) -> DataFrame:
    """Lines with the digest of their `body` and the `head` with that in its place; both null where there is none."""
    return reduce(lambda rows, step: rows.selectExpr(*step), _steps(limits), lines)


def rule(limits: Limits) -> str:
    """What the way to halve a line is known by: another way has another name."""
    return hashlib.sha256(repr(_steps(limits)).encode()).hexdigest()[:16]


def _steps(limits: Limits) -> list[tuple[str, ...]]:
    """Columns, one list after the other, that halve a line; SQL.

    A frame copies what it keeps, so what is cut out of a line is digested where it is cut. Places are counted in bytes.
    """
    fits = f"octet_length(raw) <= {limits.bytes} and (endswith(raw, '}}') or {_IS_OF_WINDOWS})"
    first = f"substring_index(substring_index(raw, '{INPUTS}', 1), '{OUTPUTS}', 1)"
    statistics = f"octet_length({_after_last(STATISTICS, 'end', str(NEAR))})"
    said = f"if(begin < size, {_bytes('raw', 'begin', 'until')}, null)"
    outputs = """if(until < end, ',"outputs":[{"_":0', ''), if(rest = '', '', ',')"""
    head = f"""concat(before, '{INPUTS}"', body, '"', {outputs}, rest, ',"{spark_schema.END_MARKER}":0}}')"""
    return [
        (*LINE, f"octet_length(raw) - if({_IS_OF_WINDOWS}, 1, 0) as size", f"if({fits}, {first}, raw) as before"),
        ("*", "octet_length(before) as begin", f"contains(before, '{PRODUCER}') as is_told"),
        ("*", f"{_end()} as end"),
        ("*", f"coalesce(end - {statistics} - {len(STATISTICS)}, end) as until"),
        # how a line ends is a part of what its body is
        (
            "*",
            f"{_bytes('raw', 'until', 'size - 1')} as rest",
            f"concat(if(until < end, '{_WITH_STATISTICS}', 'e'), sha2({_same_every_night(said)}, 256)) as body",
        ),
        (*LINE, "body", f"{head} as head"),
    ]


def _end() -> str:
    """Where what comes after the datasets begins: with the producer or the schema's address, else the last bracket."""
    producer = f"octet_length({_after_last(PRODUCER, 'size', str(FAR))}) + {len(PRODUCER)}"
    schema = f"octet_length({_after_last(SCHEMA, 'size', str(LAST))}) + {len(SCHEMA)}"
    return f"size - coalesce(if(is_told, {schema}, {producer}), 1)"


def _after_last(word: str, end: str, size: str) -> str:
    """What comes after the last such word among so many bytes before `end`, none of them `before`; null without one."""
    among = _bytes("raw", f"greatest(begin, {end} - {size})", end)
    after = f"substring_index({among}, '{word}', -1)"
    return f"if(octet_length({after}) < octet_length({among}), {after}, null)"


def _same_every_night(said: str) -> str:
    """The body, or what stands for all bodies like it but for what tells of one run; SQL of SQL.

    That is looked for before the first lineage only, which is most of a body and is not written anew.
    """
    datasets = f"substring_index({said}, '{LINEAGE}', 1)"
    lineage = f"sha2({_bytes(said, f'octet_length({datasets})')}, 256)"
    without = datasets
    for pattern, instead in _OF_ONE_RUN:
        without = f"regexp_replace({without}, r'{pattern}', '{instead}')"
    has_such = " or ".join(f"contains({datasets}, '{word}')" for word in _HAS_SUCH)
    return f"if({has_such}, concat({lineage}, {without}), {said})"


def _bytes(text: str, begin: str, end: str | None = None) -> str:
    """A piece of a text, from one place to another: to find a letter by its number is to walk over those before it."""
    size = f", {end} - {begin}" if end else ""
    return f"cast(substring(cast({text} as binary), {begin} + 1{size}) as string)"
