"""Cases of M as text: an expression, and the lineage that it must have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from colline.semantic_models import partition_sources  # noqa: F401  # registers the functions of M
from colline.semantic_models.power_query.m_evaluation import MEvaluator
from colline.semantic_models.semantic_model import Expression
from colline.semantic_models.source_address import SourceAddress
from colline.sql_lineage.sql_targets import column_lineage
from colline.sql_lineage.table_schema import TableSchema
from colline.trace import ColumnLineage, DatasetName
from colline.trace.lineage_text import effect_label

ROOT = Path(__file__).parents[2] / "cases" / "power_query"
COLUMNS = {
    "Sales": ("Id", "Amount", "Qty", "StoreKey", "Status", "Day"),
    "Store": ("Key", "City", "Name"),
}
SHARED = {
    "Server": Expression('"srv" meta [IsParameterQuery=true, Type="Text"]'),
    "Database": Expression('"shop" meta [IsParameterQuery=true, Type="Text"]'),
}


class Shop:
    """Knows the columns of some tables of the database shop."""

    def find_source(self, address: SourceAddress) -> TableSchema:
        return TableSchema(address.name, COLUMNS.get(address.parts[-1] if address.parts else "", ()))


@dataclass(frozen=True)
class MCase:
    key: str
    text: str
    expected: tuple[str, ...]

    def lines(self) -> tuple[str, ...]:
        evaluator = MEvaluator(SHARED, Shop())
        table = evaluator.table(Expression(self.text))
        columns = column_lineage(dict(table.relation.columns), table.relation.row_dependencies)
        found = [*_lines(columns), *(f"input: {_dataset_line(each)}" for each in evaluator.findings.inputs)]
        found += [f"opaque: {each.position.line}: {each.message}" for each in evaluator.findings.problems]
        return tuple(sorted(set(found)))


def _dataset_line(dataset: DatasetName) -> str:
    """The host and the name; of a page, its whole address."""
    scheme, _, host = dataset.namespace.rpartition("://")
    return f"{dataset.namespace if scheme == 'https' else host} {dataset.name}"


def m_cases() -> list[MCase]:
    return [case for path in sorted(ROOT.glob("*.pq")) for case in _read(path)]


def _read(path: Path) -> Iterator[MCase]:
    for block in re.split(r"^// case:", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        head, _, expectation = block.partition("// expect:")
        name, _, text = head.partition("\n")
        expected = [" ".join(line[2:].split()) for line in expectation.splitlines() if line.startswith("//   ")]
        yield MCase(f"{path.stem}: {name.strip()}", text.strip(), tuple(sorted(expected)))


def _lines(lineage: ColumnLineage) -> Iterator[str]:
    rows = [("*", lineage.dataset)] if lineage.dataset else []
    for name, entries in (*lineage.fields.items(), *rows):
        if not entries:
            yield f"{name} <- nothing"
        for entry in entries:
            source = entry.column.dataset.name.rsplit("/", 1)[-1].removeprefix("shop.dbo.")
            yield from (
                f"{name} <- {source}.{entry.column.field} {effect_label(each)}" for each in entry.transformations
            )
