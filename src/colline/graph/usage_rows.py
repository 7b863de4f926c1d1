"""The rows of questions about readers: who reads a column or table, and whether it can be dropped."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from colline.graph.rows import ColumnIdentity, ColumnRow, DatasetRow, JobIdentity, JobRow, Row, Unknown

DropVerdict = Literal["yes", "no", "unknown"]
Confidence = Literal["high", "medium", "low", "unknown"]


class ReadingJob(JobRow, frozen=True):
    """A job that reads a table: for what, how many of its columns, when last, and whether it still does."""

    kind: Literal["write", "query"]
    uses: list[str]
    columns: int
    last_read: str | None
    live: bool


class Reader(Row, frozen=True):
    """A job or query that reads a column. Keys that do not apply are absent."""

    job: JobIdentity | None
    owner: str | None
    use: str
    kind: str
    last_read: str | None
    into: ColumnIdentity | UnsetType = UNSET
    column: str | UnsetType = UNSET
    reads: int | UnsetType = UNSET
    live: bool | UnsetType = UNSET
    retired_at: str | UnsetType | None = UNSET


class Evidence(Row, frozen=True):
    """What "nobody reads it" is based on. `sources` are the namespaces of the jobs, with their integration."""

    since: str
    until: str
    seconds: float
    jobs: int
    queries: int
    sources: list[str]
    sources_left_out: int
    not_visible: list[str]


class DroppableRow(ColumnRow, frozen=True):
    """Whether a column can be dropped, with live and retired readers and coverage gaps."""

    verdict: DropVerdict
    confidence: Confidence
    why: str
    readers: list[Reader]
    readers_left_out: int
    retired: list[Reader]
    last_read: str | None
    gaps: list[Unknown]


class DroppableTable(DatasetRow, frozen=True):
    """Whether a table can be dropped, with the jobs that read one of its columns."""

    verdict: DropVerdict
    confidence: Confidence
    why: str
    columns: int
    readers: list[JobIdentity]


class UnusedTable(DatasetRow, frozen=True):
    """A table without a live reader of any column."""

    columns: int
    confidence: Confidence
    why: str


class UnusedRow(ColumnRow, frozen=True):
    """A column without a live reader. `confidence` is low if a gap could hide one or the history is short."""

    last_write: str | None
    last_read: str | None
    never: bool
    confidence: Confidence
    why: str
