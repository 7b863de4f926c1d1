"""The lineage that the files of a repository define, column by column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from colline.importers.definitions import Definitions
from colline.trace import DatasetName, Dependency

ALL_ROWS = "*"


@dataclass(frozen=True, slots=True, order=True)
class FileColumn:
    """A column, by the OpenLineage name of its dataset. The field `*` is the set of rows."""

    namespace: str
    name: str
    field: str

    @property
    def dataset(self) -> DatasetName:
        """The name of its dataset."""
        return DatasetName(self.namespace, self.name)

    @property
    def label(self) -> str:
        """The column with the last parts of the name of its dataset."""
        parts = self.name.strip("/").replace("/", ".").split(".")
        return ".".join([*parts[-2:], self.field])


@dataclass(frozen=True, slots=True, order=True)
class FileEdge:
    """One dependency of a column."""

    source: FileColumn
    type: str
    subtype: str
    masking: bool
    expression: str

    @property
    def text(self) -> str:
        """The edge for people: `silver.orders.amount (sum(amount))`."""
        return f"{self.source.label} ({self.expression or self.subtype.lower()}{', masked' if self.masking else ''})"


@dataclass(frozen=True)
class DefinitionGraph:
    """The edges into each column that the files define, and the tables they define."""

    edges: Mapping[FileColumn, frozenset[FileEdge]] = field(default_factory=dict)
    tables: frozenset[DatasetName] = frozenset()

    def columns_of(self, table: DatasetName) -> set[FileColumn]:
        """The columns of a table."""
        return {column for column in self.edges if column.dataset == table}


def definition_graph(definitions: Definitions) -> DefinitionGraph:
    """The graph of all jobs. A column that several jobs write has the edges of all."""
    edges: dict[FileColumn, set[FileEdge]] = {}
    tables: set[DatasetName] = set()
    for output in (output for job in definitions.jobs for output in job.outputs):
        if output.lineage is None or output.is_dropped:
            continue
        name = output.dataset.name
        tables.add(name)
        for column, entries in (*output.lineage.fields.items(), (ALL_ROWS, output.lineage.dataset)):
            found = edges.setdefault(FileColumn(name.namespace, name.name, column), set())
            found.update(edge for entry in entries for edge in _file_edges(entry))
    return DefinitionGraph({column: frozenset(found) for column, found in edges.items()}, frozenset(tables))


def _file_edges(entry: Dependency) -> list[FileEdge]:
    dataset = entry.column.dataset
    source = FileColumn(dataset.namespace, dataset.name, entry.column.field)
    return [
        FileEdge(source, each.effect.type, each.effect.subtype, each.masking, each.description)
        for each in entry.transformations
    ]
