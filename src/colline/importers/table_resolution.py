"""Resolves the names in files: the dataset of the lake that a table name or an address stands for.

The lake decides. A name that it does not have becomes a dataset of its own; a name that fits several datasets is
reported with the candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field

from colline.importers.known_tables import KnownTable, KnownTables
from colline.semantic_models.source_address import SourceAddress
from colline.sql_lineage.table_schema import TableParts, TableSchema
from colline.trace import DatasetName

# schemas that a database uses when none is written; other systems often leave them out
_DEFAULT_SCHEMAS = frozenset(("dbo", "public", "default", "main"))
_MAX_CANDIDATES = 5


@dataclass
class Resolutions:
    """How names were resolved, for the summary of an import."""

    matched: dict[str, DatasetName] = field(default_factory=dict)  # by a name that is not the dataset's own
    unknown: dict[str, None] = field(default_factory=dict)
    ambiguous: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def update(self, other: Resolutions) -> None:
        """Add the names of another format."""
        self.matched.update(other.matched)
        self.unknown.update(other.unknown)
        self.ambiguous.update(other.ambiguous)


class TableResolver:
    """Finds the dataset of a table name. `own_namespaces` are those of imported models, which no source can be."""

    def __init__(self, tables: KnownTables, namespace: str, own_namespaces: frozenset[str] = frozenset()) -> None:
        self.resolutions = Resolutions()
        self._tables = tables
        self._namespace = namespace
        self._own = own_namespaces
        self._defined: dict[DatasetName, tuple[str, ...]] = {}
        self._defined_by_end: dict[str, list[DatasetName]] = {}  # by the last part of the name
        self._found: dict[SourceAddress, TableSchema] = {}

    def in_namespace(self, namespace: str) -> TableResolver:
        """The same tables, with another namespace for those that the lake does not know."""
        other = copy(self)
        other._namespace = namespace
        return other

    def define(self, name: DatasetName, columns: tuple[str, ...], *, is_own: bool = True) -> None:
        """Add a table whose columns the imported files know; `is_own`: they create it, too."""
        if is_own:
            self.resolutions.unknown.pop(name.name, None)
        if name not in self._defined:
            self._defined_by_end.setdefault(name.name.lower().rsplit(".", 1)[-1], []).append(name)
        self._defined[name] = columns
        self._found.clear()

    def find(self, parts: TableParts) -> TableSchema:
        """The table with this name in SQL text."""
        return self.find_source(SourceAddress(DatasetName(self._namespace, ".".join(parts)), parts))

    def find_source(self, address: SourceAddress) -> TableSchema:
        """The dataset at an address."""
        if address not in self._found:
            self._found[address] = self._resolve(address)
        return self._found[address]

    def _resolve(self, address: SourceAddress) -> TableSchema:
        defined = self._defined_table(address)
        if defined is not None:
            return defined
        exact = self._tables.find_exact(address.name)
        if exact is not None and exact.is_written:
            return TableSchema(exact.name, exact.columns)
        label = address.name.name
        for parts in _candidates(address.parts):
            found = [each for each in self._tables.find_by_ending(parts) if self._can_be_source(each, address)]
            if len(found) == 1:
                self.resolutions.matched[label] = found[0].name
                return TableSchema(found[0].name, found[0].columns)
            if found:
                names = sorted(f"{each.name.namespace} {each.name.name}" for each in found)
                self.resolutions.ambiguous[label] = tuple(names[:_MAX_CANDIDATES])
                break
        if exact is None and label not in self.resolutions.ambiguous:
            self.resolutions.unknown[label] = None
        return TableSchema(address.name, exact.columns if exact is not None else ())

    def _can_be_source(self, table: KnownTable, address: SourceAddress) -> bool:
        """Whether it is not of an imported model, and not the name that an earlier import gave to the address."""
        return table.name.namespace not in self._own and (table.name != address.name or table.is_written)

    def _defined_table(self, address: SourceAddress) -> TableSchema | None:
        """A table that the files define: by its whole name, or by a suffix that only one of them has."""
        if address.name in self._defined:
            return TableSchema(address.name, self._defined[address.name])
        wanted = ".".join(address.parts).lower()
        same_end = self._defined_by_end.get(wanted.rsplit(".", 1)[-1], []) if wanted else []
        ending = [name for name in same_end if f".{name.name.lower()}".endswith(f".{wanted}")]
        return TableSchema(ending[0], self._defined[ending[0]]) if len(ending) == 1 else None


def _candidates(parts: TableParts) -> Iterator[TableParts]:
    """The suffixes by which a table may be known, longest first: `shop.gold.orders`, `gold.orders`.

    The table alone is enough only if its schema is a default one, or if no schema is known.
    """
    for start in range(len(parts) - 1):
        yield parts[start:]
    if len(parts) > 2 and parts[-2].lower() in _DEFAULT_SCHEMAS:
        yield (parts[-3], parts[-1])
    if len(parts) == 1 or (parts and parts[-2].lower() in _DEFAULT_SCHEMAS):
        yield parts[-1:]
