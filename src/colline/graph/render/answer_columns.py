"""The columns of the tables that show answers, by question or by question and section."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec import UNSET

from colline.graph.answer import Answer, show_duration
from colline.graph.difference_rows import EdgeChange, EdgeRevision, OutgoingEdge
from colline.graph.reach_rows import PathRow, ReachedColumn
from colline.graph.results import ImpactAnswer, WalkAnswer
from colline.graph.rows import EdgeRow, Row
from colline.terminal_text import escape_control_characters

Cell = Callable[[Any], object]  # the value that a column shows of a row
Columns = tuple[tuple[str, Cell], ...]  # headers and cells
_MICROSECONDS = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z")


class Hop(NamedTuple):
    """A reached column with the edge that leads to it."""

    column: ReachedColumn
    via: EdgeRow | None


def rows_with_edges(answer: Answer) -> list[Row] | list[Hop]:
    """The rows of an answer; those of a traversal by column with an edge that leads one step nearer."""
    if not isinstance(answer, WalkAnswer | ImpactAnswer) or answer.main != "columns":
        return answer.main_rows
    upstream = answer.question == "upstream"
    distance = {row.id: row.distance for row in answer.columns} | {row.id: 0 for row in answer.of}
    via: dict[int, EdgeRow] = {}
    for edge in answer.edges:
        farther, nearer = (edge.from_, edge.to) if upstream else (edge.to, edge.from_)
        if distance.get(nearer, -1) + 1 == distance.get(farther):
            known = via.get(farther)
            if known is None or (edge.type == "DIRECT" != known.type):
                via[farther] = edge
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


def _subtype(edge: EdgeRow) -> str:
    return edge.subtype.lower() + (" (masked)" if edge.masking else "")


def _transformation(edge: EdgeRow) -> str:
    return (edge.description or edge.subtype.lower()) + (" (masked)" if edge.masking else "")


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


def _divergent_edges(edges: list[OutgoingEdge]) -> str:
    return ", ".join(f"{edge.target.label}: {_transformation(edge)}" for edge in edges)


_COMPUTED: dict[str, Cell] = {
    "subtype": lambda hop: _subtype(hop.via) if hop.via else "",
    "indirect": lambda row: "indirect" if (row.column if isinstance(row, Hop) else row).relation == "indirect" else "",
    "path": lambda row: " → ".join(column.label for column in row.columns),
    "path_steps": _path_steps,
    "through": lambda row: " → ".join(row.through),
    "last_read": lambda row: "never" if row.never else row.last_read,
    "doubt": lambda row: row.why if row.confidence != "high" else "",
    "toward_a": lambda row: _divergent_edges(row.a),
    "toward_b": lambda row: _divergent_edges(row.b),
    "changed_object": _changed_object,
    "changed_transformation": _changed_transformation,
    "gap": lambda row: row.kind.replace("_", " "),
    "duration": lambda row: show_duration(row.seconds),
    "last_error": lambda row: first_line(row.last_error),
    "error": lambda row: first_line(row.error),
    "line": lambda row: (row.line or "")[:120],
}


def parse_columns(text: str) -> Columns:
    """The columns of a table, from words such as `last_seen`, `job=job.name`, `path=@path` and `!masked`.

    A word is the header and the path of the value, which are the same if there is one name. `@` refers to a computed
    value, and `!column.masked` has the header `masked`.
    """
    return tuple(map(_parse_column, text.split()))


def _parse_column(word: str) -> tuple[str, Cell]:
    if word.startswith("!"):
        return word.rpartition(".")[2].lstrip("!"), value_at(word[1:])
    header, _, path = word.partition("=")
    path = path or header
    return header.replace("_", " "), _COMPUTED[path[1:]] if path.startswith("@") else value_at(path)


_COLUMN = "column=label type layer tags up down"
_DATASETS = "hop=distance table=label kind layer owner columns"
_REACHED_JOBS = "hop=distance job=name last_run=last_state last_success changed=changed_at error=@last_error flags"
_JOBS = "job=name last_run=last_state started=last_started owner runs error=@last_error"
_TABLES = "table=label kind layer owner columns up=upstream down=downstream last_written last_read"
_NEIGHBOURS = "layer columns jobs relation=@indirect"
_RUNS = "started state duration=@duration error=@error run=run_id"
_REACHED = "hop=column.distance column=column.label"
_VIA = "expression=via.description job=via.job.name"
# by question, or by question and section
TABLES = {
    "find": "column=label match type layer tags up down decided_by=up_conditions decides=down_conditions",
    "columns": _COLUMN,
    "show.columns": "column=field type tags up down decided_by=up_conditions decides=down_conditions description",
    "show.runs": _RUNS,
    "tables": _TABLES,
    "upstream": f"{_REACHED} how=@subtype {_VIA} last_run=via.last_state relation=@indirect !column.masked",
    "upstream.datasets": f"{_DATASETS} relation=@indirect",
    "upstream.jobs": _REACHED_JOBS,
    "jobs": _JOBS,
    "paths": "steps=length path=@path how=@path_steps relation=@indirect !masked",
    "impact": f"{_REACHED} use=column.kinds {_VIA} relation=@indirect",
    "impact.datasets": _DATASETS,
    "impact.jobs": "job=name owner !breaks hop=distance use=kinds last_run=last_state",
    "pii.tables": "table=label kind layer clear masked indirect",
    "droppable.table": "table=label droppable=verdict confidence columns why read_by=readers last_read",
    "unused.table": "table=label columns last_written last_read confidence why",
    "pii": "verdict column=label hop=distance from=source.label through=@through masked_at_hop=hop by=job.name exit"
    " !violation",
    "droppable": "column=label droppable=verdict confidence why last_read",
    "unused": "column=label last_write last_read=@last_read confidence why=@doubt",
    "writers": "column=label job=job.name owner=job.owner definition last_success last_run=last_state !conflict",
    "compare": "shared_column=column.label toward_the_first=@toward_a toward_the_second=@toward_b !differs",
    "diff": "change what=kind where=@changed_object how=@changed_transformation job=job.name",
    "overview": "layer datasets columns tagged",
    "coverage": "gap=@gap job=job.name dataset=dataset.label layer owner detail last_seen",
    "runs": "job=job.name state started duration=@duration error=@error run=run_id",
    "quarantine": "reason file position line=@line",
}
_FLAGGED_JOBS = "job_that_needs_attention=name why=flags lineage_changed=changed_at last_success error=@last_error"
# question → sections below the rows
FURTHER_TABLES = {
    "find": {"tables": _TABLES, "jobs": _JOBS},
    "show": {
        "upstream": f"built_on=label {_NEIGHBOURS}",
        "downstream": f"built_on_it=label {_NEIGHBOURS}",
        "writers": "written_by=name owner last_run=last_state last_success",
        "readers": "read_by=name uses columns last_read !live",
        "schemas": "schema_since=first_seen until=last_seen columns added removed changed",
        "inputs": "reads=label layer columns last_written",
        "outputs": "writes=label layer columns last_written",
    },
    "upstream": {"jobs": _FLAGGED_JOBS},
    "downstream": {"jobs": _FLAGGED_JOBS},
    "impact": {
        "jobs": "job=name owner !breaks hop=distance use=kinds last_run=last_state",
        "readers": "query=job.name owner !live column use last_read",
    },
    "pii": {"exits": "exit=label kind clear masked indirect"},
}
RIGHT_ALIGNED = (
    "hop",
    "up",
    "down",
    "decided by",
    "decides",
    "steps",
    "columns",
    "runs",
    "duration",
    "clear",
    "masked",
    "indirect",
    "masked at hop",
    "position",
)


def columns_of(answer: Answer) -> Columns:
    """The columns of the table of an answer's rows."""
    question = "upstream" if answer.question == "downstream" else answer.question
    grain = getattr(answer, "grain", "")
    found = TABLES.get(f"{question}.{answer.main}") or TABLES.get(f"{question}.{grain}") or TABLES[question]
    return parse_columns(found)


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
