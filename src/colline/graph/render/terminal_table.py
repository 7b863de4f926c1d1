"""A table on a terminal: as wide as its words where that fits, else each row over two lines; no word is broken."""

from __future__ import annotations

from typing import Any

from colline.graph.render.answer_columns import RIGHT

_GAP, _INDENT, _BETWEEN = 2, 4, " · "
# columns of prose, which may go on in the next line, and the width they keep
_PROSE = {
    "expression", "why", "detail", "error", "path", "through", "how", "definition", "where", "line", "tags", "type",
    "toward the first", "toward the second",
}  # fmt: skip
_PROSE_WIDTH, _LONGEST_WORD = 24, 50

# words that carry a colour; the word itself says the same without it
STYLES = {
    "clear": "red", "masked": "green", "indirect": "yellow", "violation": "bold red", "FAIL": "red", "ABORT": "red",
    "no": "red", "yes": "green", "unknown": "yellow", "added": "green", "removed": "red", "changed": "yellow",
    "breaks": "bold red", "conflict": "bold red", "low": "yellow",
}  # fmt: skip


def print_table(headers: list[str], cells: list[list[str]], console: Any) -> None:
    """The rows below their headers; where the screen is too narrow, what does not fit stands below its row."""
    needed = [_needed(place, headers, cells) for place in range(len(headers))]
    if sum(needed) + _GAP * (len(needed) - 1) <= console.width:
        console.print(_table(headers, cells))
    else:
        _print_records(headers, cells, console)


def _needed(place: int, headers: list[str], cells: list[list[str]]) -> int:
    """The width a column needs to be readable."""
    texts = [headers[place], *(line[place] for line in cells)]
    widest = max(map(_wide, texts))
    if headers[place] not in _PROSE:
        return widest
    word = max(_wide(word) for text in texts for word in text.split() or [""])
    return min(widest, max(_PROSE_WIDTH, min(word, _LONGEST_WORD)))


def _table(headers: list[str], cells: list[list[str]]) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim", show_edge=False)
    for header in headers:
        whole = header not in _PROSE
        table.add_column(header, justify="right" if header in RIGHT else "left", overflow="fold", no_wrap=whole)
    for line in cells:
        table.add_row(*(_text(cell) for cell in line))
    return table


def _print_records(headers: list[str], cells: list[list[str]], console: Any) -> None:
    """A row's first cells on a line, as many as fit; the others below, each with its header."""
    from rich.padding import Padding

    widths = [max(_wide(headers[place]), *(_wide(line[place]) for line in cells)) for place in range(len(headers))]
    first = _fitting(widths, console.width)
    head = _line(headers[:first], headers, widths)
    head.stylize("dim")
    console.print(head, soft_wrap=True)
    for line in cells:
        console.print(_line(line[:first], headers, widths), soft_wrap=True)
        for part in _below(headers[first:], line[first:], console.width - _INDENT):
            console.print(Padding(part, (0, 0, 0, _INDENT), expand=False))


def _below(headers: list[str], cells: list[str], width: int) -> list[Any]:
    """Lines of cells with their headers, a cell on the next line where it would be broken on this one."""
    from rich.text import Text

    lines: list[Any] = []
    for header, cell in zip(headers, cells, strict=True):
        if not cell:
            continue
        told = Text.assemble((f"{header}: " if header else "", "dim"), _text(cell))
        if lines and lines[-1].cell_len + len(_BETWEEN) + told.cell_len <= width:
            lines[-1].append(_BETWEEN, "dim").append(told)
        else:
            lines.append(told)
    return lines


def _fitting(widths: list[int], width: int) -> int:
    """How many columns, from the left, fit on a line; at least one."""
    used = 0
    for place, wide in enumerate(widths):
        used += wide + (_GAP if place else 0)
        if used > width:
            return max(place, 1)
    return len(widths)


def _line(cells: list[str], headers: list[str], widths: list[int]) -> Any:
    from rich.text import Text

    out = Text()
    for place, cell in enumerate(cells):
        space = " " * (widths[place] - _wide(cell)) if place + 1 < len(cells) or headers[place] in RIGHT else ""
        out.append(space if headers[place] in RIGHT else "").append(_text(cell))
        out.append("" if headers[place] in RIGHT else space).append(" " * _GAP if place + 1 < len(cells) else "")
    return out


def _text(cell: str) -> Any:
    from rich.text import Text

    return Text(cell, style=STYLES.get(cell, ""))


def _wide(text: str) -> int:
    """How many places of a terminal a text takes: a letter of Chinese takes two."""
    from rich.cells import cell_len

    return cell_len(text)
