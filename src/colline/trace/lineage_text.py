"""Formats column lineage for people: a plain table for terminals, and SVG with a table for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

from colline.trace.columns import Dependency, Transformation

if TYPE_CHECKING:
    from colline.trace.result import ColumnLineage

Row = tuple[str, str, str, str]

_HEADER: Row = ("column", "from", "how", "expression")
_ROWS_OUTPUT = "*"  # stands for the rows, in the place of an output column
_MAX_CELL_CHARS = 60


def format_table(lineage: ColumnLineage) -> str:
    """One line per output column and input; inputs that decide the rows are listed under `*`, opaque steps last."""
    rows = [_HEADER, *_rows(lineage)]
    widths = [min(_MAX_CELL_CHARS, max(map(len, cells))) for cells in zip(*rows, strict=True)]
    lines = ["  ".join(map(_fit, row, widths)).rstrip() for row in rows]
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
        yield from _output_rows(name, entries)
    if lineage.dataset:
        yield from _output_rows(_ROWS_OUTPUT, lineage.dataset)


def _output_rows(name: str, entries: Iterable[Dependency]) -> Iterator[Row]:
    """The rows of one output, with its name on the first of them."""
    label = name
    for entry in entries:
        for transformation in entry.transformations:
            yield (label, _short_name(entry), effect_label(transformation), transformation.description)
            label = ""
    if label:
        yield (name, "—", "no input", "")


def _short_name(entry: Dependency) -> str:
    dataset = entry.column.dataset.name.rstrip("/").rsplit("/", 1)[-1]
    return f"{dataset}.{entry.column.field}"


def _fit(cell: str, width: int) -> str:
    text = cell if len(cell) <= width else cell[: width - 1] + "…"
    return text.ljust(width)


# pixels
_ROW_HEIGHT, _TOP, _LEFT, _RIGHT, _WIDTH = 22, 26, 220, 460, 690
_MAX_LABEL_CHARS = 30
_STYLE = (
    ".cl{font:12px ui-monospace,monospace;color:currentColor}.cl text{fill:currentColor}"
    ".cl path{fill:none;stroke:#0b7a75;stroke-width:1.5}.cl .i{stroke-dasharray:2 3;stroke:#8a6d1d}"
)


def format_html(lineage: ColumnLineage) -> str:
    """SVG with sources on the left and outputs on the right, and the table below it.

    Lines of direct lineage are solid, those of indirect lineage are dotted.
    """
    outputs = [*lineage.fields, *([_ROWS_OUTPUT] if lineage.dataset else [])]
    edges = [(name, entry) for name in outputs for entry in lineage.fields.get(name, lineage.dataset)]
    sources = list(dict.fromkeys(_short_name(entry) for _, entry in edges))
    height = _TOP + _ROW_HEIGHT * max(len(sources), len(outputs), 1)
    labels = [_svg_label(text, position, 8) for position, text in enumerate(sources)]
    labels += [
        _svg_label("rows" if text == _ROWS_OUTPUT else text, position, _RIGHT + 8)
        for position, text in enumerate(outputs)
    ]
    lines = [_svg_line(sources.index(_short_name(entry)), outputs.index(name), entry) for name, entry in edges]
    svg = (
        f'<svg class="cl" role="img" aria-label="column lineage" width="{_WIDTH}" height="{height}">'
        f"<style>{_STYLE}</style>{''.join(lines)}{''.join(labels)}</svg>"
    )
    return f"<div>{svg}<pre>{escape(format_table(lineage))}</pre></div>"


def _svg_label(text: str, position: int, x: int) -> str:
    shown = text if len(text) <= _MAX_LABEL_CHARS else text[: _MAX_LABEL_CHARS - 1] + "…"
    y = _TOP + _ROW_HEIGHT * position
    return f'<text x="{x}" y="{y}" text-anchor="start"><title>{escape(text)}</title>{escape(shown)}</text>'


def _svg_line(start: int, end: int, entry: Dependency) -> str:
    y1, y2 = _TOP + _ROW_HEIGHT * start - 4, _TOP + _ROW_HEIGHT * end - 4
    kind = "" if any(each.effect.is_direct for each in entry.transformations) else ' class="i"'
    title = escape(", ".join(map(effect_label, entry.transformations)))
    middle = (_LEFT + _RIGHT) // 2
    return f'<path{kind} d="M{_LEFT} {y1}C{middle} {y1} {middle} {y2} {_RIGHT} {y2}"><title>{title}</title></path>'
