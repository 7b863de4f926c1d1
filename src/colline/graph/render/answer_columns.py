"""The columns of the tables that show answers, by question or by question and section."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from msgspec import UNSET

from colline.graph.answer import Answer
from colline.graph.render.escape import escape_control_characters
from colline.graph.results import ImpactAnswer, WalkAnswer
from colline.graph.rows import Divergence, EdgeChange, EdgeRevision, EdgeRow, PathRow, ReachedColumn, Row, UnusedRow

Cell = Callable[[Any], object]  # the value that a column shows of a row
Columns = tuple[tuple[str, Cell], ...]  # headers and cells
_MICROSECONDS = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z")


class Hop(NamedTuple):
    """A reached column with the edge that leads to it."""

    column: ReachedColumn
    via: EdgeRow | None


def rows_with_edges(answer: Answer) -> list[Row] | list[Hop]:
    """The rows of an answer; those of a traversal by column with an edge that leads one step nearer."""
    if not isinstance(answer, WalkAnswer | ImpactAnswer):
        return answer.main_rows
    upstream = answer.question == "upstream"
    distance = {row.id: row.distance for row in answer.columns} | {row.id: 0 for row in answer.of}
    via: dict[int, EdgeRow] = {}
    for edge in answer.edges:
        far, near = (edge.from_, edge.to) if upstream else (edge.to, edge.from_)
        if distance.get(near, -1) + 1 == distance.get(far):
            known = via.get(far)
            if known is None or (edge.type == "DIRECT" != known.type):
                via[far] = edge
    return [Hop(row, via.get(row.id)) for row in answer.columns]


def value_at(path: str) -> Cell:
    """The cell with the value at a dotted path of a row."""
    names = path.split(".")

    def cell(row: object) -> object:
        value: object = row
        for name in names:
            value = getattr(value, name, None)
        return value

    return cell


def first_line(text: str | None) -> str:
    """The first line of an error message; `--json` has all lines."""
    lines = (text or "").strip().splitlines()
    return lines[0] + (" …" if len(lines) > 1 else "") if lines else ""


def _error(path: str) -> Cell:
    return lambda row: first_line(getattr(row, path))


def _word(path: str, word: str) -> Cell:
    """The cell with a word if the value at a path is true."""
    value = value_at(path)
    return lambda row: word if value(row) is True else ""


def _indirect(path: str = "relation") -> tuple[str, Cell]:
    value = value_at(path)
    return "", lambda row: "indirect" if value(row) == "indirect" else ""


def _subtype(edge: EdgeRow) -> str:
    return edge.subtype.lower() + (" ⛨" if edge.masking else "")


def _transformation(edge: EdgeRow) -> str:
    return (edge.description or edge.subtype.lower()) + (" ⛨" if edge.masking else "")


def _path_steps(row: PathRow) -> str:
    return ", ".join(dict.fromkeys(f"{_subtype(e)} by {e.job.name if e.job else '?'}" for e in row.edges))


def _changed_object(row: Row) -> str:
    if isinstance(row, EdgeChange | EdgeRevision):
        return f"{row.source.label} → {row.target.label}"
    return str(row["label"])


def _changed_transformation(row: Row) -> str:
    if isinstance(row, EdgeRevision):
        return f"{_transformation(row.before)} ⇒ {_transformation(row.after)}"
    return _transformation(row) if isinstance(row, EdgeChange) else ""


def _toward(side: str) -> Cell:
    def cell(row: Divergence) -> str:
        edges = row.a if side == "a" else row.b
        return ", ".join(f"{edge.target.label}: {_transformation(edge)}" for edge in edges)

    return cell


def _last_read(row: UnusedRow) -> object:
    return "never" if row.never else row.last_read


def _same_names(*names: str) -> Columns:
    return tuple((name.replace("_", " "), value_at(name)) for name in names)


_COLUMN: Columns = (("column", value_at("label")), *_same_names("type", "layer", "tags", "up", "down"))
_HOP = ("hop", value_at("distance"))
_REACHED: Columns = (("hop", value_at("column.distance")), ("column", value_at("column.label")))
_VIA: Columns = (("expression", value_at("via.description")), ("job", value_at("via.job.name")))
_FLAGGED_JOB: Columns = (
    ("job that needs attention", value_at("name")),
    ("why", value_at("flags")),
    ("lineage changed", value_at("changed_at")),
    ("last success", value_at("last_success")),
    ("error", _error("last_error")),
)
_DATASETS: Columns = (
    _HOP,
    ("dataset", value_at("label")),
    *_same_names("kind", "layer", "owner", "columns"),
    _indirect(),
)
_JOBS: Columns = (
    _HOP,
    ("job", value_at("name")),
    ("last run", value_at("last_state")),
    ("last success", value_at("last_success")),
    ("changed", value_at("changed_at")),
    ("error", _error("last_error")),
    ("flags", value_at("flags")),
)

TABLES: dict[str, Columns] = {
    "find": (("column", value_at("label")), ("match", value_at("match")), *_COLUMN[1:]),
    "columns": _COLUMN,
    "dataset": _COLUMN,
    "upstream": (
        *_REACHED,
        ("how", lambda hop: _subtype(hop.via) if hop.via else ""),
        *_VIA,
        ("last run", value_at("via.last_state")),
        _indirect("column.relation"),
        ("", _word("column.masked", "masked")),
    ),
    "upstream.datasets": _DATASETS,
    "datasets": _DATASETS,
    "upstream.jobs": _JOBS,
    "jobs": _JOBS,
    "paths": (
        ("steps", value_at("length")),
        ("path", lambda row: " → ".join(column.label for column in row.columns)),
        ("how", _path_steps),
        _indirect(),
        ("", _word("masked", "masked")),
    ),
    "impact": (*_REACHED, ("use", value_at("column.kinds")), *_VIA, _indirect("column.relation")),
    "pii": (
        ("verdict", value_at("verdict")),
        ("column", value_at("label")),
        _HOP,
        ("from", value_at("source.label")),
        ("through", lambda row: " → ".join(row.through)),
        ("masked at hop", value_at("hop")),
        ("by", value_at("job.name")),
        ("exit", value_at("exit")),
        ("", _word("violation", "violation")),
    ),
    "droppable": (("column", value_at("label")), ("droppable", value_at("verdict")), *_same_names("why", "last_read")),
    "unused": (
        ("column", value_at("label")),
        ("last write", value_at("last_write")),
        ("last read", _last_read),
        ("confidence", value_at("confidence")),
        ("why", lambda row: row.why if row.confidence == "low" else ""),
    ),
    "writers": (
        ("column", value_at("label")),
        ("job", value_at("job.name")),
        ("definition", value_at("definition")),
        ("last success", value_at("last_success")),
        ("last run", value_at("last_state")),
        ("", _word("conflict", "conflict")),
    ),
    "compare": (
        ("shared column", value_at("column.label")),
        ("toward the first", _toward("a")),
        ("toward the second", _toward("b")),
        ("", _word("differs", "differs")),
    ),
    "diff": (
        ("change", value_at("change")),
        ("what", value_at("kind")),
        ("where", _changed_object),
        ("how", _changed_transformation),
        ("job", value_at("job.name")),
    ),
    "coverage": (
        ("gap", lambda row: row.kind.replace("_", " ")),
        ("job", value_at("job.name")),
        ("dataset", value_at("dataset.label")),
        *_same_names("layer", "owner", "detail", "last_seen"),
    ),
    "runs": (
        ("run", value_at("run_id")),
        ("job", value_at("job.name")),
        *_same_names("state", "started", "ended"),
        ("error", _error("error")),
    ),
    "quarantine": (*_same_names("reason", "file", "position"), ("line", lambda row: (row.line or "")[:120])),
}
# question → sections that the text shows below the rows, with the columns of their tables
FURTHER_TABLES: dict[str, dict[str, Columns]] = {
    "upstream": {"jobs": _FLAGGED_JOB},
    "downstream": {"jobs": _FLAGGED_JOB},
    "impact": {
        "jobs": (_HOP, ("job", value_at("name")), ("use", value_at("kinds")), ("", _word("breaks", "breaks"))),
        "readers": (
            ("column", value_at("column")),
            ("read by", value_at("job.name")),
            *_same_names("use", "last_read"),
            ("", _word("live", "live")),
        ),
    },
    "pii": {"exits": (("exit", value_at("label")), *_same_names("kind", "clear", "masked", "indirect"))},
}
RIGHT_ALIGNED = ("hop", "up", "down", "steps", "columns", "clear", "masked", "indirect", "masked at hop", "position")


def columns_of(answer: Answer) -> Columns:
    """The columns of the table of an answer's rows."""
    question = "upstream" if answer.question == "downstream" else answer.question
    found = TABLES.get(f"{question}.{answer.main}") or TABLES.get(question)
    return found or _all_columns(answer.main_rows)


def _all_columns(rows: Iterable[Row]) -> Columns:
    """A column for each field of the rows, except identifiers."""
    names = dict.fromkeys(name for row in rows for name in row.__struct_fields__)
    return _same_names(*(name for name in names if name not in ("id", "namespace", "name", "field")))


def cell_text(value: object) -> str:
    """A value as people read it."""
    if value is None or value is False or value is UNSET:
        return ""
    if value is True:
        return "yes"
    if isinstance(value, list | tuple):
        return ", ".join(cell_text(item) for item in value)
    if isinstance(value, str):
        return escape_control_characters(_MICROSECONDS.sub(r"\1Z", value))  # tables show seconds
    if isinstance(value, Row):
        return cell_text(getattr(value, "label", None) or getattr(value, "name", None) or str(value))
    return str(value)
