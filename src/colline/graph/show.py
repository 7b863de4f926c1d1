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


def _path(row: Row) -> str:
    return " → ".join(column["label"] for column in row["columns"])


def _steps(row: Row) -> str:
    told = dict.fromkeys(f"{e['subtype'].lower()}{' ⛨' if e['masking'] else ''} by {_by(e)}" for e in row["edges"])
    return ", ".join(told)


def _by(row: Row) -> str:
    return str((row.get("job") or {}).get("name", "?"))


def _changed(row: Row) -> str:
    if row["kind"] != "edge":
        return str(row["label"])
    return f"{row['source']['label']} → {row['target']['label']}"


def _how(edge: Row) -> str:
    return str(edge["description"] or edge["subtype"].lower()) + (" ⛨" if edge["masking"] else "")


def _changed_how(row: Row) -> str:
    if row["kind"] != "edge":
        return ""
    return f"{_how(row['before'])} ⇒ {_how(row['after'])}" if "before" in row else _how(row)


def _toward(side: str) -> Cell:
    return lambda row: ", ".join(f"{edge['target']['label']}: {_how(edge)}" for edge in row[side])


def _read(row: Row) -> str:
    return "never" if row["never"] else as_text(row["last_read"])


_COLUMN: tuple[tuple[str, Cell], ...] = (
    ("column", _get("label")),
    ("type", _get("type")),
    ("layer", _get("layer")),
    ("tags", _get("tags")),
    ("up", _get("up")),
    ("down", _get("down")),
)
_JOB: tuple[tuple[str, Cell], ...] = (
    ("job", _get("name")),
    ("last run", _get("last_state")),
    ("last success", _get("last_success")),
    ("changed", _get("changed_at")),
    ("error", _get("last_error")),
)
_DATASET: tuple[tuple[str, Cell], ...] = (
    ("dataset", _get("label")),
    ("kind", _get("kind")),
    ("layer", _get("layer")),
    ("owner", _get("owner")),
    ("columns", _get("columns")),
)
_HOP: tuple[str, Cell] = ("hop", _get("distance"))
_INDIRECT: tuple[str, Cell] = ("", lambda row: "indirect" if row.get("relation") == "indirect" else "")

