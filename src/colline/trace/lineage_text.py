"""Column lineage for a reader: a plain table, and a small picture for notebooks that needs no network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

from colline.trace.columns import Dependency, Transformation

if TYPE_CHECKING:
    from colline.trace.result import ColumnLineage

_HEADER = ("column", "from", "how", "expression")
_MAX_CELL_CHARS = 60


def format_table(lineage: ColumnLineage) -> str:
    """One row per output column and input, the inputs that decide the rows under `*`, then what could not be seen."""
    rows = [_HEADER, *_rows(lineage)]
    widths = [min(_MAX_CELL_CHARS, max(len(row[position]) for row in rows)) for position in range(4)]
    lines = ["  ".join(_fit(cell, widths[position]) for position, cell in enumerate(row)).rstrip() for row in rows]
    lines.insert(1, "  ".join("─" * width for width in widths))
    lines += [f"opaque: {step.node} {step.function}: {step.why}" for step in lineage.opaque]
    if len(rows) == 1:
        lines.append("(no columns)")
    return "\n".join(lines)


def _rows(lineage: ColumnLineage) -> Iterator[tuple[str, str, str, str]]:
    for name, entries in lineage.fields.items():
        yield from _entries(name, entries)
    if lineage.dataset:
        yield from _entries("*", lineage.dataset)


def _entries(name: str, entries: Iterable[Dependency]) -> Iterator[tuple[str, str, str, str]]:
    first = name
    for entry in entries:
        for transformation in entry.transformations:
            yield (first, _short_name(entry), effect_label(transformation), transformation.description)
            first = ""
    if first:
        yield (name, "—", "no input", "")


def effect_label(transformation: Transformation) -> str:
    """`direct/identity`, with a mark where the value is hidden."""
    return f"{transformation.effect.type.lower()}/{transformation.effect.subtype.lower()}" + (
        " masked" if transformation.masking else ""
    )


def _short_name(entry: Dependency) -> str:
    dataset = entry.column.dataset.name.rstrip("/").rsplit("/", 1)[-1]
    return f"{dataset}.{entry.column.field}"


def _fit(cell: str, width: int) -> str:
    text = cell if len(cell) <= width else cell[: width - 1] + "…"
    return text.ljust(width)


_ROW, _TOP, _LEFT, _RIGHT, _WIDTH = 22, 26, 220, 460, 690
_STYLE = (
    ".cl{font:12px ui-monospace,monospace;color:currentColor}.cl text{fill:currentColor}"
    ".cl path{fill:none;stroke:#0b7a75;stroke-width:1.5}.cl .i{stroke-dasharray:2 3;stroke:#8a6d1d}"
)


def format_html(lineage: ColumnLineage) -> str:
    """An SVG with sources left and outputs right, solid lines for values, dotted for rows; the table below it."""
    outputs = [*lineage.fields, *(["*"] if lineage.dataset else [])]
    entries = [(name, e) for name in outputs for e in (lineage.fields[name] if name != "*" else lineage.dataset)]
    sources = list(dict.fromkeys(_short_name(entry) for _, entry in entries))
    height = _TOP + _ROW * max(len(sources), len(outputs), 1)
    marks = [_label(text, position, 8, "start") for position, text in enumerate(sources)]
    marks += [
        _label("rows" if text == "*" else text, position, _RIGHT + 8, "start") for position, text in enumerate(outputs)
    ]
    lines = [_line(sources.index(_short_name(entry)), outputs.index(name), entry) for name, entry in entries]
    svg = (
        f'<svg class="cl" role="img" aria-label="column lineage" width="{_WIDTH}" height="{height}">'
        f"<style>{_STYLE}</style>{''.join(lines)}{''.join(marks)}</svg>"
    )
    return f"<div>{svg}<pre>{escape(format_table(lineage))}</pre></div>"


def _label(text: str, position: int, x: int, anchor: str) -> str:
    shown = text if len(text) <= 30 else text[:29] + "…"
    y = _TOP + _ROW * position
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"><title>{escape(text)}</title>{escape(shown)}</text>'


def _line(start: int, end: int, entry: Dependency) -> str:
    y1, y2 = _TOP + _ROW * start - 4, _TOP + _ROW * end - 4
    kind = "" if any(transformation.effect.is_direct for transformation in entry.transformations) else ' class="i"'
    title = escape(", ".join(effect_label(transformation) for transformation in entry.transformations))
    middle = (_LEFT + _RIGHT) // 2
    return f'<path{kind} d="M{_LEFT} {y1}C{middle} {y1} {middle} {y2} {_RIGHT} {y2}"><title>{title}</title></path>'
