"""Answers as text, trees, CSV and Markdown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from textwrap import dedent
from typing import TYPE_CHECKING

from msgspec import UnsetType

from colline.graph.answer import Answer
from colline.graph.queries.usage.evidence import evidence_text
from colline.graph.render import terminal_table, tree
from colline.graph.render.answer_columns import (
    FURTHER_TABLES,
    Columns,
    cell_text,
    columns_of,
    parse_columns,
    rows_with_edges,
)
from colline.graph.results import (
    DroppableAnswer,
    DroppableTablesAnswer,
    ImpactAnswer,
    JobCard,
    TableCard,
    UnusedAnswer,
    UnusedTablesAnswer,
    WalkAnswer,
)
from colline.graph.rows import Row
from colline.terminal_text import escape_control_characters, escape_lines

if TYPE_CHECKING:
    from rich.console import Console

DEFAULT_WIDTH = 100  # characters, where the output is not a terminal
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
    return f"{cell_text(answer.verdict)}; as of {cell_text(answer.as_of)}"


_CARD_FACTS = ("description", "owner", "domain", "tags", "kind", "layer", "integration", "location", "dropped_at")


def card_facts(answer: Answer) -> list[tuple[str, str]]:
    """Facts about the table or job of a card that are not in its tables. SQL may have several lines."""
    if not isinstance(answer, TableCard | JobCard):
        return []
    found = answer.table if isinstance(answer, TableCard) else answer.job
    facts = [(name, cell_text(value)) for name in _CARD_FACTS if (value := getattr(found, name, None))]
    sql = getattr(found, "sql", None)
    return [*facts, ("sql", escape_lines(dedent(sql).strip()))] if sql else facts


def notes(answer: Answer) -> list[str]:
    """What is unknown and how many rows are left out."""
    out = [escape_control_characters(f"unknown: {row.what}: {row.why}") for row in answer.unknown]
    if isinstance(answer, DroppableAnswer | DroppableTablesAnswer | UnusedAnswer | UnusedTablesAnswer):
        out.append(f"evidence: {cell_text(evidence_text(answer.evidence))}")
    if answer.left_out:
        out.append(f"{answer.left_out:,} more rows were left out; --limit 0 shows all")
    return out


def tables_of(answer: Answer) -> list[TextTable]:
    """All tables in their order: those of `impact` begin with broken jobs and live readers."""
    main, further = main_table(answer), further_tables(answer)
    return [*further, main] if isinstance(answer, ImpactAnswer) and answer.main != "jobs" else [main, *further]


def to_text(answer: Answer, *, width: int = DEFAULT_WIDTH, as_tree: bool = False) -> str:
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
    for name, value in card_facts(answer):
        console.print(Text.assemble((f"{name}: ", "dim"), "\n" * ("\n" in value) + value), soft_wrap=True)
    is_tree = as_tree and isinstance(answer, WalkAnswer)
    if is_tree:
        _print_tree(answer, console)
    for headers, cells in further_tables(answer) if is_tree else tables_of(answer):
        if cells:
            terminal_table.print_table(headers, cells, console)
    for note in notes(answer):  # names in rows that are unknown may be copied, so that they are not broken
        console.print(Text(note, style="yellow"), soft_wrap=note.startswith("unknown: "))


def _print_tree(answer: Answer, console: Console) -> None:
    from rich.text import Text

    assert isinstance(answer, WalkAnswer)
    for line in tree.tree_lines(answer) if answer.columns else ():
        text = Text.assemble((line.guide, "dim"), line.label, ("  " + line.how, "dim") if line.how else "")
        text.append(f"  {line.state}" if line.state else "", terminal_table.STYLES.get(line.state, ""))
        console.print(text, soft_wrap=True)


def to_csv(answer: Answer) -> str:
    """The rows as CSV: the columns of the table, then all other keys. A list in a cell is joined by `;`.

    CSV is opened in spreadsheets and terminals, so control characters are escaped; JSON has the names as they are.
    """
    columns = [(header.replace(" ", "_"), cell) for header, cell in columns_of(answer)]
    pairs = zip(answer.flat_rows(), rows_with_edges(answer), strict=True)
    rows = [{name: _csv_value(cell(row)) for name, cell in columns} | flat for flat, row in pairs]
    keys = list(dict.fromkeys([name for name, _ in columns] + [key for row in rows for key in row]))
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(keys)
    for row in rows:
        writer.writerow([_csv_cell(row.get(key)) for key in keys])
    return target.getvalue()


def _csv_value(value: object) -> object:
    return cell_text(value) if isinstance(value, bool | Row | UnsetType) else value


def _csv_cell(value: object) -> object:
    if isinstance(value, list | tuple):
        value = ";".join(_csv_item(item) for item in value)
    if not isinstance(value, str):
        return value
    # spreadsheets treat a cell that begins like this as a formula
    mark = "'" if value[:1] in ("=", "+", "-", "@", "\t", "\r") else ""
    return mark + escape_control_characters(value)


def _csv_item(item: object) -> str:
    if not isinstance(item, dict):
        return cell_text(item)
    return str(item.get("label") or item.get("name") or json.dumps(item))


def to_markdown(answer: Answer) -> str:
    """Verdict and tables for a pull request."""
    out = [f"**{_markdown(answer.verdict)}**; as of {cell_text(answer.as_of)}", ""]
    out += [f"- {name}: {_markdown(value)}" for name, value in card_facts(answer)] + [""] * bool(card_facts(answer))
    for headers, cells in tables_of(answer):
        if cells:
            out += ["| " + " | ".join(headers) + " |", "|" + "---|" * len(headers)]
            out += ["| " + " | ".join(_markdown(cell) for cell in line) + " |" for line in cells] + [""]
    return "\n".join(out + [f"- {_markdown(note)}" for note in notes(answer)]).rstrip()


def _markdown(text: str) -> str:
    text = escape_control_characters(text)
    for mark in ("\\", "|", "`", "*", "_", "<", "[", "]"):
        text = text.replace(mark, f"\\{mark}" if mark != "<" else "&lt;")
    return text
