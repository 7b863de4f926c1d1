"""The lineage of a lake in which the columns that files define have the edges of the files."""

from __future__ import annotations

from collections import defaultdict

from colline.contracts.value_paths import ValuePaths
from colline.errors import ColumnError
from colline.graph.lineage import Lineage
from colline.graph.results import WalkAnswer
from colline.graph.rows import ColumnRow, EdgeRow
from colline.review.definition_graph import DefinitionGraph, FileColumn, FileEdge

MAX_COLUMNS = 5000


class CombinedLineage:
    """Answers where values come from, by the files first and the lake otherwise."""

    def __init__(self, lineage: Lineage, graph: DefinitionGraph) -> None:
        self.lineage = lineage
        self.graph = graph
        self._rows: dict[FileColumn, ColumnRow] = {}
        self._edges: dict[FileColumn, list[FileEdge]] = {}

    def value_paths(self, name: str) -> ValuePaths:
        """The paths by which values reach a column, `namespace/name.field` or any unique suffix."""
        origin = self._resolve(name)
        edges: dict[int, list[EdgeRow]] = defaultdict(list)
        columns, waiting, seen = {}, [origin], {origin}
        for column in waiting:
            row = self._row(column)
            columns[row.id] = row
            for edge in self._sources(column):
                if edge.source not in seen and len(waiting) < MAX_COLUMNS:
                    seen.add(edge.source)
                    waiting.append(edge.source)
                if edge.source in seen and edge.source != column:
                    edges[row.id].append(self._edge_row(edge, row.id))
        return ValuePaths(self._row(origin).id, columns, dict(edges), ())

    def _resolve(self, name: str) -> FileColumn:
        for column in self.graph.edges:
            if name in (f"{column.namespace}/{column.name}.{column.field}", column.label):
                return column
        row = self.lineage.upstream(name, depth=1, limit=0).of[0]
        return FileColumn(row.namespace, row.name, row.field)

    def _sources(self, column: FileColumn) -> list[FileEdge]:
        if column not in self._edges:
            defined = self.graph.edges.get(column)
            found = self._lake_sources(column) if defined is None else sorted(defined)
            self._edges[column] = [edge for edge in found if edge.type == "DIRECT"]
        return self._edges[column]

    def _lake_sources(self, column: FileColumn) -> list[FileEdge]:
        try:
            answer = self.lineage.upstream(f"{column.namespace}/{column.name}.{column.field}", depth=1, limit=0)
        except ColumnError:
            return []
        assert isinstance(answer, WalkAnswer)
        rows = {row.id: row for row in answer.columns}
        for row in rows.values():
            self._remember(FileColumn(row.namespace, row.name, row.field), row)
        return [
            FileEdge(_column(rows[edge.from_]), edge.type, edge.subtype, edge.masking, edge.description)
            for edge in answer.edges
            if edge.from_ in rows and edge.to == answer.of[0].id
        ]

    def _remember(self, column: FileColumn, row: ColumnRow) -> None:
        """Rows get numbers of their own: columns of files are not in the lake."""
        if column not in self._rows:
            self._rows[column] = ColumnRow(
                len(self._rows), row.namespace, row.name, row.field, row.label, row.type, row.tags, row.layer, 0, 0
            )

    def _row(self, column: FileColumn) -> ColumnRow:
        if column not in self._rows:
            self._remember(column, self._lake_row(column))
        return self._rows[column]

    def _lake_row(self, column: FileColumn) -> ColumnRow:
        try:
            card = self.lineage.show(column.name, kind="table", namespace=column.namespace)
        except ColumnError:
            card = None
        for row in getattr(card, "columns", ()):
            if row.field.lower() == column.field.lower():
                return ColumnRow(*(getattr(row, name) for name in ColumnRow.__struct_fields__))
        return ColumnRow(0, column.namespace, column.name, column.field, column.label, None, [], None, 0, 0)

    def _edge_row(self, edge: FileEdge, target: int) -> EdgeRow:
        return EdgeRow(
            self._row(edge.source).id, target, "DIRECT", edge.subtype, edge.masking, None, None, None, None, None, None,
            edge.expression, "column", False,
        )  # fmt: skip


def _column(row: ColumnRow) -> FileColumn:
    return FileColumn(row.namespace, row.name, row.field)
