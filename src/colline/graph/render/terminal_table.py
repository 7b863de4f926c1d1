"""A table on a terminal. If it is too wide, the cells that do not fit are printed below their row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from colline.graph.render.answer_columns import RIGHT_ALIGNED

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_GAP, _INDENT, _SEPARATOR = 2, 4, " · "
# columns that may wrap, and the width that they keep
_WRAPPING = {
    "expression", "why", "detail", "error", "path", "through", "how", "definition", "where", "line", "tags", "type",
    "toward the first", "toward the second",
}  # fmt: skip
_MIN_WRAPPING_WIDTH, _MAX_WORD_WIDTH = 24, 50

# words with a color
STYLES = {
    "clear": "red", "masked": "green", "indirect": "yellow", "FAIL": "red", "ABORT": "red",
    "no": "red", "yes": "green", "unknown": "yellow", "added": "green", "removed": "red", "changed": "yellow",
    "low": "yellow", "medium": "yellow",
}  # fmt: skip
_ALARMS = ("violation", "breaks", "conflict")  # headers of columns where `yes` is a problem


def print_table(headers: list[str], cells: list[list[str]], console: Console) -> None:
    """Prints the rows below their headers."""
    needed = [_needed_width(place, headers, cells) for place in range(len(headers))]
    if sum(needed) + _GAP * (len(needed) - 1) <= console.width:
        console.print(_table(headers, cells))
    else:
        _print_records(headers, cells, console)


def _needed_width(place: int, headers: list[str], cells: list[list[str]]) -> int:
    texts = [headers[place], *(line[place] for line in cells)]
    widest = max(map(_width, texts))
    if headers[place] not in _WRAPPING:
        return widest
    word = max(_width(word) for text in texts for word in text.split() or [""])
    return min(widest, max(_MIN_WRAPPING_WIDTH, min(word, _MAX_WORD_WIDTH)))


def _table(headers: list[str], cells: list[list[str]]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim", show_edge=False)
    for header in headers:
        table.add_column(
            header,
            justify="right" if header in RIGHT_ALIGNED else "left",
            overflow="fold",
            no_wrap=header not in _WRAPPING,
        )
    for line in cells:
        table.add_row(*(_colored_text(header, cell) for header, cell in zip(headers, line, strict=True)))
    return table


def _print_records(headers: list[str], cells: list[list[str]], console: Console) -> None:
    """Prints the cells that fit on a line, and the others below it, each with its header."""
    from rich.padding import Padding

    widths = [max(_width(headers[place]), *(_width(line[place]) for line in cells)) for place in range(len(headers))]
    first = _count_fitting(widths, console.width)
    head = _line(headers[:first], headers, widths)
    head.stylize("dim")
    console.print(head, soft_wrap=True)
    for line in cells:
        console.print(_line(line[:first], headers, widths), soft_wrap=True)
        for part in _lines_below(headers[first:], line[first:], console.width - _INDENT):
            console.print(Padding(part, (0, 0, 0, _INDENT), expand=False))


def _lines_below(headers: list[str], cells: list[str], width: int) -> list[Text]:
    """Cells with their headers, as many on a line as fit."""
    from rich.text import Text

    lines: list[Text] = []
    for header, cell in zip(headers, cells, strict=True):
        if not cell:
            continue
        text = Text.assemble((f"{header}: ", "dim"), _colored_text(header, cell))
        if lines and lines[-1].cell_len + len(_SEPARATOR) + text.cell_len <= width:
            lines[-1].append(_SEPARATOR, "dim").append(text)
        else:
            lines.append(text)
    return lines


def _count_fitting(widths: list[int], width: int) -> int:
    """The number of columns that fit on a line, at least one."""
    used = 0
    for place, wide in enumerate(widths):
        used += wide + (_GAP if place else 0)
        if used > width:
            return max(place, 1)
    return len(widths)


def _line(cells: list[str], headers: list[str], widths: list[int]) -> Text:
    from rich.text import Text

    out = Text()
    for place, cell in enumerate(cells):
        is_last, is_right = place + 1 == len(cells), headers[place] in RIGHT_ALIGNED
        space = " " * (widths[place] - _width(cell)) if is_right or not is_last else ""
        out.append(space if is_right else "").append(_colored_text(headers[place], cell))
        out.append("" if is_right else space).append("" if is_last else " " * _GAP)
    return out


def _colored_text(header: str, cell: str) -> Text:
    from rich.text import Text

    return Text(cell, style="bold red" if header in _ALARMS and cell == "yes" else STYLES.get(cell, ""))


def _width(text: str) -> int:
    """The number of terminal cells of a text; a Chinese character takes two."""
    from rich.cells import cell_len

    return cell_len(text)
