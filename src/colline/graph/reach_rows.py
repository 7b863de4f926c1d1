"""The rows of traversals: what is reached from a column, over which paths, and who writes it."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from colline.graph.rows import ColumnIdentity, ColumnRow, DatasetRow, EdgeRow, JobIdentity, JobRow, Relation, Row

PiiVerdict = Literal["clear", "masked", "indirect"]


class ReachedColumn(ColumnRow, frozen=True):
    """A column at some distance. `masked`: every path to it passes a masking step."""

    distance: int
    relation: Relation
    masked: bool


class ImpactRow(ReachedColumn, frozen=True):
    """An affected column. `kinds` is how it uses the changed column: value, join, filter, …"""

    kinds: list[str]


class FlaggedJob(JobRow, frozen=True):
    """A job of an upstream or downstream answer. `flags`: failed, changed, stale."""

    flags: list[str]


class ReachedJob(JobRow, frozen=True):
    """A job at the distance of the nearest column it reads."""

    distance: int
    flags: list[str]


class ImpactedJob(JobRow, frozen=True):
    """A job that reads affected columns. `breaks`: it reads a changed column itself."""

    distance: int
    kinds: list[str]
    breaks: bool


class ReachedDataset(DatasetRow, frozen=True):
    """A dataset at a distance, with the number of its columns that were reached."""

    distance: int
    columns: int
    relation: Relation | UnsetType = UNSET


class ExitRow(DatasetRow, frozen=True):
    """A dataset outside the lake that personal data reaches, with its columns by verdict."""

    clear: int
    masked: int
    indirect: int


class TableEdge(Row, frozen=True, rename={"from_": "from"}):
    """Lineage between two datasets, with the number of edges between their columns."""

    from_: int
    to: int
    type: Literal["DIRECT", "INDIRECT"]
    columns: int
    jobs: list[JobIdentity | None]


class JobEdge(Row, frozen=True, rename={"from_": "from"}):
    """The second job reads what the first one writes."""

    from_: int
    to: int


class PathRow(Row, frozen=True):
    """One path between two columns."""

    length: int
    hops: int
    relation: Relation
    masked: bool
    columns: list[ColumnIdentity]
    edges: list[EdgeRow]


class Landing(ReachedColumn, frozen=True):
    """A column that personal data reaches. `hop` is the masking step, `path` the ids of the columns on the way."""

    verdict: PiiVerdict
    hop: int | None
    job: JobIdentity | None
    source: ColumnIdentity
    path: list[int]
    through: list[str]
    sources: int
    exit: str | None
    allowed: bool
    violation: bool
    final: bool


class WriterInput(ColumnIdentity, frozen=True):
    """An input column of a definition."""

    type: Literal["DIRECT", "INDIRECT"]
    subtype: str
    masking: bool
    description: str


class WriterRow(ColumnIdentity, frozen=True):
    """A job that writes a column. `conflict`: another job defines the column differently."""

    job: JobRow
    last_success: str | None
    last_state: str | None
    definition: str
    inputs: list[WriterInput]
    conflict: bool
