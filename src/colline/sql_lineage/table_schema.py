"""What the lineage of a query needs to know about tables: their names and columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from colline.trace import DatasetName

TableParts = tuple[str, ...]  # a name as it is written, outermost part first, without quotes


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A table and its columns in their order; without columns if they are not known."""

    name: DatasetName
    columns: tuple[str, ...] = ()


class TableLookup(Protocol):
    """Finds the table that a name in SQL text stands for."""

    def find(self, parts: TableParts) -> TableSchema:
        """The table with this name. A name that is not known becomes a table without columns."""


class FixedTables:
    """Tables in memory, found by any suffix of their names. Other names get the given namespace."""

    def __init__(self, tables: Mapping[TableParts, Iterable[str]], namespace: str = "sql") -> None:
        self._namespace = namespace
        self._tables = {tuple(part.lower() for part in parts): (parts, tuple(tables[parts])) for parts in tables}

    def find(self, parts: TableParts) -> TableSchema:
        """The table whose name ends with these parts."""
        wanted = tuple(part.lower() for part in parts)
        matching = [found for key, found in self._tables.items() if key[-len(wanted) :] == wanted]
        name, columns = matching[0] if len(matching) == 1 else (parts, ())
        return TableSchema(DatasetName(self._namespace, ".".join(name)), columns)
