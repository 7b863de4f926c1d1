"""A line as head and body: what it says of its run and job, and what it says of datasets.

The runs of a job say the same of its datasets every night, in the same letters, and that is nearly all of a line. So
a line is cut at its inputs: the head is parsed, the body is known by its digest, and `parse` reads the first line of
each body. A line is cut where that cannot be told from reading it whole (`_IS_CUT`); any other is a body of its own.

Why a cut is sound: with the digest in the body's place the line is still JSON, so the body begins where a member of
the event does, and ends where the line says. Another line with the same body was read whole, so the body is such a
piece of JSON, and means the same in both.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from colline.pipeline import wire
from colline.pipeline.parse import COLUMNS, EVENT_TYPE, RID, Limits, from_json, is_utf8, meaning, part_of

# where a body begins; in it, where lineage does; and after it, what tells of one run only
INPUTS, LINEAGE, STATISTICS = '"inputs":', '"columnLineage":', ',"outputFacets":'
# statistics are looked for among so many bytes at the end of a line
NEAR = 2048
# what the event is besides its datasets, of an event that has a run and a job
OF_HEAD = {name: sql for name, sql in COLUMNS.items() if name != "mentions"} | {
    "run_id": "lower(trim(e.run.runId))",
    "event_type": EVENT_TYPE,
}
# the version of a table that a run read or wrote: a body is the same with another one
_VERSION = r'"datasetVersion":"[^"\\\x00-\x1f]*"'
_NO_VERSION = '"datasetVersion":""'
# what a body with a version contains; a text is searched for its first letter, which is rare here and a quote is not
_VERSIONED = 'Version":"'
# the head is that of a whole run event, and nothing about datasets is outside of the body
_IS_CUT = (
    f"e.{wire.CORRUPT} is null and e.inputs = body and e.eventTime is not null and e.eventType is not null"
    " and e.producer is not null and length(trim(e.run.runId)) > 0 and length(trim(e.job.name)) > 0"
    " and e.dataset is null and e.job.facets.lineage is null"
    " and if(has_statistics, size(e.outputs) = 1 and map_keys(e.outputs[0]) = array('_', 'outputFacets'),"
    f" e.outputs is null) and {is_utf8('head')}"
)


def heads(lines: DataFrame, limits: Limits) -> DataFrame:
    """One row per line: its `rid`, `file`, `body`; when it is cut, its columns, or why they are no event."""
    event = f"if(body is null, null, {from_json('head', wire.HEAD)}) as e"
    read = _halved(lines, limits).selectExpr("*", event, f"{RID} as rid")
    told = read.selectExpr("*", f"coalesce({_IS_CUT}, false) as is_cut").drop("head")
    timed = told.selectExpr("*", "if(is_cut, try_to_timestamp(e.eventTime), null) as t")
    judged = timed.selectExpr("*", f"if(is_cut, {meaning(limits)}, null) as verdict")
    columns = judged.selectExpr(
        "rid",
        "file",
        "is_cut",
        "if(is_cut, body, concat('line ', rid)) as body",
        "verdict.reason",
        "verdict.detail",
        *(f"if(is_cut, {sql}, null) as {name}" for name, sql in OF_HEAD.items()),
    )
    return columns.selectExpr("*", f"{part_of('run_id')} as part")


def _halved(lines: DataFrame, limits: Limits) -> DataFrame:
    """Lines with the digest of their `body` (null when there is none), and the `head` with that in its place.

    A frame copies what it keeps, so what is cut out of a line is digested where it is cut.
    """
    place = ("file", "position", "received_at")
    fits = f"octet_length(raw) <= {limits.bytes} and endswith(raw, '}}')"
    begun = lines.selectExpr(*place, "raw", f"if({fits}, substring_index(raw, '{INPUTS}', 1), raw) as before")
    last = _bytes("raw", f"greatest(octet_length(before) + 1, octet_length(raw) - {NEAR})")
    statistics = f"substring_index({last}, '{STATISTICS}', -1)"
    has = f"octet_length({statistics}) < octet_length({last})"
    after = f"if({has}, concat('{STATISTICS}', {statistics}), '}}')"
    size = f"octet_length(raw) - octet_length(before) - octet_length({after})"
    said = f"if(octet_length(before) < octet_length(raw), {_bytes('raw', 'octet_length(before) + 1', size)}, null)"
    # how a line ends is a part of what its body is
    body = f"concat(if({has}, 's', 'e'), sha2({_unversioned(said)}, 256)) as body"
    known = begun.selectExpr(*place, "before", f"{has} as has_statistics", f"{after} as after", body)
    outputs = """if(has_statistics, ',"outputs":[{"_":0', '')"""
    head = f"""concat(before, '{INPUTS}"', body, '"', {outputs}, after)"""
    return known.selectExpr(*place, "has_statistics", "body", f"{head} as head")


def _unversioned(said: str) -> str:
    """The body, or what stands for all bodies like it but for the versions of its tables; SQL of SQL.

    Versions are looked for before the first lineage only, which is most of a body and is not written anew.
    """
    datasets = f"substring_index({said}, '{LINEAGE}', 1)"
    lineage = f"sha2({_bytes(said, f'octet_length({datasets}) + 1')}, 256)"
    without = f"concat({lineage}, regexp_replace({datasets}, r'{_VERSION}', '{_NO_VERSION}'))"
    return f"if(contains({said}, '{_VERSIONED}'), {without}, {said})"


def _bytes(text: str, first: str, size: str | None = None) -> str:
    """A piece of a text, by bytes: to find a letter by its number is to walk over those before it."""
    return f"cast(substring(cast({text} as binary), {first}{f', {size}' if size else ''}) as string)"
