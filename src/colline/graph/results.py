"""The result type of every question. `main` names the field whose rows answer the question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec

from colline.graph import rows as row
from colline.graph.rows import ColumnRef, Row, Unknown

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Json = dict[str, object]
Totals = Mapping[str, int | bool | dict[str, int]]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one question; each question has a subclass with its rows (`colline.graph.results`)."""

    main: ClassVar[str] = "rows"
    question: str
    of: tuple[ColumnRef, ...] = ()
    as_of: str
    verdict: str
    totals: Totals = {}
    unknown: tuple[Unknown, ...] = ()
    left_out: int = 0
    cursor: str | None = None
    snapshot: str
    holds: bool = True  # False: the verdict is a "no" or a violation, and the command exits with 1; not in the JSON

    @classmethod
    def json_fields(cls) -> dict[str, str]:
        """The JSON keys in their order, each with the name of its attribute: the verdict first, then the rows."""
        keys = dict(zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True))
        own = [name for name in keys if name not in Answer.__struct_fields__]
        return {keys[name]: name for name in (*_BEFORE_ROWS, *own, *_AFTER_ROWS)}

    def _json(self) -> Json:
        return {key: getattr(self, name) for key, name in self.json_fields().items()}

    def to_dict(self) -> Json:
        """The answer as plain JSON types, equal to the output of `--json` and of the REST API."""
        plain: Json = msgspec.to_builtins(self._json())
        return plain

    def to_json(self) -> bytes:
        """The JSON of `to_dict()`."""
        return msgspec.json.encode(self._json())

    @property
    def main_rows(self) -> list[Row]:
        """The rows that answer the question."""
        rows: list[Row] = getattr(self, self.main)
        return rows

    def flat_rows(self) -> list[Json]:
        """The rows as flat dicts: the name of a row's job is `job.name`. Lists stay lists."""
        return [_flatten(msgspec.to_builtins(row)) for row in self.main_rows]

    def to_pandas(self) -> pd.DataFrame:
        """The flat rows as a pandas DataFrame."""
        import pandas as pd

        frame: pd.DataFrame = pd.DataFrame(self.flat_rows())
        return frame

    def to_arrow(self) -> pa.Table:
        """The flat rows as an Arrow table."""
        import pyarrow as pa

        return pa.Table.from_pylist(self.flat_rows())

    def __str__(self) -> str:
        from colline.graph.render.text import to_text

        return to_text(self)  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        from colline.graph.render.text import to_html

        return to_html(self)  # type: ignore[arg-type]


_BEFORE_ROWS = ("question", "of", "as_of", "verdict", "totals")
_AFTER_ROWS = ("unknown", "left_out", "cursor", "snapshot")


def _flatten(row: Json, prefix: str = "") -> Json:
    out: Json = {}
    for key, value in row.items():
        if isinstance(value, dict):
            out |= _flatten(value, f"{prefix}{key}.")
        else:
            out[prefix + key] = value
    return out


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
    """`find`: columns by name, best match first."""

    question: str = "find"
    rows: list[row.FoundColumn]


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


class PiiAnswer(Answer, frozen=True, kw_only=True):
    """`pii`: every column that personal data reaches, violations first."""

    main: ClassVar[str] = "landings"
    question: str = "pii"
    landings: list[row.Landing]
    exits: list[row.ExitRow]
    violations: int
    columns: list[row.ColumnRow]
    edges: list[row.EdgeRow]


class DroppableAnswer(Answer, frozen=True, kw_only=True):
    """`droppable`: whether columns can be dropped."""

    question: str = "droppable"
    rows: list[row.DroppableRow]


class UnusedAnswer(Answer, frozen=True, kw_only=True):
    """`unused`: columns without a live reader."""

    question: str = "unused"
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


class DatasetAnswer(Answer, frozen=True, kw_only=True):
    """`dataset`: one dataset with its columns, neighbours and jobs."""

    main: ClassVar[str] = "columns"
    question: str = "dataset"
    dataset: row.DatasetRow
    columns: list[row.SchemaColumn]
    upstream: list[row.DatasetRow]
    downstream: list[row.DatasetRow]
    jobs: list[row.JobRow]


class DatasetsAnswer(Answer, frozen=True, kw_only=True):
    """`datasets`: datasets by name."""

    question: str = "datasets"
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
