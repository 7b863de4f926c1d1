"""The tables that a lake knows: what the names in files refer to, and the columns behind `select *`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from colline.sql_lineage.table_schema import TableParts
from colline.trace import DatasetName

if TYPE_CHECKING:
    from colline.graph import Lineage


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A dataset of the lake. `is_written`: a job writes it, so that its name is one that other producers use."""

    name: DatasetName
    columns: tuple[str, ...] = ()
    is_written: bool = False


class KnownTables(Protocol):
    """Finds datasets of a lake by name."""

    def find_exact(self, name: DatasetName) -> KnownTable | None:
        """The dataset with this name."""

    def find_by_ending(self, parts: TableParts) -> list[KnownTable]:
        """The datasets with a name that ends with these parts."""

    def datasets_in(self, namespace: str) -> list[DatasetName]:
        """The datasets of a namespace that were not dropped."""


class NoTables:
    """A lake that is empty."""

    def find_exact(self, name: DatasetName) -> KnownTable | None:
        """None, because the lake is empty."""

    def find_by_ending(self, parts: TableParts) -> list[KnownTable]:
        """An empty list."""
        del parts
        return []

    def datasets_in(self, namespace: str) -> list[DatasetName]:
        """An empty list."""
        del namespace
        return []


class FixedTableList:
    """Tables in memory, for tests."""

    def __init__(self, tables: Iterable[KnownTable]) -> None:
        self._tables = list(tables)

    def find_exact(self, name: DatasetName) -> KnownTable | None:
        """The table with this name."""
        return next((table for table in self._tables if table.name == name), None)

    def find_by_ending(self, parts: TableParts) -> list[KnownTable]:
        """The tables with a name that ends with these parts."""
        ending = [part.lower() for part in parts]
        names = ((table, table.name.name.lower().replace("/", ".").split(".")) for table in self._tables)
        return [table for table, segments in names if segments[-len(ending) :] == ending]

    def datasets_in(self, namespace: str) -> list[DatasetName]:
        """The tables of a namespace."""
        return [table.name for table in self._tables if table.name.namespace == namespace]


class LakeTableList:
    """The datasets of a lake, read from its snapshot."""

    def __init__(self, lake: Lineage) -> None:
        self._view = lake.view()
        self._known = lru_cache(maxsize=None)(self._read)

    def find_exact(self, name: DatasetName) -> KnownTable | None:
        """The dataset with this name."""
        names = self._view.names
        for place in names.datasets(_segments(f"{name.namespace}/{name.name}")).tolist():
            if (names.spaces[place], names.paths[place]) == (name.namespace, name.name):
                return self._known(place)
        return None

    def find_by_ending(self, parts: TableParts) -> list[KnownTable]:
        """The datasets with a name or symlink that ends with these parts."""
        wanted = [segment for part in parts for segment in _segments(part)]
        places = self._view.names.datasets(wanted).tolist() if wanted else []
        return [self._known(place) for place in places]

    def datasets_in(self, namespace: str) -> list[DatasetName]:
        """The datasets of a namespace that were not dropped."""
        names = self._view.names
        places = (place for place in range(len(names.spaces)) if names.spaces[place] == namespace)
        existing = (place for place in places if self._view.time_of("dataset.until", place) is None)
        return [DatasetName(namespace, names.paths[place]) for place in existing]

    def _read(self, place: int) -> KnownTable:
        view = self._view
        columns = tuple(view.names.field(int(node)) for node in view.names.dataset_columns(place))
        name = DatasetName(view.names.spaces[place], view.names.paths[place])
        return KnownTable(name, columns, view.time_of("dataset.last_written", place) is not None)


def _segments(text: str) -> list[str]:
    from colline.graph.traversal.typed_name import segments

    return segments(text)
