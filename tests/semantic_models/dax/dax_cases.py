"""Cases of DAX as text: an expression over the model in `model.tmdl`, and the lineage that it must have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from colline.semantic_models.dax.dax_expressions import DaxLineage, value_lineage
from colline.semantic_models.dax.dax_scope import DaxFindings, DaxScope
from colline.semantic_models.model_lineage import _ModelReader
from colline.semantic_models.model_names import ModelNames
from colline.semantic_models.semantic_model import Expression
from colline.semantic_models.tmdl.tmdl_model import tmdl_model
from colline.trace.flow import dependency_entries
from colline.trace.lineage_text import effect_label

ROOT = Path(__file__).parents[2] / "cases" / "dax"
MODEL, _ = tmdl_model("M", {"model.tmdl": (ROOT / "model.tmdl").read_text("utf-8")})
NAMES = ModelNames(MODEL, "powerbi")


@dataclass(frozen=True)
class DaxCase:
    key: str
    is_column: bool
    text: str
    expected: tuple[str, ...]

    def lines(self) -> tuple[str, ...]:
        found = lineage_of(self.text, is_column=self.is_column)
        return tuple(sorted(_lines(found)))


def dax_cases() -> list[DaxCase]:
    return [case for path in sorted(ROOT.glob("*.dax")) for case in _read(path)]


def lineage_of(text: str, *, is_column: bool = False) -> DaxLineage:
    """The lineage of a measure, or of a calculated column, of Sales."""
    reader = _ModelReader(MODEL, NAMES, lambda *_: None)  # type: ignore[arg-type,return-value]
    scope = DaxScope(NAMES, DaxFindings(), reader._tables_behind, home="Sales")
    sales = NAMES.table("Sales")
    assert sales is not None
    return value_lineage(Expression(text), scope.for_rows(scope.base_table(sales)) if is_column else scope)


def _read(path: Path) -> Iterator[DaxCase]:
    for block in re.split(r"^// case:", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        head, _, expectation = block.partition("// expect:")
        name, _, text = head.partition("\n")
        expected = [" ".join(line[2:].split()) for line in expectation.splitlines() if line.startswith("//   ")]
        yield DaxCase(f"{path.stem}: {name.strip()}", path.stem == "columns", text.strip(), tuple(sorted(expected)))


def _lines(found: DaxLineage) -> Iterator[str]:
    for entry in dependency_entries(found.dependencies):
        name = f"{NAMES.table_of(entry.column)}.{entry.column.field}"
        yield from {f"{name} {effect_label(each)}" for each in entry.transformations}
    yield from (f"unresolved: {each.message.removeprefix('the model has no ')}" for each in found.unresolved)
    yield from (f"opaque: {each.message}" for each in found.opaque)
