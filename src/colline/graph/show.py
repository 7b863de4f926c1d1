"""Answers as text, CSV, Markdown and HTML. Which columns a table shows is written once, by section and question."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Callable
from typing import Any

from colline.graph.answer import Answer, Row

Cell = Callable[[Row], Any]


def _get(path: str) -> Cell:
    def cell(row: Row) -> Any:
        value: Any = row
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        return value

    return cell


def _flag(key: str, word: str) -> Cell:
    return lambda row: word if row.get(key) else ""


def _edge_kind(row: Row) -> str:
    via = row.get("via") or {}
    return str(via.get("subtype", "")).lower() + (" ⛨" if via.get("masking") else "")


# question → the columns of its table: header and what it shows of a row
TABLES: dict[str, tuple[tuple[str, Cell], ...]] = {
    "find": (
        ("column", _get("label")),
        ("match", _get("match")),
        ("type", _get("type")),
        ("layer", _get("layer")),
        ("tags", _get("tags")),
        ("up", _get("up")),
        ("down", _get("down")),
    ),
    "walk": (
        ("hop", _get("distance")),
        ("column", _get("label")),
        ("how", _edge_kind),
        ("expression", _get("via.description")),
        ("job", _get("via.job.name")),
        ("last run", _get("via.last_state")),
        ("", lambda row: "indirect" if row.get("relation") == "indirect" else ""),
        ("", _flag("masked", "masked")),
    ),
}
TABLES["upstream"] = TABLES["downstream"] = TABLES["walk"]


def table_rows(answer: Answer) -> tuple[list[str], list[list[str]]]:
    """Headers and cells of an answer's main rows; columns that are empty throughout are dropped."""
    columns = TABLES.get(answer.question) or _plain_columns(answer.main_rows)
    rows = with_edges(answer)
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
    return tuple((key.replace("_", " "), _get(key)) for key in keys)


def as_text(value: Any) -> str:
    """A cell as people read it."""
    if value is None or value is False:
        return ""
    if value is True:
        return "yes"
    if isinstance(value, (list, tuple)):
        return ", ".join(as_text(item) for item in value)
    if isinstance(value, dict):
        return str(value.get("label") or value.get("name") or value)
    return str(value)


def notes(answer: Answer) -> list[str]:
    """What is not known and what was left out: said after the rows, never dropped."""
    out = [f"unknown: {row['what']}: {row['why']}" for row in answer.unknown]
    if answer.left_out:
        out.append(f"{answer.left_out:,} more rows were left out; --limit 0 shows all")
    return out


def to_text(answer: Answer, *, width: int = 200) -> str:
    """Verdict, table, notes; plain characters."""
    from rich.console import Console

    target = io.StringIO()
    print_answer(answer, Console(file=target, width=width, no_color=True, highlight=False, force_terminal=False))
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines())


def print_answer(answer: Answer, console: Any) -> None:
    """The same on a terminal, with colour where the console has some."""
    from rich.table import Table
    from rich.text import Text

    style = "bold" if answer.holds else "bold red"
    console.print(Text(f"{answer.verdict}; as of {answer.as_of}", style=style), soft_wrap=True)
    headers, cells = table_rows(answer)
    if cells:
        table = Table(box=None, pad_edge=False, header_style="dim", show_edge=False)
        for header in headers:
            table.add_column(header, justify="right" if header in ("hop", "up", "down") else "left", overflow="fold")
        for line in cells:
            table.add_row(*(Text(cell) for cell in line))
        console.print(table)
    for note in notes(answer):
        console.print(Text(note, style="yellow"), soft_wrap=True)


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
    """Verdict and table for a pull request."""
    headers, cells = table_rows(answer)
    out = [f"**{_md(answer.verdict)}**; as of {answer.as_of}", ""]
    if cells:
        out += ["| " + " | ".join(headers) + " |", "|" + "---|" * len(headers)]
        out += ["| " + " | ".join(_md(cell) for cell in line) + " |" for line in cells] + [""]
    return "\n".join(out + [f"- {_md(note)}" for note in notes(answer)])


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
