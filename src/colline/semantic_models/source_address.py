"""Where the data of a model comes from: the name of a table or file, as other producers name it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from colline.sql_lineage.table_schema import TableParts, TableSchema
from colline.trace import DatasetName


@dataclass(frozen=True, slots=True)
class SourceAddress:
    """A table or file. `parts` are the parts of a table's name, outermost first; a file has none."""

    name: DatasetName
    parts: TableParts = ()


class SourceLookup(Protocol):
    """Finds the dataset at an address."""

    def find_source(self, address: SourceAddress) -> TableSchema:
        """The dataset with its columns; without columns if they are not known."""


class AddressesOnly:
    """A lookup that knows no columns: every address is its own dataset."""

    def find_source(self, address: SourceAddress) -> TableSchema:
        """The dataset with the name of the address."""
        return TableSchema(address.name)
