"""Answers as text, trees, CSV, Markdown and HTML."""

from __future__ import annotations

import csv
import html
import io
from typing import Any

from colline.graph.answer import Answer, Row
from colline.graph.render import terminal_table, tree
from colline.graph.render.answer_columns import FURTHER, TABLES, Cell, as_text, value_at


def table_rows(answer: Answer) -> tuple[list[str], list[list[str]]]:
    """Headers and cells of an answer's main rows; columns that are empty throughout are dropped."""
    columns = TABLES.get(answer.question) or TABLES.get(answer.main) or _plain_columns(answer.main_rows)
    return _cells(columns, with_edges(answer))


def further_rows(answer: Answer) -> list[tuple[list[str], list[list[str]]]]:
    """The tables of the further sections, those that have rows."""
    out = []
    for section in FURTHER.get(answer.question, ()):
        # of the jobs on the way of a walk, those that need a look
        rows = [row for row in answer.sections.get(section) or [] if row.get("flags", True)]
        if rows:
            out.append(_cells(TABLES[f"{answer.question}.{section}"], rows))
    return out


def _cells(columns: tuple[tuple[str, Cell], ...], rows: list[Row]) -> tuple[list[str], list[list[str]]]:
    cells = [[as_text(cell(row)) for _, cell in columns] for row in rows]
    used = [i for i in range(len(columns)) if any(line[i] for line in cells)]
    return [columns[i][0] for i in used], [[line[i] for i in used] for line in cells]


def with_edges(answer: Answer) -> list[Row]:
    """The rows of a walk, each with the edge that led to it (`via`); other answers' rows as they are."""
    edges = answer.sections.get("edges")
    if answer.main != "columns" or not edges:
        return answer.main_rows
    far, near = ("from", "to") if answer.question == "upstream" else ("to", "from")
    place = {row["id"]: row["distance"] for row in answer.main_rows} | {row["id"]: 0 for row in answer.of}
    via: dict[int, Row] = {}
    for edge in edges:
        if edge["type"] == "DIRECT" or edge[far] not in via:
            better = place.get(edge[near], -1) + 1 == place.get(edge[far])
            if better and (edge[far] not in via or via[edge[far]]["type"] != "DIRECT"):
                via[edge[far]] = edge
    return [{**row, "via": via.get(row["id"])} for row in answer.main_rows]


def _plain_columns(rows: list[Row]) -> tuple[tuple[str, Cell], ...]:
    keys = dict.fromkeys(key for row in rows for key in row if key not in ("id", "namespace", "name", "field"))
    return tuple((key.replace("_", " "), value_at(key)) for key in keys)


def notes(answer: Answer) -> list[str]:
    """What is not known and what was left out: said after the rows, never dropped."""
    out = [f"unknown: {row['what']}: {row['why']}" for row in answer.unknown]
    if answer.left_out:
        out.append(f"{answer.left_out:,} more rows were left out; --limit 0 shows all")
    return out


def to_text(answer: Answer, *, width: int = 200, as_tree: bool = False) -> str:
    """Verdict, table or tree, notes; plain characters."""
    from rich.console import Console

    target = io.StringIO()
    print_answer(
        answer, Console(file=target, width=width, no_color=True, highlight=False, force_terminal=False), as_tree=as_tree
    )
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines())


def print_answer(answer: Answer, console: Any, *, as_tree: bool = False) -> None:
    """The same on a terminal, with colour where the console has some."""
    from rich.text import Text

    style = "bold" if answer.holds else "bold red"
    console.print(Text(f"{answer.verdict}; as of {as_text(answer.as_of)}", style=style), soft_wrap=True)
    if as_tree and answer.main_rows:
        _print_tree(answer, console)
    for headers, cells in (*([] if as_tree else [table_rows(answer)]), *further_rows(answer)):
        if cells:
            terminal_table.print_table(headers, cells, console)
    for note in notes(answer):
        console.print(Text(note, style="yellow"), soft_wrap=True)


def _print_tree(answer: Answer, console: Any) -> None:
    from rich.text import Text

    for line in tree.lines(answer):
        text = Text.assemble((line.guide, "dim"), line.label, ("  " + line.how, "dim") if line.how else "")
        console.print(
            text.append(f"  {line.state}" if line.state else "", terminal_table.STYLES.get(line.state, "")),
            soft_wrap=True,
        )


def to_csv(answer: Answer) -> str:
    """The rows as CSV, all keys; a list inside a cell is joined by `;`."""
    rows = answer.flat_rows()
    keys = list(dict.fromkeys(key for row in rows for key in row))
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(keys)
    for row in rows:
        writer.writerow([_csv_cell(row.get(key)) for key in keys])
    return target.getvalue()


def _csv_cell(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        value = ";".join(as_text(item) for item in value)
    # a spreadsheet takes a cell that begins like this for a formula, and names come from strangers
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def to_markdown(answer: Answer) -> str:
    """Verdict and tables for a pull request."""
    out = [f"**{_md(answer.verdict)}**; as of {as_text(answer.as_of)}", ""]
    for headers, cells in (table_rows(answer), *further_rows(answer)):
        if cells:
            out += ["| " + " | ".join(headers) + " |", "|" + "---|" * len(headers)]
            out += ["| " + " | ".join(_md(cell) for cell in line) + " |" for line in cells] + [""]
    return "\n".join(out + [f"- {_md(note)}" for note in notes(answer)]).rstrip()


def _md(text: str) -> str:
    for mark in ("\\", "|", "`", "*", "_", "<", "[", "]"):
        text = text.replace(mark, f"\\{mark}" if mark != "<" else "&lt;")
    return text.replace("\n", " ").replace("\r", "")


def to_html(answer: Answer) -> str:
    """Verdict and table for a notebook."""
    headers, cells = table_rows(answer)
    head = "".join(f"<th>{html.escape(header)}</th>" for header in headers)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in cells)
    tail = "".join(f"<p>{html.escape(note)}</p>" for note in notes(answer))
    return f"<p><b>{html.escape(answer.verdict)}</b></p><table><tr>{head}</tr>{body}</table>{tail}"
