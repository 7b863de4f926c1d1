"""The schema of every Delta table in the lake: its path, columns and partitioning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from colline.events.spark_schema import FIELDS, INPUTS, SCHEMA_FIELDS

# Gold tables are partitioned by a hash of the dataset: a batch rewrites only the partitions it touches.
BUCKETS = 8

SYMLINK = "struct<namespace:string,name:string,type:string,seen:timestamp>"
SCHEMA_VERSION = f"struct<digest:string,first_seen:timestamp,last_seen:timestamp,fields:{SCHEMA_FIELDS}>"
MENTION = (
    "struct<role:string,namespace:string,name:string,shape:string,content:string,lifecycle:string,overwrite:boolean>"
)
VERSION = (
    "struct<dataset_id:bigint,group:string,started:timestamp,first:timestamp,last:timestamp,"
    "shapes:array<string>,last_run:string,runs:bigint>"
)


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


BRONZE = Table(
    "bronze/events",
    "event_id string, raw binary, file string, position bigint, received_at timestamp, batch string, body string, "
    "head string, rule string, dt date",
    ("dt",),
)
QUARANTINE = Table(
    "bronze/quarantine",
    "event_id string, reason string, detail string, line string, file string, position bigint, "
    "received_at timestamp, quarantined_at timestamp, replayed_at timestamp, dt date",
    ("dt",),
)
RUNS = Table(
    "silver/runs",
    "run_id string, job_namespace string, job_name string, state string, effective boolean, started_at timestamp, "
    "effective_at timestamp, ended_at timestamp, first_event timestamp, last_event timestamp, flowed_at timestamp, "
    "progressed_at timestamp, "
    "completed_at timestamp, failed_at timestamp, aborted_at timestamp, parent_run string, root_run string, "
    "definition string, streaming boolean, integration string, engine string, application string, owner string, "
    "error string, opaque array<string>, delivery map<string,string>, "
    f"mentions array<{MENTION}>, open boolean, part string",
    ("open", "part"),
)
OBSERVATIONS = Table(
    "silver/observations",
    "content string, role string, namespace string, name string, shape string, lifecycle string, "
    "overwrite boolean, kind string, run_id string, seen_at timestamp, "
    f"schema {SCHEMA_FIELDS}, symlinks array<struct<namespace:string,name:string,type:string>>, owner string, "
    f"tags array<struct<key:string,value:string,field:string>>, fields {FIELDS}, rows {INPUTS}, "
    "reads array<struct<name:string,uses:array<string>>>, bucket int",
    ("bucket",),
)
DATASETS = Table(
    "silver/datasets",
    "id bigint, namespace string, name string, kind string, layer string, owner string, domain string, "
    f"symlinks array<{SYMLINK}>, tags array<string>, first_seen timestamp, last_seen timestamp, "
    "last_written timestamp, last_read timestamp, dropped_at timestamp, "
    f"schemas array<{SCHEMA_VERSION}>, merged_into bigint, merged_in string",
)
COLUMNS = Table(
    "gold/columns",
    "id bigint, dataset_id bigint, kind string, namespace string, name string, field string, type string, "
    "ordinal int, tags array<string>, first_seen timestamp, last_seen timestamp, removed_at timestamp, "
    "typed_at timestamp, bucket int",
    ("bucket",),
)
JOBS = Table(
    "gold/jobs",
    "id bigint, namespace string, name string, integration string, owner string, first_seen timestamp, "
    "last_run string, last_state string, last_started timestamp, last_ended timestamp, last_success timestamp, "
    "last_failure timestamp, last_error string, changed_at timestamp, runs bigint, last_clear timestamp, "
    f"outputs array<{VERSION}>",
)
EDGES = Table(
    "gold/edges",
    "source_id bigint, target_id bigint, job_id bigint, type string, subtype string, masking boolean, "
    "description string, first_seen timestamp, last_seen timestamp, retired_at timestamp, first_run string, "
    "last_run string, runs bigint, dataset_id bigint, source_dataset_id bigint, bucket int",
    ("bucket",),
)
READS = Table(
    "gold/reads",
    "column_id bigint, job_id bigint, use string, kind string, first_read timestamp, last_read timestamp, "
    "last_run string, reads bigint, dataset_id bigint, bucket int",
    ("bucket",),
)
COVERAGE = Table(
    "gold/coverage",
    "kind string, job_id bigint, dataset_id bigint, run_id string, detail string, first_seen timestamp, "
    "last_seen timestamp, resolved_at timestamp",
)
TABLES = (BRONZE, QUARANTINE, OBSERVATIONS, DATASETS, COLUMNS, EDGES, READS, COVERAGE, JOBS, RUNS)
