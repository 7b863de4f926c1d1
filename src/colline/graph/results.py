"""The result type of every question. `main` names the field whose rows answer the question."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from colline.graph import rows as row
from colline.graph.answer import Answer


class WalkAnswer(Answer, frozen=True, kw_only=True):
    """`upstream` and `downstream` by column."""

    main: ClassVar[str] = "columns"
    columns: list[row.ReachedColumn]
    edges: list[row.EdgeRow]
    edges_left_out: int
    jobs: list[row.FlaggedJob]


class TableWalkAnswer(Answer, frozen=True, kw_only=True):
    """`upstream` and `downstream` by table. `columns` is always empty."""

    main: ClassVar[str] = "datasets"
    grain: Literal["table"] = "table"
    columns: list[row.ReachedColumn] = msgspec.field(default_factory=list)
    datasets: list[row.ReachedDataset]
    edges: list[row.TableEdge]


class JobWalkAnswer(Answer, frozen=True, kw_only=True):
    """`upstream` and `downstream` by job. `columns` is always empty."""

    main: ClassVar[str] = "jobs"
    grain: Literal["job"] = "job"
    columns: list[row.ReachedColumn] = msgspec.field(default_factory=list)
    jobs: list[row.ReachedJob]
    edges: list[row.JobEdge]


class FindAnswer(Answer, frozen=True, kw_only=True):
    """`find`: columns by name, best match first, and the tables and jobs with such names."""

    question: str = "find"
    rows: list[row.FoundColumn]
    tables: list[row.ListedDataset]
    jobs: list[row.JobRow]


class ColumnsAnswer(Answer, frozen=True, kw_only=True):
    """`columns`: the roots, the leaves or the most connected columns of the graph."""

    question: str = "columns"
    rows: list[row.ColumnRow]


class PathsAnswer(Answer, frozen=True, kw_only=True):
    """`paths`: how two columns are connected, shortest path first."""

    main: ClassVar[str] = "paths"
    question: str = "paths"
    paths: list[row.PathRow]


class ImpactAnswer(Answer, frozen=True, kw_only=True):
    """`impact`: what a change of columns affects, nearest first."""

    main: ClassVar[str] = "columns"
    question: str = "impact"
    change: str
    changes: list[row.SchemaChange]
    columns: list[row.ImpactRow]
    datasets: list[row.ReachedDataset]
    jobs: list[row.ImpactedJob]
    readers: list[row.Reader]
    edges: list[row.EdgeRow]


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
    landings: list[row.Landing]
    exits: list[row.ExitRow]
    violations: int
    columns: list[row.ColumnRow]
    edges: list[row.EdgeRow]


class PiiTablesAnswer(PiiAnswer, frozen=True, kw_only=True):
    """`pii` by table: each table that personal data reaches. `landings`, `columns` and `edges` are empty."""

    main: ClassVar[str] = "tables"
    grain: Literal["table"] = "table"
    tables: list[row.ExitRow]


class DroppableAnswer(Answer, frozen=True, kw_only=True):
    """`droppable`: whether columns can be dropped, and what the verdict is based on."""

    question: str = "droppable"
    evidence: row.Evidence
    rows: list[row.DroppableRow]


class DroppableTablesAnswer(Answer, frozen=True, kw_only=True):
    """`droppable` by table."""

    question: str = "droppable"
    grain: Literal["table"] = "table"
    evidence: row.Evidence
    rows: list[row.DroppableTable]


class UnusedTablesAnswer(Answer, frozen=True, kw_only=True):
    """`unused` by table."""

    question: str = "unused"
    grain: Literal["table"] = "table"
    evidence: row.Evidence
    rows: list[row.UnusedTable]


class UnusedAnswer(Answer, frozen=True, kw_only=True):
    """`unused`: columns without a live reader, and what the verdict is based on."""

    question: str = "unused"
    evidence: row.Evidence
    rows: list[row.UnusedRow]


class WritersAnswer(Answer, frozen=True, kw_only=True):
    """`writers`: the jobs that write columns, and how each defines them."""

    question: str = "writers"
    rows: list[row.WriterRow]


class CompareAnswer(Answer, frozen=True, kw_only=True):
    """`compare`: what two columns share and where their lineage diverges. `common` repeats `rows`."""

    main: ClassVar[str] = "divergences"
    question: str = "compare"
    divergences: list[row.Divergence]
    rows: list[row.SharedColumn]
    common: list[row.SharedColumn]
    only_a: list[row.ColumnRow]
    only_b: list[row.ColumnRow]


class DiffAnswer(Answer, frozen=True, kw_only=True, rename={"from_": "from"}):
    """`diff`: what changed between two times, jobs or lakes. `rows` has the three lists in one."""

    question: str = "diff"
    from_: str
    to: str
    added: list[row.DatasetChange | row.ColumnChange | row.EdgeChange]
    removed: list[row.DatasetChange | row.ColumnChange | row.EdgeChange]
    changed: list[row.EdgeRevision]
    rows: list[row.Row]


class CoverageAnswer(Answer, frozen=True, kw_only=True):
    """`coverage`: where lineage is missing. `by` counts the gaps by kind, job, layer and owner."""

    question: str = "coverage"
    rows: list[row.CoverageGap]
    by: dict[str, dict[str, int]]


class OverviewAnswer(Answer, frozen=True, kw_only=True):
    """`overview`: layers and flows, recent changes, example columns, and the health of the lake."""

    main: ClassVar[str] = "layers"
    question: str = "overview"
    layers: list[row.LayerRow]
    flows: list[row.LayerFlow]
    recent: list[row.RecentChange]
    examples: list[row.ColumnRow]
    health: row.LakeHealth


class TableCard(Answer, frozen=True, kw_only=True):
    """`show` of a table: columns, neighbours, writers, readers and the history of its schema."""

    main: ClassVar[str] = "columns"
    question: str = "show"
    kind: Literal["table"] = "table"
    table: row.DescribedDataset
    columns: list[row.SchemaColumn]
    upstream: list[row.NeighbourDataset]
    downstream: list[row.NeighbourDataset]
    writers: list[row.JobRow]
    readers: list[row.ReadingJob]
    schemas: list[row.SchemaVersion]


class JobCard(Answer, frozen=True, kw_only=True):
    """`show` of a job: its code, inputs, outputs and last runs."""

    main: ClassVar[str] = "runs"
    question: str = "show"
    kind: Literal["job"] = "job"
    job: row.DescribedJob
    inputs: list[row.ListedDataset]
    outputs: list[row.ListedDataset]
    runs: list[row.RunRow]


class TablesAnswer(Answer, frozen=True, kw_only=True):
    """`tables`: tables, files, topics and other datasets by name."""

    question: str = "tables"
    rows: list[row.ListedDataset]


class JobsAnswer(Answer, frozen=True, kw_only=True):
    """`jobs`: jobs, last started first."""

    question: str = "jobs"
    rows: list[row.JobRow]


class RunsAnswer(Answer, frozen=True, kw_only=True):
    """`runs`: runs, last started first."""

    question: str = "runs"
    rows: list[row.RunRow]


class QuarantineAnswer(Answer, frozen=True, kw_only=True):
    """`quarantine`: lines that could not be ingested, newest first."""

    question: str = "quarantine"
    rows: list[row.QuarantineRow]
