"""What a table shows of an answer's rows, written once: by question, or by question and section."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from colline.graph.answer import Row

Cell = Callable[[Row], Any]
_MICROS = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z")


def value_at(path: str) -> Cell:
    """The cell that shows what lies at a dotted path of a row."""

    def cell(row: Row) -> Any:
        value: Any = row
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        return value

    return cell


def first_line(text: str | None) -> str:
    """The line of an error that says what happened; `--json` has all of it."""
    lines = (text or "").strip().splitlines()
    return lines[0] + (" …" if len(lines) > 1 else "") if lines else ""


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
    ("column", value_at("label")),
    ("type", value_at("type")),
    ("layer", value_at("layer")),
    ("tags", value_at("tags")),
    ("up", value_at("up")),
    ("down", value_at("down")),
)
_JOB: tuple[tuple[str, Cell], ...] = (
    ("job", value_at("name")),
    ("last run", value_at("last_state")),
    ("last success", value_at("last_success")),
    ("changed", value_at("changed_at")),
    ("error", lambda row: first_line(row.get("last_error"))),
)
_DATASET: tuple[tuple[str, Cell], ...] = (
    ("dataset", value_at("label")),
    ("kind", value_at("kind")),
    ("layer", value_at("layer")),
    ("owner", value_at("owner")),
    ("columns", value_at("columns")),
)
_LOOK: tuple[tuple[str, Cell], ...] = (
    ("job that needs a look", value_at("name")),
    ("why", value_at("flags")),
    ("lineage changed", value_at("changed_at")),
    ("last success", value_at("last_success")),
    ("error", lambda row: first_line(row.get("last_error"))),
)
_HOP: tuple[str, Cell] = ("hop", value_at("distance"))
_INDIRECT: tuple[str, Cell] = ("", lambda row: "indirect" if row.get("relation") == "indirect" else "")

# question (and section, where it is not the question's own) → the columns of its table: header, what it shows of a row
TABLES: dict[str, tuple[tuple[str, Cell], ...]] = {
    "find": (("column", value_at("label")), ("match", value_at("match")), *_COLUMN[1:]),
    "columns": (
        _HOP,
        ("column", value_at("label")),
        ("how", _edge_kind),
        ("expression", value_at("via.description")),
        ("job", value_at("via.job.name")),
        ("last run", value_at("via.last_state")),
        _INDIRECT,
        ("", _flag("masked", "masked")),
    ),
    "datasets": (_HOP, *_DATASET, _INDIRECT),
    "jobs": (_HOP, *_JOB, ("flags", value_at("flags"))),
    "upstream.jobs": _LOOK,
    "downstream.jobs": _LOOK,
    "paths": (
        ("steps", value_at("length")),
        ("path", _path),
        ("how", _steps),
        _INDIRECT,
        ("", _flag("masked", "masked")),
    ),
    "impact": (
        _HOP,
        ("column", value_at("label")),
        ("use", value_at("kinds")),
        ("expression", value_at("via.description")),
        ("job", value_at("via.job.name")),
        _INDIRECT,
    ),
    "impact.jobs": (_HOP, ("job", value_at("name")), ("use", value_at("kinds")), ("", _flag("breaks", "breaks"))),
    "impact.readers": (
        ("column", value_at("column")),
        ("read by", value_at("job.name")),
        ("use", value_at("use")),
        ("last read", value_at("last_read")),
        ("", _flag("live", "live")),
    ),
    "pii": (
        ("verdict", value_at("verdict")),
        ("column", value_at("label")),
        _HOP,
        ("from", value_at("source.label")),
        ("through", lambda row: " → ".join(row["through"])),
        ("masked at hop", value_at("hop")),
        ("by", value_at("job.name")),
        ("exit", value_at("exit")),
        ("", _flag("violation", "violation")),
    ),
    "pii.exits": (
        ("exit", value_at("label")),
        ("kind", value_at("kind")),
        ("clear", value_at("clear")),
        ("masked", value_at("masked")),
        ("indirect", value_at("indirect")),
    ),
    "droppable": (
        ("column", value_at("label")),
        ("droppable", value_at("verdict")),
        ("why", value_at("why")),
        ("last read", value_at("last_read")),
    ),
    "unused": (
        ("column", value_at("label")),
        ("last write", value_at("last_write")),
        ("last read", _read),
        ("confidence", value_at("confidence")),
        ("why", lambda row: row["why"] if row["confidence"] == "low" else ""),
    ),
    "writers": (
        ("column", value_at("label")),
        ("job", value_at("job.name")),
        ("definition", value_at("definition")),
        ("last success", value_at("last_success")),
        ("last run", value_at("last_state")),
        ("", _flag("conflict", "conflict")),
    ),
    "compare": (
        ("shared column", value_at("column.label")),
        ("toward the first", _toward("a")),
        ("toward the second", _toward("b")),
        ("", _flag("differs", "differs")),
    ),
    "diff": (
        ("change", value_at("change")),
        ("what", value_at("kind")),
        ("where", _changed),
        ("how", _changed_how),
        ("job", value_at("job.name")),
    ),
    "coverage": (
        ("gap", lambda row: (row["kind"] or "").replace("_", " ")),
        ("job", value_at("job.name")),
        ("dataset", value_at("dataset.label")),
        ("layer", value_at("layer")),
        ("owner", value_at("owner")),
        ("detail", value_at("detail")),
        ("last seen", value_at("last_seen")),
    ),
    "roots": _COLUMN,
    "leaves": _COLUMN,
    "hubs": _COLUMN,
    "dataset": _COLUMN,
    "runs": (
        ("run", value_at("run_id")),
        ("job", value_at("job.name")),
        ("state", value_at("state")),
        ("started", value_at("started")),
        ("ended", value_at("ended")),
        ("error", lambda row: first_line(row.get("error"))),
    ),
    "quarantine": (
        ("reason", value_at("reason")),
        ("file", value_at("file")),
        ("position", value_at("position")),
        ("line", lambda row: str(row.get("line", ""))[:120]),
    ),
}
# question → further sections that its text shows below the rows
FURTHER: dict[str, tuple[str, ...]] = {
    "impact": ("jobs", "readers"),
    "pii": ("exits",),
    "upstream": ("jobs",),
    "downstream": ("jobs",),
}
RIGHT = ("hop", "up", "down", "steps", "columns", "clear", "masked", "indirect", "masked at hop", "position")


def as_text(value: Any) -> str:
    """A cell as people read it."""
    if value is None or value is False:
        return ""
    if value is True:
        return "yes"
    if isinstance(value, (list, tuple)):
        return ", ".join(as_text(item) for item in value)
    if isinstance(value, str):
        return _MICROS.sub(r"\1Z", value)  # a table shows seconds; JSON and CSV have all of a time
    if isinstance(value, dict):
        return str(value.get("label") or value.get("name") or value)
    return str(value)
