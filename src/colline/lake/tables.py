"""The schema of every Delta table in the lake: its path, columns and partitioning.

Each table holds facts that change together. What an event reports about datasets is immutable and stored once, by
digest; when it was true is stored in `gold/lineage_versions` and `gold/observations`. `lake.flat_shapes` describes the
tables that queries see, which are derived from these.

Ids are hashes, so that a fact can be written before anything else about its object is known:
`job_id = xxhash64(namespace, name)`, `dataset_id = xxhash64(namespace, name)` of a normalized name, and
`column_id = xxhash64(dataset_id, lower(field))`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A Delta table of the lake."""

    path: str
    columns: str  # DDL
    partitions: tuple[str, ...] = ()


def fields_of(table: Table) -> dict[str, str]:
    """The table's columns with their types."""
    return dict(column.split(" ", 1) for column in split_columns(table.columns))


def split_columns(columns: str) -> Iterator[str]:
    """The columns of a DDL text: split at the commas outside of angle brackets."""
    depth, start = 0, 0
    for position, character in enumerate(columns):
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "," and not depth:
            yield columns[start:position].strip()
            start = position + 1
    yield columns[start:].strip()


# How a run or a payload refers to a mention: a dataset that an event names, as input (I), output (O) or alone (D).
# `fingerprint` identifies the mention's column lineage (or, with the prefix `r`, the columns it read), and `links` are
# the datasets that its symlinks declare to be the same.
MENTION = (
    "struct<role:string,namespace:string,name:string,dataset_id:bigint,digest:string,fingerprint:string,"
    "lifecycle:string,overwrite:boolean,"
    "links:array<struct<alias_id:bigint,target_id:bigint>>>"
)
LINKED_NAME = "struct<dataset_id:bigint,namespace:string,name:string,type:string>"
MENTIONED_COLUMN = "struct<column_id:bigint,name:string,type:string,tags:array<string>,description:string>"
# the value of a column that is derived from no column: `count(1)`
EXPRESSION = "struct<column_id:bigint,text:string>"
# the runs that reported a fingerprint in the interval of a lineage version
REPORTED = (
    "struct<fingerprint:string,runs:bigint,first_seen:timestamp,first_run:string,last_seen:timestamp,last_run:string>"
)
# what the next batch continues from: the newest group of runs in a lineage version
LAST_WRITE = (
    "struct<run_group:string,started:timestamp,first_seen:timestamp,last_seen:timestamp,last_run:string,runs:bigint>"
)

# a statement of a job, when it was last seen and in which group of runs; what people wrote about the job
CODE = "struct<at:timestamp,run_group:string,sql:string>"
ABOUT = "struct<at:timestamp,location:string,description:string,tags:array<string>>"

BRONZE = Table(
    "bronze/events",
    "event_id string, raw binary, file string, position bigint, received_at timestamp, batch string, payload string, "
    "run_part string, split_rule string, dt date",
    ("dt",),
)
QUARANTINE = Table(
    "bronze/quarantine",
    "event_id string, reason string, detail string, line string, file string, position bigint, "
    "received_at timestamp, quarantined_at timestamp, replayed_at timestamp, dt date",
    ("dt",),
)
PAYLOADS = Table(
    "silver/payloads",
    "payload string, reason string, detail string, job_namespace string, job_name string, integration string, "
    "streaming boolean, owner string, sql string, location string, job_description string, job_tags array<string>, "
    f"mentions array<{MENTION}>",
)
MENTIONS = Table(
    "silver/mentions",
    "digest string, role string, dataset_id bigint, kind string, lifecycle string, owner string, tags array<string>, "
    f"symlinks array<{LINKED_NAME}>, fingerprint string, schema_digest string, columns array<{MENTIONED_COLUMN}>, "
    f"description string, expressions array<{EXPRESSION}>",
)
RUNS = Table(
    "silver/runs",
    "run_id string, job_id bigint, job_namespace string, job_name string, state string, effective boolean, "
    "started_at timestamp, effective_at timestamp, ended_at timestamp, first_event timestamp, last_event timestamp, "
    "flowed_at timestamp, progressed_at timestamp, completed_at timestamp, failed_at timestamp, aborted_at timestamp, "
    "parent_run string, root_run string, definition string, streaming boolean, integration string, engine string, "
    "application string, owner string, error string, opaque array<string>, delivery map<string,string>, "
    f"mentions array<{MENTION}>, open boolean, part string",
    ("open", "part"),
)
OBSERVATIONS = Table(
    "gold/observations",
    "job_id bigint, digest string, kind string, runs bigint, first_seen timestamp, last_seen timestamp, "
    "last_run string, part string",
    ("part",),
)
LINEAGE_VERSIONS = Table(
    "gold/lineage_versions",
    "job_id bigint, dataset_id bigint, version int, valid_from timestamp, valid_to timestamp, is_current boolean, "
    f"fingerprints array<string>, reported array<{REPORTED}>, last_write {LAST_WRITE}",
    ("is_current",),
)
EDGES = Table(
    "gold/edges",
    "dataset_id bigint, fingerprint string, source_dataset_id bigint, source_id bigint, target_id bigint, "
    "type string, subtype string, masking boolean, description string, use string",
)
DATASETS = Table(
    "gold/datasets",
    "dataset_id bigint, namespace string, name string, layer string, owner string, domain string",
)
COLUMNS = Table("gold/columns", "column_id bigint, dataset_id bigint, field string, tags array<string>")
ALIASES = Table("gold/aliases", "dataset_id bigint, direct_id bigint, target_id bigint")
DESCRIPTIONS = Table(
    "gold/descriptions",
    "namespace string, name string, column string, layer string, owner string, domain string, tags array<string>",
)
JOBS = Table(
    "gold/jobs",
    "job_id bigint, namespace string, name string, integration string, owner string, first_seen timestamp, "
    "last_run string, last_state string, last_started timestamp, last_ended timestamp, last_success timestamp, "
    "last_failure timestamp, last_error string, runs bigint, last_clear timestamp, "
    f"code array<{CODE}>, about {ABOUT}",
)
COVERAGE = Table(
    "gold/coverage",
    "kind string, job_id bigint, dataset_id bigint, run_id string, detail string, first_seen timestamp, "
    "last_seen timestamp, resolved_at timestamp",
)
TABLES = (
    BRONZE,
    QUARANTINE,
    PAYLOADS,
    MENTIONS,
    EDGES,
    DATASETS,
    COLUMNS,
    ALIASES,
    DESCRIPTIONS,
    OBSERVATIONS,
    LINEAGE_VERSIONS,
    COVERAGE,
    JOBS,
    RUNS,
)
