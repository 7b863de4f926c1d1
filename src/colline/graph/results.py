"""The result type of every question. `main` names the field whose rows answer the question."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from colline.graph.answer import Answer
from colline.graph.difference_rows import (
    ColumnChange,
    DatasetChange,
    Divergence,
    EdgeChange,
    EdgeRevision,
    SchemaChange,
    SharedColumn,
)
from colline.graph.inventory_rows import (
    CoverageGap,
    DescribedDataset,
    DescribedJob,
    FoundColumn,
    LakeHealth,
    LayerFlow,
    LayerRow,
    ListedDataset,
    NeighbourDataset,
    QuarantineRow,
    RecentChange,
    RunRow,
    SchemaColumn,
    SchemaVersion,
)
from colline.graph.reach_rows import (
    ExitRow,
    FlaggedJob,
    ImpactedJob,
    ImpactRow,
    JobEdge,
    Landing,
    PathRow,
    ReachedColumn,
    ReachedDataset,
    ReachedJob,
    TableEdge,
    WriterRow,
)
from colline.graph.rows import ColumnRow, EdgeRow, JobRow, Row
from colline.graph.usage_rows import DroppableRow, DroppableTable, Evidence, Reader, ReadingJob, UnusedRow, UnusedTable


class WalkAnswer(Answer, frozen=True, kw_only=True):
    """`upstream` and `downstream` by column."""

    main: ClassVar[str] = "columns"
    columns: list[ReachedColumn]
    edges: list[EdgeRow]
    edges_left_out: int
    jobs: list[FlaggedJob]


class TableWalkAnswer(Answer, frozen=True, kw_only=True):
    """`upstream` and `downstream` by table. `columns` is always empty."""

    main: ClassVar[str] = "datasets"
    grain: Literal["table"] = "table"
    columns: list[ReachedColumn] = msgspec.field(default_factory=list)
    datasets: list[ReachedDataset]
    edges: list[TableEdge]


class JobWalkAnswer(Answer, frozen=True, kw_only=True):
    """`upstream` and `downstream` by job. `columns` is always empty."""

    main: ClassVar[str] = "jobs"
    grain: Literal["job"] = "job"
    columns: list[ReachedColumn] = msgspec.field(default_factory=list)
    jobs: list[ReachedJob]
    edges: list[JobEdge]


class FindAnswer(Answer, frozen=True, kw_only=True):
    """`find`: columns by name, best match first, and the tables and jobs with such names."""

    question: str = "find"
    rows: list[FoundColumn]
    tables: list[ListedDataset]
    jobs: list[JobRow]


class ColumnsAnswer(Answer, frozen=True, kw_only=True):
    """`columns`: the roots, the leaves or the most connected columns of the graph."""

    question: str = "columns"
    rows: list[ColumnRow]


class PathsAnswer(Answer, frozen=True, kw_only=True):
    """`paths`: how two columns are connected, shortest path first."""

    main: ClassVar[str] = "paths"
    question: str = "paths"
    paths: list[PathRow]


class ImpactAnswer(Answer, frozen=True, kw_only=True):
    """`impact`: what a change of columns affects, nearest first."""

    main: ClassVar[str] = "columns"
    question: str = "impact"
    change: str
    changes: list[SchemaChange]
    columns: list[ImpactRow]
    datasets: list[ReachedDataset]
    jobs: list[ImpactedJob]
    readers: list[Reader]
    edges: list[EdgeRow]


class ImpactTablesAnswer(ImpactAnswer, frozen=True, kw_only=True):
    """`impact` by table. `columns` and `edges` are empty."""

    main: ClassVar[str] = "datasets"
    grain: Literal["table"] = "table"


class ImpactJobsAnswer(ImpactAnswer, frozen=True, kw_only=True):
    """`impact` by job. `columns` and `edges` are empty."""

    main: ClassVar[str] = "jobs"
    grain: Literal["job"] = "job"


class PiiAnswer(Answer, frozen=True, kw_only=True):
    """`pii`: every column that personal data reaches, violations first."""

    main: ClassVar[str] = "landings"
    question: str = "pii"
    landings: list[Landing]
    exits: list[ExitRow]
    violations: int
    columns: list[ColumnRow]
    edges: list[EdgeRow]


class PiiTablesAnswer(PiiAnswer, frozen=True, kw_only=True):
    """`pii` by table: each table that personal data reaches. `landings`, `columns` and `edges` are empty."""

    main: ClassVar[str] = "tables"
    grain: Literal["table"] = "table"
    tables: list[ExitRow]


class DroppableAnswer(Answer, frozen=True, kw_only=True):
    """`droppable`: whether columns can be dropped, and what the verdict is based on."""

    question: str = "droppable"
    evidence: Evidence
    rows: list[DroppableRow]


class DroppableTablesAnswer(Answer, frozen=True, kw_only=True):
    """`droppable` by table."""

    question: str = "droppable"
    grain: Literal["table"] = "table"
    evidence: Evidence
    rows: list[DroppableTable]


class UnusedTablesAnswer(Answer, frozen=True, kw_only=True):
    """`unused` by table."""

    question: str = "unused"
    grain: Literal["table"] = "table"
    evidence: Evidence
    rows: list[UnusedTable]


class UnusedAnswer(Answer, frozen=True, kw_only=True):
    """`unused`: columns without a live reader, and what the verdict is based on."""

    question: str = "unused"
    evidence: Evidence
    rows: list[UnusedRow]


class WritersAnswer(Answer, frozen=True, kw_only=True):
    """`writers`: the jobs that write columns, and how each defines them."""

    question: str = "writers"
    rows: list[WriterRow]


class CompareAnswer(Answer, frozen=True, kw_only=True):
    """`compare`: what two columns share and where their lineage diverges. `common` repeats `rows`."""

    main: ClassVar[str] = "divergences"
    question: str = "compare"
    divergences: list[Divergence]
    rows: list[SharedColumn]
    common: list[SharedColumn]
    only_a: list[ColumnRow]
    only_b: list[ColumnRow]


class DiffAnswer(Answer, frozen=True, kw_only=True, rename={"from_": "from"}):
    """`diff`: what changed between two times, jobs or lakes. `rows` has the three lists in one."""

    question: str = "diff"
    from_: str
    to: str
    added: list[DatasetChange | ColumnChange | EdgeChange]
    removed: list[DatasetChange | ColumnChange | EdgeChange]
    changed: list[EdgeRevision]
    rows: list[Row]


class CoverageAnswer(Answer, frozen=True, kw_only=True):
    """`coverage`: where lineage is missing. `by` counts the gaps by kind, job, layer and owner."""

    question: str = "coverage"
    rows: list[CoverageGap]
    by: dict[str, dict[str, int]]


class OverviewAnswer(Answer, frozen=True, kw_only=True):
    """`overview`: layers and flows, recent changes, example columns, and the health of the lake."""

    main: ClassVar[str] = "layers"
    question: str = "overview"
    layers: list[LayerRow]
    flows: list[LayerFlow]
    recent: list[RecentChange]
    examples: list[ColumnRow]
    health: LakeHealth


class TableCard(Answer, frozen=True, kw_only=True):
    """`show` of a table: columns, neighbours, writers, readers and the history of its schema."""

    main: ClassVar[str] = "columns"
    question: str = "show"
    kind: Literal["table"] = "table"
    table: DescribedDataset
    columns: list[SchemaColumn]
    upstream: list[NeighbourDataset]
    downstream: list[NeighbourDataset]
    writers: list[JobRow]
    readers: list[ReadingJob]
    schemas: list[SchemaVersion]


class JobCard(Answer, frozen=True, kw_only=True):
    """`show` of a job: its code, inputs, outputs and last runs."""

    main: ClassVar[str] = "runs"
    question: str = "show"
    kind: Literal["job"] = "job"
    job: DescribedJob
    inputs: list[ListedDataset]
    outputs: list[ListedDataset]
    runs: list[RunRow]


class TablesAnswer(Answer, frozen=True, kw_only=True):
    """`tables`: tables, files, topics and other datasets by name."""

    question: str = "tables"
    rows: list[ListedDataset]


class JobsAnswer(Answer, frozen=True, kw_only=True):
    """`jobs`: jobs, last started first."""

    question: str = "jobs"
    rows: list[JobRow]


class RunsAnswer(Answer, frozen=True, kw_only=True):
    """`runs`: runs, last started first."""

    question: str = "runs"
    rows: list[RunRow]


class QuarantineAnswer(Answer, frozen=True, kw_only=True):
    """`quarantine`: lines that could not be ingested, newest first."""

    question: str = "quarantine"
    rows: list[QuarantineRow]
