"""What files define, as frozen values: datasets with descriptions, and jobs with the lineage of their outputs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from colline.naming.dataset import DatasetKind, Symlink
from colline.trace import ColumnLineage, ColumnRead, DatasetName, OpaqueStep


@dataclass(frozen=True, slots=True)
class DefinedColumn:
    """A column with what people wrote about it."""

    name: str
    type: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DefinedDataset:
    """A dataset with what people wrote about it."""

    name: DatasetName
    kind: DatasetKind | None = None
    columns: tuple[DefinedColumn, ...] = ()
    description: str = ""
    owners: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    symlinks: tuple[Symlink, ...] = ()


@dataclass(frozen=True, slots=True)
class DefinedOutput:
    """A dataset that a job writes. Without lineage, it is only described; `is_dropped`: it no longer exists."""

    dataset: DefinedDataset
    lineage: ColumnLineage | None = None
    is_dropped: bool = False


@dataclass(frozen=True, slots=True)
class DefinedInput:
    """A dataset that a job reads, with the columns it reads if its outputs do not show them."""

    dataset: DefinedDataset
    reads: tuple[ColumnRead, ...] = ()


@dataclass(frozen=True, slots=True)
class DefinedJob:
    """A job: a semantic model, a report, a dbt model, a script, a procedure.

    `seen_at` and `run_key` are those of a run that another system recorded; by default the import is the run.
    """

    namespace: str
    name: str
    integration: str
    job_type: str
    outputs: tuple[DefinedOutput, ...] = ()
    inputs: tuple[DefinedInput, ...] = ()
    opaque: tuple[OpaqueStep, ...] = ()
    sql: str = ""
    dialect: str = ""
    description: str = ""
    owners: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str = ""
    seen_at: datetime | None = None
    run_key: str = ""


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """Something in a file that could not be read, or a reference that could not be resolved."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}" if self.file else self.message


@dataclass(frozen=True)
class Definitions:
    """Everything that one format found below a path."""

    jobs: tuple[DefinedJob, ...] = ()
    datasets: tuple[DefinedDataset, ...] = ()
    problems: tuple[ImportProblem, ...] = ()
    files: int = 0


def combine_definitions(parts: Iterable[Definitions]) -> Definitions:
    """All definitions together."""
    found = list(parts)
    return Definitions(
        tuple(job for part in found for job in part.jobs),
        tuple(dataset for part in found for dataset in part.datasets),
        tuple(dict.fromkeys(problem for part in found for problem in part.problems)),
        sum(part.files for part in found),
    )


@dataclass
class ProblemList:
    """Collects problems while files are read; the same problem counts once."""

    problems: dict[ImportProblem, None] = field(default_factory=dict)

    def add(self, file: str, line: int, message: str) -> None:
        """Add a problem."""
        self.problems.setdefault(ImportProblem(file, line, message))
