"""What an event contains in addition to lineage: the run, its parent, its engine, its statistics, its failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from colline.events.lineage_facets import LineageForm
from colline.events.redact import Redaction, as_is
from colline.naming.dataset import NameContext
from colline.trace import DatasetName


@dataclass(frozen=True, slots=True)
class RunName:
    """A run, and the name of its job."""

    namespace: str
    name: str
    run_id: str


@dataclass(frozen=True, slots=True)
class ParentRun:
    """The run that started a run, and the outermost one."""

    run: RunName
    root: RunName | None = None


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine that executes a query."""

    version: str
    name: str = "spark"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run failed."""

    message: str
    stack: str = ""
    language: str = "JAVA"


@dataclass(frozen=True, slots=True)
class WriteStatistics:
    """How much was written to one output, and the version of the table that this created."""

    rows: int | None = None
    size: int | None = None
    files: int | None = None
    version: str = ""


@dataclass(frozen=True)
class EventContext:
    """What is known about a run when it starts, except for its lineage.

    `described_inputs` are the inputs whose schema, storage and catalog an earlier event of the application contains.
    Events do not repeat these, only symlinks and versions. `recorded_plan` is a plan that ingest has to analyze.
    """

    run: RunName
    names: NameContext = field(default_factory=NameContext)
    parent: ParentRun | None = None
    engine: Engine | None = None
    processing: str = "BATCH"
    job_type: str = "SQL_JOB"
    sql: str = ""
    job_tags: Mapping[str, str] = field(default_factory=dict)
    run_tags: Mapping[str, str] = field(default_factory=dict)
    form: LineageForm = LineageForm.COMPACT
    definition: str = ""
    described_inputs: frozenset[DatasetName] = frozenset()
    properties: Mapping[str, str] = field(default_factory=dict)
    recorded_plan: str = ""
    redact: Callable[[str], str] = as_is
    redact_sql: Callable[[str], str] = as_is

    @property
    def redaction(self) -> Redaction:
        """The redaction of names and of SQL text; secrets are removed from both."""
        return Redaction(self.redact, lambda text: self.redact(self.redact_sql(text)))


@dataclass(frozen=True)
class RunResult:
    """What is known about a run only after it has started: statistics, failure, delivery counters."""

    written: Mapping[DatasetName, WriteStatistics] = field(default_factory=dict)
    failure: Failure | None = None
    delivery: Mapping[str, int] | None = None
