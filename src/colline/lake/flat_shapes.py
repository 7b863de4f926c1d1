"""The tables that queries see, in the shape of `register_views` and of the snapshot: one row per edge, column or read.

They are not stored. They are derived from the lake's Delta tables (`lake.tables`).
"""

from __future__ import annotations

from colline.lake.tables import Table

SYMLINK = "struct<namespace:string,name:string,type:string,seen:timestamp>"
FIELDS = "array<struct<name:string,type:string>>"
SCHEMA_VERSION = f"struct<digest:string,first_seen:timestamp,last_seen:timestamp,fields:{FIELDS}>"

FLAT_DATASETS = Table(
    "datasets",
    "id bigint, namespace string, name string, kind string, layer string, owner string, domain string, "
    f"symlinks array<{SYMLINK}>, tags array<string>, first_seen timestamp, last_seen timestamp, "
    "last_written timestamp, last_read timestamp, dropped_at timestamp, "
    f"schemas array<{SCHEMA_VERSION}>, merged_into bigint, description string",
)
FLAT_COLUMNS = Table(
    "columns",
    "id bigint, dataset_id bigint, kind string, namespace string, name string, field string, type string, "
    "ordinal int, tags array<string>, first_seen timestamp, last_seen timestamp, removed_at timestamp, "
    "description string, expression string",
)
FLAT_JOBS = Table(
    "jobs",
    "id bigint, namespace string, name string, integration string, owner string, first_seen timestamp, "
    "last_run string, last_state string, last_started timestamp, last_ended timestamp, last_success timestamp, "
    "last_failure timestamp, last_error string, changed_at timestamp, runs bigint, outputs array<bigint>, "
    "description string, tags array<string>, sql string, location string",
)
FLAT_EDGES = Table(
    "edges",
    "source_id bigint, target_id bigint, job_id bigint, type string, subtype string, masking boolean, "
    "description string, first_seen timestamp, last_seen timestamp, retired_at timestamp, first_run string, "
    "last_run string, runs bigint, dataset_id bigint, source_dataset_id bigint",
)
FLAT_READS = Table(
    "reads",
    "column_id bigint, job_id bigint, use string, kind string, first_read timestamp, last_read timestamp, "
    "last_run string, reads bigint, dataset_id bigint",
)
FLAT_COVERAGE = Table(
    "coverage",
    "kind string, job_id bigint, dataset_id bigint, run_id string, detail string, first_seen timestamp, "
    "last_seen timestamp, resolved_at timestamp",
)
FLAT_TABLES = (FLAT_DATASETS, FLAT_COLUMNS, FLAT_JOBS, FLAT_EDGES, FLAT_READS, FLAT_COVERAGE)
