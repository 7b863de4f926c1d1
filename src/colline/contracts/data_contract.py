"""The contract of one table as a value: what `Lineage.contract` returns."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from colline.contracts.contract_document import new_contract
from colline.contracts.contract_merge import merge_contract
from colline.contracts.generated_contract import generated_contract
from colline.contracts.table_facts import FactsReader

if TYPE_CHECKING:
    from colline.contracts.table_facts import TableFacts
    from colline.graph.lineage import Lineage


@dataclass(frozen=True)
class DataContract:
    """A data contract in the Open Data Contract Standard."""

    table: str
    facts: TableFacts
    _content: dict[str, Any] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The contract as plain JSON types."""
        return copy.deepcopy(self._content)

    def to_yaml(self) -> str:
        """The contract as a file contains it."""
        document = new_contract(self.table)
        merge_contract(document, self._content)
        return document.text()

    def __str__(self) -> str:
        return self.to_yaml()


def contract_of(lineage: Lineage, table: str, as_of: str | None = None) -> DataContract:
    """The contract of a table, by any unique suffix of its name."""
    facts = FactsReader(lineage, as_of).table(table)
    return DataContract(facts.label, facts, generated_contract(facts))
