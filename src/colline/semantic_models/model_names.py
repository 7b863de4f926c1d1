"""What the names in a model's expressions refer to: tables, columns, measures, and the relationships between tables."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator

from colline.semantic_models.semantic_model import (
    Hierarchy,
    Measure,
    ModelColumn,
    ModelTable,
    Relationship,
    SemanticModel,
)
from colline.trace import ColumnRef, DatasetName


class ModelNames:
    """The names of one model. They are compared without case, as in DAX."""

    def __init__(self, model: SemanticModel, namespace: str) -> None:
        self.model = model
        self._namespace = namespace
        self._tables = {table.name.lower(): table for table in model.tables}
        self._fields = {key: dict(self._fields_of(table)) for key, table in self._tables.items()}
        self._measures = {
            measure.name.lower(): self._reference(table, measure.name)
            for table in model.tables
            for measure in table.measures
        }

    def dataset(self, table: str) -> DatasetName:
        """The dataset of a table: `Food Delivery/Sales`."""
        return DatasetName(self._namespace, f"{self.model.name}/{table}")

    def _reference(self, table: ModelTable, field: str) -> ColumnRef:
        return ColumnRef(self.dataset(table.name), field)

    def _fields_of(self, table: ModelTable) -> Iterator[tuple[str, ColumnRef]]:
        fields: tuple[ModelColumn | Measure | Hierarchy, ...] = (*table.columns, *table.measures, *table.hierarchies)
        for field in fields:
            yield field.name.lower(), self._reference(table, field.name)

    def table(self, name: str) -> ModelTable | None:
        """The table with this name."""
        return self._tables.get(name.lower())

    def field(self, table: str, name: str) -> ColumnRef | None:
        """The column or measure of a table."""
        return self._fields.get(table.lower(), {}).get(name.lower())

    def measure(self, name: str) -> ColumnRef | None:
        """The measure with this name; measure names are unique in a model."""
        return self._measures.get(name.lower())

    def is_measure(self, column: ColumnRef) -> bool:
        """Whether a field of the model is a measure."""
        return self._measures.get(column.field.lower()) == column

    def table_of(self, column: ColumnRef) -> str:
        """The table of a field of the model; empty for a column of another dataset."""
        prefix = f"{self.model.name}/"
        is_own = column.dataset.namespace == self._namespace and column.dataset.name.startswith(prefix)
        return column.dataset.name.removeprefix(prefix) if is_own else ""

    def relationship_keys(self, source: str, targets: Iterable[str], used: Collection[Relationship]) -> list[ColumnRef]:
        """The key columns on the shortest paths of relationships from one table to others.

        Inactive relationships count only if the expression uses them; they take the place of the active ones between
        the same two tables.
        """
        before = self._paths_from(source.lower(), used)
        found: dict[ColumnRef, None] = {}
        for target in targets:
            table = target.lower()
            while table in before:
                relationship, table = before[table]
                found.update(dict.fromkeys(self._keys(relationship)))
        return list(found)

    def _paths_from(self, source: str, used: Collection[Relationship]) -> dict[str, tuple[Relationship, str]]:
        """For each table that can be reached: the last relationship on the way, and the table before it."""
        before: dict[str, tuple[Relationship, str]] = {}
        waiting, seen = deque([source]), {source}
        while waiting:
            table = waiting.popleft()
            for relationship, neighbour in self._neighbours(table, used):
                if neighbour not in seen:
                    seen.add(neighbour)
                    before[neighbour] = (relationship, table)
                    waiting.append(neighbour)
        return before

    def _neighbours(self, table: str, used: Collection[Relationship]) -> Iterator[tuple[Relationship, str]]:
        replaced = {frozenset((each.from_table.lower(), each.to_table.lower())) for each in used}
        for each in self.model.relationships:
            ends = (each.from_table.lower(), each.to_table.lower())
            if table in ends and (each in used or (each.is_active and frozenset(ends) not in replaced)):
                yield each, ends[1] if ends[0] == table else ends[0]

    def _keys(self, relationship: Relationship) -> Iterator[ColumnRef]:
        ends = ((relationship.from_table, relationship.from_column), (relationship.to_table, relationship.to_column))
        yield from (key for table, column in ends if (key := self.field(table, column)) is not None)

    def relationship_between(self, one: ColumnRef, other: ColumnRef) -> Relationship | None:
        """The relationship of two key columns, in any direction."""
        for each in self.model.relationships:
            if set(self._keys(each)) == {one, other}:
                return each
        return None
