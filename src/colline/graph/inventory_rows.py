"""The rows of lists and cards: columns by name, tables, jobs, runs, gaps, and the health of the lake."""

from __future__ import annotations

from typing import Literal

import msgspec

from colline.graph.rows import (
    ColumnIdentity,
    CountedColumn,
    DatasetIdentity,
    DatasetRow,
    JobIdentity,
    JobRow,
    Relation,
    Row,
)


class FoundColumn(CountedColumn, frozen=True):
    """A search result. `match` is how the name matched: exact, suffix, prefix, part, dataset or fuzzy."""

    match: str


class SchemaColumn(CountedColumn, frozen=True):
    """A column with its position in the schema of its table, and its description."""

    ordinal: int
    description: str | None


class DescribedJob(JobRow, frozen=True):
    """A job with its description, tags, and code: the SQL text, or the location of the source."""

    description: str | None
    tags: list[str]
    sql: str | None
    location: str | None


class ListedDataset(DatasetRow, frozen=True):
    """A dataset with the number of its columns, of the datasets it is built on, and of those built on it."""

    columns: int
    upstream: int
    downstream: int


class DescribedDataset(DatasetRow, frozen=True):
    """A dataset with its description."""

    description: str | None


class NeighbourDataset(DatasetRow, frozen=True):
    """A dataset one step away: the columns that take part, whether a value flows, and the jobs between the two."""

    columns: int
    relation: Relation
    jobs: list[JobIdentity]


class SchemaVersion(Row, frozen=True):
    """A schema that a table had, and how it differs from the one before."""

    first_seen: str | None
    last_seen: str | None
    columns: int
    added: list[str]
    removed: list[str]
    changed: list[str]


class CoverageGap(Row, frozen=True):
    """Missing lineage of a job or dataset, with its kind and since when it is missing."""

    kind: str
    job: JobIdentity | None
    dataset: DatasetIdentity | None
    run_id: str | None
    detail: str | None
    layer: str | None
    owner: str | None
    first_seen: str | None
    last_seen: str | None


class WrittenDataset(DatasetIdentity, frozen=True):
    """What a run wrote to a dataset; a number is None if the events do not contain it."""

    rows: int | None = None
    bytes: int | None = None
    files: int | None = None


class RunRow(Row, frozen=True):
    """A run of a job, with the datasets it read and wrote. Only the answer about one run has the statistics."""

    run_id: str | None
    job: JobIdentity
    state: str | None
    started: str | None
    ended: str | None
    seconds: float | None = None
    inputs: list[DatasetIdentity] = msgspec.field(default_factory=list)
    outputs: list[DatasetIdentity] = msgspec.field(default_factory=list)
    last_event: str | None = None
    parent_run: str | None = None
    streaming: bool | None = None
    integration: str | None = None
    owner: str | None = None
    error: str | None = None
    written: list[WrittenDataset] = msgspec.field(default_factory=list)


class QuarantineRow(Row, frozen=True):
    """A line that could not be ingested, and why."""

    reason: str | None = None
    detail: str | None = None
    line: str | None = None
    file: str | None = None
    position: int | None = None
    received_at: str | None = None
    quarantined_at: str | None = None
    replayed_at: str | None = None


class LayerRow(Row, frozen=True):
    """A layer of the lake with counts."""

    layer: str | None
    datasets: int
    columns: int
    tagged: int


class LayerFlow(Row, frozen=True, rename={"from_": "from"}):
    """The number of edges from one layer to another."""

    from_: str | None
    to: str | None
    edges: int


class RecentChange(Row, frozen=True):
    """An edge that was added or removed."""

    when: str
    change: Literal["added", "removed"]
    source: ColumnIdentity
    target: ColumnIdentity
    type: Literal["DIRECT", "INDIRECT"]
    subtype: str
    masking: bool
    description: str
    job: JobIdentity | None


class LakeHealth(Row, frozen=True):
    """Counts of the lake, its time range, and what needs attention."""

    published: str
    first: str | None
    last: str | None
    columns: int
    datasets: int
    jobs: int
    edges: int
    retired: int
    gaps: int
    failed_jobs: int
    quarantined: int
    tables: dict[str, int]