# question (and section, where it is not the question's own) → the columns of its table: header, what it shows of a row
TABLES: dict[str, tuple[tuple[str, Cell], ...]] = {
    "find": (("column", _get("label")), ("match", _get("match")), *_COLUMN[1:]),
    "columns": (
        _HOP,
        ("column", _get("label")),
        ("how", _edge_kind),
        ("expression", _get("via.description")),
        ("job", _get("via.job.name")),
        ("last run", _get("via.last_state")),
        _INDIRECT,
        ("", _flag("masked", "masked")),
    ),
    "datasets": (_HOP, *_DATASET, _INDIRECT),
    "jobs": (_HOP, *_JOB, ("flags", _get("flags"))),
    "paths": (
        ("steps", _get("length")),
        ("path", _path),
        ("how", _steps),
        _INDIRECT,
        ("", _flag("masked", "masked")),
    ),
    "impact": (
        _HOP,
        ("column", _get("label")),
        ("use", _get("kinds")),
        ("expression", _get("via.description")),
        ("job", _get("via.job.name")),
        _INDIRECT,
    ),
    "impact.jobs": (_HOP, ("job", _get("name")), ("use", _get("kinds")), ("", _flag("breaks", "breaks"))),
    "impact.readers": (
        ("column", _get("column")),
        ("read by", _get("job.name")),
        ("use", _get("use")),
        ("last read", _get("last_read")),
        ("", _flag("live", "live")),
    ),
    "pii": (
        ("verdict", _get("verdict")),
        ("column", _get("label")),
        _HOP,
        ("from", _get("source.label")),
        ("masked at hop", _get("hop")),
        ("by", _get("job.name")),
        ("exit", _get("exit")),
        ("", _flag("violation", "violation")),
    ),
    "pii.exits": (
        ("exit", _get("label")),
        ("kind", _get("kind")),
        ("clear", _get("clear")),
        ("masked", _get("masked")),
        ("indirect", _get("indirect")),
    ),
    "droppable": (
        ("column", _get("label")),
        ("droppable", _get("verdict")),
        ("why", _get("why")),
        ("last read", _get("last_read")),
    ),
    "unused": (
        ("column", _get("label")),
        ("last write", _get("last_write")),
        ("last read", _read),
        ("confidence", _get("confidence")),
        ("why", lambda row: row["why"] if row["confidence"] == "low" else ""),
    ),
    "writers": (
        ("column", _get("label")),
        ("job", _get("job.name")),
        ("definition", _get("definition")),
        ("last success", _get("last_success")),
        ("last run", _get("last_state")),
        ("", _flag("conflict", "conflict")),
    ),
    "compare": (
        ("shared column", _get("column.label")),
        ("toward the first", _toward("a")),
        ("toward the second", _toward("b")),
        ("", _flag("differs", "differs")),
    ),
    "diff": (
        ("change", _get("change")),
        ("what", _get("kind")),
        ("where", _changed),
        ("how", _changed_how),
        ("job", _get("job.name")),
    ),
    "coverage": (
        ("gap", _get("kind")),
        ("job", _get("job.name")),
        ("dataset", _get("dataset.label")),
        ("layer", _get("layer")),
        ("owner", _get("owner")),
        ("detail", _get("detail")),
        ("last seen", _get("last_seen")),
    ),
    "roots": _COLUMN,
    "leaves": _COLUMN,
    "hubs": _COLUMN,
    "dataset": _COLUMN,
    "runs": (
        ("run", _get("run_id")),
        ("job", _get("job.name")),
        ("state", _get("state")),
        ("started", _get("started")),
        ("ended", _get("ended")),
        ("error", _get("error")),
    ),
    "quarantine": (
        ("reason", _get("reason")),
        ("file", _get("file")),
        ("position", _get("position")),
        ("line", lambda row: str(row.get("line", ""))[:120]),
    ),
}
# question → further sections that its text shows below the rows
FURTHER: dict[str, tuple[str, ...]] = {"impact": ("jobs", "readers"), "pii": ("exits",)}
_RIGHT = ("hop", "up", "down", "steps", "columns", "clear", "masked", "indirect", "masked at hop", "position")


def table_rows(answer: Answer) -> tuple[list[str], list[list[str]]]:
    """Headers and cells of an answer's main rows; columns that are empty throughout are dropped."""
    columns = TABLES.get(answer.question) or TABLES.get(answer.main) or _plain_columns(answer.main_rows)
    return _cells(columns, with_edges(answer))


def further_rows(answer: Answer) -> list[tuple[list[str], list[list[str]]]]:
    """The tables of the further sections, those that have rows."""
    out = []
    for section in FURTHER.get(answer.question, ()):
        rows = answer.sections.get(section) or []
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
    from rich.text import Text

    style = "bold" if answer.holds else "bold red"
    console.print(Text(f"{answer.verdict}; as of {answer.as_of}", style=style), soft_wrap=True)
    for headers, cells in (table_rows(answer), *further_rows(answer)):
        if cells:
            console.print(_table(headers, cells))
    for note in notes(answer):
        console.print(Text(note, style="yellow"), soft_wrap=True)


def _table(headers: list[str], cells: list[list[str]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim", show_edge=False)
    for header in headers:
        table.add_column(header, justify="right" if header in _RIGHT else "left", overflow="fold")
    for line in cells:
        table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in line))
    return table


# words that carry a colour; the word itself says the same without it
STYLES = {
    "clear": "red", "masked": "green", "indirect": "yellow", "violation": "bold red", "FAIL": "red", "ABORT": "red",
    "no": "red", "yes": "green", "unknown": "yellow", "added": "green", "removed": "red", "changed": "yellow",
    "breaks": "bold red", "conflict": "bold red", "low": "yellow",
}  # fmt: skip


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
    out = [f"**{_md(answer.verdict)}**; as of {answer.as_of}", ""]
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
