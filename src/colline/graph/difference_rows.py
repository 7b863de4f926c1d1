"""The rows of comparisons: of two columns, two times, two jobs, two lakes, and of schemas."""

from __future__ import annotations

from typing import ClassVar

from colline.graph.rows import ColumnIdentity, ColumnRow, EdgeRow, JobIdentity, Row


class SharedColumn(ColumnRow, frozen=True):
    """A column upstream of both compared columns."""

    distance_a: int
    distance_b: int


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
