"""Column lineage as lines of text: `total <- orders.amount direct/aggregation`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from colline.errors import CollineError

if TYPE_CHECKING:
    from colline.trace import ColumnLineage
    from colline.trace.columns import DatasetName, Dependency

ALL_ROWS = "*"
NOTHING = "nothing"
_LINE = re.compile(r"(?P<output>.+?)\s*<-\s*(?P<source>\S.*?)(?:\s+(?P<effect>(?:in)?direct/\w+(?:\s+masked)?))?")


class ExpectedLineageError(CollineError):
    """A line of an expected lineage that cannot be read; `line` is its text."""

    def __init__(self, line: str) -> None:
        hint = "write `output <- table.column direct/identity`, or `output <- nothing`"
        super().__init__(f"not a line of lineage: {line!r}", hint=hint)
        self.line = line


@dataclass(frozen=True, slots=True)
class LineageLine:
    """One dependency of one output. The expression is not compared by `assert_lineage`."""

    output: str
    source: str
    effect: str
    expression: str = field(default="", compare=False)

    @property
    def text(self) -> str:
        """The line without its expression."""
        return f"{self.output} <- {self.source} {self.effect}".rstrip()

    @property
    def text_with_expression(self) -> str:
        """The line as snapshots contain it."""
        return f"{self.text}  {' '.join(self.expression.split())}".rstrip()


def parse_lines(text: str) -> list[LineageLine]:
    """The lines of an expected lineage. Empty lines and lines that begin with `#` are skipped."""
    return [_parse_line(line) for line in map(str.strip, text.splitlines()) if line and not line.startswith("#")]


def _parse_line(line: str) -> LineageLine:
    found = _LINE.fullmatch(line)
    if found is None or (found["effect"] is None) != (found["source"] == NOTHING):
        raise ExpectedLineageError(line)
    return LineageLine(found["output"], found["source"], " ".join((found["effect"] or "").split()))


def lineage_lines(lineage: ColumnLineage) -> list[LineageLine]:
    """The lines of a lineage: outputs in their order, the rows last, sources sorted."""
    labels = _labels([read for outputs in (*lineage.fields.values(), lineage.dataset) for read in outputs])
    lines: list[LineageLine] = []
    for output, entries in (*lineage.fields.items(), (ALL_ROWS, lineage.dataset)):
        own = {line for entry in entries for line in _entry_lines(output, entry, labels)}
        lines += sorted(own, key=lambda line: (line.source, line.effect))
        if not entries and output != ALL_ROWS:
            lines.append(LineageLine(output, NOTHING, ""))
    return lines


def _entry_lines(output: str, entry: Dependency, labels: dict[DatasetName, str]) -> Iterable[LineageLine]:
    from colline.trace.lineage_text import effect_label

    source = f"{labels[entry.column.dataset]}.{entry.column.field}"
    return [
        LineageLine(output, source, effect_label(transformation), transformation.description)
        for transformation in entry.transformations
    ]


def _labels(entries: list[Dependency]) -> dict[DatasetName, str]:
    """A short name for each dataset: the last part of its name, or two parts where that is not unique."""
    parts = {entry.column.dataset: entry.column.dataset.name.rstrip("/").split("/") for entry in entries}
    by_last: dict[str, set[DatasetName]] = defaultdict(set)
    for dataset, names in parts.items():
        by_last[names[-1]].add(dataset)
    return {
        dataset: names[-1] if len(by_last[names[-1]]) == 1 else ".".join(names[-2:]) for dataset, names in parts.items()
    }
