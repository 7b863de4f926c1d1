"""Answers as text, trees, CSV, Markdown and HTML."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

from colline.graph.answer import Answer
from colline.graph.render import terminal_table, tree
from colline.graph.render.answer_columns import (
    FURTHER_TABLES,
    Columns,
    cell_text,
    columns_of,
    parse_columns,
    rows_with_edges,
)
from colline.graph.results import WalkAnswer
from colline.graph.rows import Row
from colline.terminal_text import escape_control_characters

if TYPE_CHECKING:
    from rich.console import Console

TextTable = tuple[list[str], list[list[str]]]  # headers and cells


def main_table(answer: Answer) -> TextTable:
    """The table of the rows that answer the question."""
    return _text_table(columns_of(answer), rows_with_edges(answer))


def further_tables(answer: Answer) -> list[TextTable]:
    """The tables of further sections that have rows. Of the jobs of a traversal, only those with flags."""
    out = []
    for section, columns in FURTHER_TABLES.get(answer.question, {}).items():
        found: list[Row] = getattr(answer, section, []) if section != answer.main else []
        rows = [row for row in found if getattr(row, "flags", True)]
        if rows:
            out.append(_text_table(parse_columns(columns), rows))
    return out


def _text_table(columns: Columns, rows: Iterable[object]) -> TextTable:
    """Headers and cells, without the columns that are empty."""
    cells = [[cell_text(cell(row)) for _, cell in columns] for row in rows]
    used = [place for place in range(len(columns)) if any(line[place] for line in cells)]
    return [columns[place][0] for place in used], [[line[place] for place in used] for line in cells]


def headline(answer: Answer) -> str:
    """The verdict and its time."""
    return f"{escape_control_characters(answer.verdict)}; as of {cell_text(answer.as_of)}"


def notes(answer: Answer) -> list[str]:
    """What is unknown and how many rows are left out."""
    out = [escape_control_characters(f"unknown: {row.what}: {row.why}") for row in answer.unknown]
    if answer.left_out:
        out.append(f"{answer.left_out:,} more rows were left out; --limit 0 shows all")
    return out


def to_text(answer: Answer, *, width: int = 200, as_tree: bool = False) -> str:
    """Verdict, table or tree, and notes as plain text."""
    from rich.console import Console

    target = io.StringIO()
    console = Console(file=target, width=width, no_color=True, highlight=False, force_terminal=False)
    print_answer(answer, console, as_tree=as_tree)
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines())


def print_answer(answer: Answer, console: Console, *, as_tree: bool = False) -> None:
    """Prints verdict, table or tree, and notes, in color if the console has colors."""
    from rich.text import Text

    console.print(Text(headline(answer), style="bold" if answer.holds else "bold red"), soft_wrap=True)
    tables = further_tables(answer)
    if as_tree and isinstance(answer, WalkAnswer):
        _print_tree(answer, console)
    else:
        tables.insert(0, main_table(answer))
    for headers, cells in tables:
        if cells:
            terminal_table.print_table(headers, cells, console)
    for note in notes(answer):
        console.print(Text(note, style="yellow"), soft_wrap=True)


def _print_tree(answer: WalkAnswer, console: Console) -> None:
    from rich.text import Text

    for line in tree.tree_lines(answer) if answer.columns else ():
        text = Text.assemble((line.guide, "dim"), line.label, ("  " + line.how, "dim") if line.how else "")
        text.append(f"  {line.state}" if line.state else "", terminal_table.STYLES.get(line.state, ""))
        console.print(text, soft_wrap=True)


def to_csv(answer: Answer) -> str:
    """The rows as CSV with all keys. A list in a cell is joined by `;`."""
    rows = answer.flat_rows()
    keys = list(dict.fromkeys(key for row in rows for key in row))
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(keys)
    for row in rows:
        writer.writerow([_csv_cell(row.get(key)) for key in keys])
    return target.getvalue()


def _csv_cell(value: object) -> object:
    if isinstance(value, list | tuple):
        value = ";".join(_csv_item(item) for item in value)
    # spreadsheets treat a cell that begins like this as a formula
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _csv_item(item: object) -> str:
    return str(item.get("label") or item.get("name") or item) if isinstance(item, dict) else cell_text(item)


def to_markdown(answer: Answer) -> str:
    """Verdict and tables for a pull request."""
    out = [f"**{_markdown(answer.verdict)}**; as of {cell_text(answer.as_of)}", ""]
    for headers, cells in (main_table(answer), *further_tables(answer)):
        if cells:
            out += ["| " + " | ".join(headers) + " |", "|" + "---|" * len(headers)]
            out += ["| " + " | ".join(_markdown(cell) for cell in line) + " |" for line in cells] + [""]
    return "\n".join(out + [f"- {_markdown(note)}" for note in notes(answer)]).rstrip()


def _markdown(text: str) -> str:
    text = escape_control_characters(text)
    for mark in ("\\", "|", "`", "*", "_", "<", "[", "]"):
        text = text.replace(mark, f"\\{mark}" if mark != "<" else "&lt;")
    return text


def to_html(answer: Answer) -> str:
    """Verdict and table for a notebook."""
    headers, cells = main_table(answer)
    head = "".join(f"<th>{html.escape(header)}</th>" for header in headers)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in cells)
    tail = "".join(f"<p>{html.escape(note)}</p>" for note in notes(answer))
    verdict = html.escape(escape_control_characters(answer.verdict))
    return f"<p><b>{verdict}</b></p><table><tr>{head}</tr>{body}</table>{tail}"
