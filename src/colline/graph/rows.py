"""The rows of answers. Each class lists its keys in the order of the JSON.

A class that adds keys to another one is built from its rows: `SchemaColumn.extend(column, ordinal=1)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import astuple

if TYPE_CHECKING:
    from typing_extensions import Self

Relation = Literal["direct", "indirect"]
PiiVerdict = Literal["clear", "masked", "indirect"]
DropVerdict = Literal["yes", "no", "unknown"]
Confidence = Literal["high", "medium", "low", "unknown"]


class Row(msgspec.Struct, frozen=True, gc=False):
    """A value with named fields that is also read by its JSON keys: `row["label"]`, `dict(row)`."""

    @classmethod
    def extend(cls, row: Row, **values: object) -> Self:
        """The values of another row, with further values."""
        construct: Callable[..., Self] = cls
        return construct(*astuple(row), **values)

    def keys(self) -> tuple[str, ...]:
        """The JSON keys."""
        tag = self.__struct_config__.tag_field
        return (tag, *self.__struct_encode_fields__) if tag else self.__struct_encode_fields__

    def __getitem__(self, key: str) -> object:
        if key not in self.keys():
            raise KeyError(key)
        if key == self.__struct_config__.tag_field:
            return self.__struct_config__.tag
        return getattr(self, self.__struct_fields__[self.__struct_encode_fields__.index(key)])


class Unknown(Row, frozen=True):
    """Something the answer cannot know, and why."""

    what: str
    why: str
    count: int = 1


class ColumnIdentity(Row, frozen=True):
    """The identity of a column. `label` is its short name."""

    id: int
    namespace: str
    name: str
    field: str
    label: str


class ColumnRow(ColumnIdentity, frozen=True):
    """A column with its type, tags and layer. `up` and `down` count its direct neighbours."""

    type: str | None
    tags: list[str]
    layer: str | None
    up: int
    down: int


class CountedColumn(ColumnRow, frozen=True):
    """A column that also has the number of columns that decide it (filter, join, …), and that it decides."""

    up_conditions: int
    down_conditions: int


class FoundColumn(CountedColumn, frozen=True):
    """A search result. `match` is how the name matched: exact, suffix, prefix, part, dataset or fuzzy."""

    match: str


class SchemaColumn(CountedColumn, frozen=True):
    """A column with its position in the schema of its table, and its description."""

    ordinal: int
    description: str | None


class ReachedColumn(ColumnRow, frozen=True):
    """A column at some distance. `masked`: every path to it passes a masking step."""

    distance: int
    relation: Relation
    masked: bool


class ImpactRow(ReachedColumn, frozen=True):
    """An affected column. `kinds` is how it uses the changed column: value, join, filter, …"""

    kinds: list[str]


class SharedColumn(ColumnRow, frozen=True):
    """A column upstream of both compared columns."""

    distance_a: int
    distance_b: int


class JobIdentity(Row, frozen=True):
    """The identity of a job."""

    namespace: str
    name: str


class JobRow(Row, frozen=True):
    """A job with the times and the outcome of its runs."""

    id: int
    namespace: str
    name: str
    integration: str | None
    owner: str | None
    last_run: str | None
    last_state: str | None
    last_error: str | None
    first_seen: str | None
    last_started: str | None
    last_ended: str | None
    last_success: str | None
    last_failure: str | None
    changed_at: str | None
    runs: int


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


class DescribedJob(JobRow, frozen=True):
    """A job with its description, tags, and code: the SQL text, or the location of the source."""

    description: str | None
    tags: list[str]
    sql: str | None
    location: str | None


class ReadingJob(JobRow, frozen=True):
    """A job that reads a table: for what, how many of its columns, when last, and whether it still does."""

    kind: Literal["write", "query"]
    uses: list[str]
    columns: int
    last_read: str | None
    live: bool


class DatasetRow(Row, frozen=True):
    """A dataset and when it was written and read."""

    id: int
    namespace: str
    name: str
    label: str
    kind: str | None
    layer: str | None
    owner: str | None
    domain: str | None
    tags: list[str]
    symlinks: list[str]
    first_seen: str | None
    last_seen: str | None
    last_written: str | None
    last_read: str | None
    dropped_at: str | None


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


class EdgeRow(Row, frozen=True, rename={"from_": "from"}):
    """An edge between two columns of the answer, by their ids."""

    from_: int
    to: int
    type: Literal["DIRECT", "INDIRECT"]
    subtype: str
    masking: bool
    job: JobIdentity | None
    last_run: str | None
    last_state: str | None
    last_seen: str | None
    first_seen: str | None
    retired_at: str | None
    description: str
    level: Literal["column", "dataset"]
    implied: bool


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


class SchemaVersion(Row, frozen=True):
    """A schema that a table had, and how it differs from the one before."""

    first_seen: str | None
    last_seen: str | None
    columns: int
    added: list[str]
    removed: list[str]
    changed: list[str]


class OutgoingEdge(EdgeRow, frozen=True):
    """An edge with its target column."""

    target: ColumnIdentity


class Divergence(Row, frozen=True):
    """A shared column with the edges that lead to only one of the compared columns."""

    column: ColumnIdentity
    a: list[OutgoingEdge]
    b: list[OutgoingEdge]
    differs: bool


class SchemaChange(Row, frozen=True, rename={"from_": "from"}):
    """A column that a schema change drops, renames or gives another type."""

    dataset: str
    column: str
    change: str
    from_: str | None
    to: str | None


class DatasetIdentity(Row, frozen=True):
    """The identity of a dataset. `label` is its short name."""

    namespace: str
    name: str
    label: str
    layer: str | None


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


class RunRow(Row, frozen=True):
    """A run of a job, with the datasets it read and wrote."""

    run_id: str | None
    job: JobIdentity
    state: str | None
    started: str | None
    ended: str | None
    seconds: float | None = None
    inputs: list[DatasetIdentity] = []
    outputs: list[DatasetIdentity] = []
    last_event: str | None = None
    parent_run: str | None = None
    streaming: bool | None = None
    integration: str | None = None
    owner: str | None = None
    error: str | None = None


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


class DatasetChange(Row, frozen=True, tag_field="kind", tag="dataset"):
    """A dataset that was added or removed."""

    kind: ClassVar[str] = "dataset"
    id: int
    namespace: str
    name: str
    label: str
    dataset_kind: str | None
    layer: str | None
    owner: str | None
    domain: str | None
    tags: list[str]
    symlinks: list[str]
    first_seen: str | None
    last_seen: str | None
    last_written: str | None
    last_read: str | None
    dropped_at: str | None
    change: str = ""


class ColumnChange(ColumnIdentity, frozen=True, tag_field="kind", tag="column"):
    """A column that was added or removed."""

    kind: ClassVar[str] = "column"
    change: str = ""


class EdgeChange(EdgeRow, frozen=True, tag_field="kind", tag="edge"):
    """An edge that was added or removed."""

    kind: ClassVar[str] = "edge"
    source: ColumnIdentity
    target: ColumnIdentity
    change: str = ""


class EdgeRevision(Row, frozen=True, tag_field="kind", tag="edge", rename={"from_": "from"}):
    """An edge between the same columns by the same job whose transformation changed."""

    kind: ClassVar[str] = "edge"
    source: ColumnIdentity
    target: ColumnIdentity
    job: JobIdentity | None
    from_: int
    to: int
    before: EdgeRow
    after: EdgeRow
    change: str = "changed"
