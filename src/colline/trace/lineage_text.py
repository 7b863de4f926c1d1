"""Formats column lineage for people: a plain table for terminals, and a picture with a table for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

from colline.card_picture import Card, Line, LineKind, card_picture, html_table
from colline.terminal_text import escape_control_characters
from colline.trace.columns import DatasetName, Dependency, Transformation
from colline.trace.opaque_flow import StepColumn, steps_of

if TYPE_CHECKING:
    from colline.trace.result import ColumnLineage

Row = tuple[str, str, str, str]

_HEADER: Row = ("column", "from", "how", "expression")
_ROWS_OUTPUT = "*"  # stands for the rows, in the place of an output column
_MAX_CELL_CHARS = 60
_MAX_OPEN_ROWS = 20


def format_table(lineage: ColumnLineage) -> str:
    """One line per output column and input; inputs that decide the rows are listed under `*`, opaque steps last."""
    rows = [_HEADER, *_rows(lineage)]
    widths = [min(_MAX_CELL_CHARS, max(map(len, cells))) for cells in zip(*rows, strict=True)]
    lines = ["  ".join(map(_fit_cell, row, widths)).rstrip() for row in rows]
    lines.insert(1, "  ".join("─" * width for width in widths))
    lines += [f"opaque: {step.node} {step.function}: {step.why}" for step in lineage.opaque]
    if len(rows) == 1:
        lines.append("(no columns)")
    return "\n".join(lines)


def effect_label(transformation: Transformation) -> str:
    """`direct/identity`, or `direct/transformation masked`."""
    effect = transformation.effect
    return f"{effect.type.lower()}/{effect.subtype.lower()}" + (" masked" if transformation.masking else "")


def _rows(lineage: ColumnLineage) -> Iterator[Row]:
    for name, entries in lineage.fields.items():
        yield from _output_rows(name, entries, lineage.values.get(name, ""))
    if lineage.dataset:
        yield from _output_rows(_ROWS_OUTPUT, lineage.dataset)
    for step in steps_of(entry for entries in (*lineage.fields.values(), lineage.dataset) for entry in entries):
        yield from _output_rows(f"{step.function}(…)", step.inputs)


def _output_rows(name: str, entries: Iterable[Dependency], value: str = "") -> Iterator[Row]:
    """The rows of one output, with its name on the first of them; `value` is the expression of one without inputs."""
    label = name
    for entry in entries:
        for transformation in entry.transformations:
            yield (label, _short_name(entry), effect_label(transformation), transformation.description)
            label = ""
    if label:
        yield (name, "—", "no input", value)


def short_label(dataset: DatasetName) -> str:
    """The last part of a dataset's name."""
    return dataset.name.rstrip("/").rsplit("/", 1)[-1]


def _short_name(entry: Dependency) -> str:
    if isinstance(entry.column, StepColumn):
        return f"{entry.column.function}(…)"
    return f"{short_label(entry.column.dataset)}.{entry.column.field}"


def _fit_cell(cell: str, width: int) -> str:
    text = cell if len(cell) <= width else cell[: width - 1] + "…"
    return text.ljust(width)


_MAX_CARD_ROWS = 30
_ROWS_LABEL = "(rows)"  # the row of the result card that stands for which rows there are


def format_html(lineage: ColumnLineage) -> str:
    """A picture with the sources on the left and the result on the right, and the table below it."""
    cards, lines = _cards(lineage)
    rows = list(_rows(lineage))
    table = html_table(_HEADER, rows, folded="" if len(rows) <= _MAX_OPEN_ROWS else f"{len(rows):,} rows")
    opaque = [f"opaque: {step.node} {step.function}: {step.why}" for step in lineage.opaque]
    notes = "".join(f"<p>{escape(escape_control_characters(text))}</p>" for text in opaque)
    return f"<div>{card_picture(cards, lines)}{table}{notes}</div>"


def _cards(lineage: ColumnLineage) -> tuple[list[Card], list[Line]]:
    """A card for each dataset that is read, a card for the result, and a line for each dependency."""
    outputs = [*lineage.fields, *([_ROWS_OUTPUT] if lineage.dataset else [])]
    pairs = [(name, entry) for name in outputs for entry in lineage.fields.get(name, lineage.dataset)]
    fields: dict[DatasetName, list[str]] = {}
    for _, entry in pairs:
        known = fields.setdefault(entry.column.dataset, [])
        if entry.column.field not in known:
            known.append(entry.column.field)
    labels = [_ROWS_LABEL if name == _ROWS_OUTPUT else name for name in outputs]
    sources = [_card(short_label(dataset), dataset.name, names) for dataset, names in fields.items()]
    cards = [*sources, _card("result", "result", labels)] if labels else sources
    number = {dataset: place for place, dataset in enumerate(fields)}
    lines = [
        Line(
            (number[entry.column.dataset], entry.column.field),
            (len(sources), _ROWS_LABEL if name == _ROWS_OUTPUT else name),
            _line_kind(entry),
            ", ".join(map(_line_text, entry.transformations)),
        )
        for name, entry in pairs
    ]
    return cards, lines


def _card(title: str, name: str, rows: list[str]) -> Card:
    return Card(title, name, tuple(rows[:_MAX_CARD_ROWS]), more=max(len(rows) - _MAX_CARD_ROWS, 0))


def _line_kind(entry: Dependency) -> LineKind:
    if not any(each.effect.is_direct for each in entry.transformations):
        return "indirect"
    return "masked" if all(each.masking for each in entry.transformations if each.effect.is_direct) else "direct"


def _line_text(transformation: Transformation) -> str:
    label = effect_label(transformation)
    return f"{label}: {transformation.description}" if transformation.description else label
