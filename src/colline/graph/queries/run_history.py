"""Runs and quarantined lines, read from the lake's own tables when asked: history is not part of the snapshot.

Arrow is imported when one of them is asked for: no other question needs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from colline.graph.answer import Answer, Page, Row, counted
from colline.graph.queries.catalog import listed, plain_rows
from colline.graph.traversal.records import View

_RUNS = (
    "run_id", "job_namespace", "job_name", "state", "started_at", "ended_at", "last_event",
    "parent_run", "streaming", "integration", "owner", "error",
)  # fmt: skip
_QUARANTINE = ("reason", "detail", "line", "file", "position", "received_at", "quarantined_at", "replayed_at")


@dataclass(frozen=True)
class Runs:
    """Which runs are wanted."""

    job: str | None = None
    namespace: str | None = None
    state: str | None = None
    since: int | None = None


def runs(view: View, lake: Path, page: Page, wanted: Runs) -> Answer:
    """Runs newest first."""
    from colline.lake import table_reader, tables

    table = table_reader.scan(lake, tables.RUNS, columns=_RUNS, filters=_filter(wanted))
    if table is None:
        return listed(view, "runs", [], page, "no run is known")
    table = table.sort_by([("started_at", "descending"), ("run_id", "ascending")])
    rows = [_run(row) for row in _page_of(table, page)]
    return _listed(view, "runs", table.num_rows, rows, page, counted(table.num_rows, "run"))


def _filter(wanted: Runs) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    from colline.lake.table_reader import TIME

    tests = []
    for column, value in (("job_name", wanted.job), ("job_namespace", wanted.namespace), ("state", wanted.state)):
        if value is not None:
            tests.append(pc.field(column) == value)
    if wanted.since is not None:
        tests.append(pc.field("started_at") >= pa.scalar(wanted.since, TIME))
    out = None
    for test in tests:
        out = test if out is None else out & test
    return out


def _page_of(table: Any, page: Page) -> list[Row]:
    """The rows of one page, so that a long history is not turned into rows to show a few."""
    return plain_rows(table.slice(page.offset, page.limit))


def _run(row: Row) -> Row:
    job = {"namespace": row.pop("job_namespace", None), "name": row.pop("job_name", None)}
    times = {"started": row.pop("started_at", None), "ended": row.pop("ended_at", None)}
    return {"run_id": row.pop("run_id", None), "job": job, "state": row.pop("state", None), **times, **row}


def quarantine(view: View, lake: Path, page: Page, reason: str | None) -> Answer:
    """Lines set aside, newest first."""
    import pyarrow.compute as pc

    from colline.lake import table_reader, tables

    chosen = None if reason is None else pc.field("reason") == reason
    table = table_reader.scan(lake, tables.QUARANTINE, columns=_QUARANTINE, filters=chosen)
    if table is None or not table.num_rows:
        return listed(view, "quarantine", [], page, "no line is in quarantine")
    newest = "quarantined_at" if "quarantined_at" in table.schema.names else "position"
    table = table.sort_by([(newest, "descending"), ("file", "ascending"), ("position", "ascending")])
    word = counted(table.num_rows, "line")
    return _listed(view, "quarantine", table.num_rows, _page_of(table, page), page, f"{word} in quarantine")


def _listed(view: View, question: str, total: int, rows: list[Row], page: Page, verdict: str) -> Answer:
    left_out, cursor = page.next(total, view.version)
    return Answer(
        question=question,
        verdict=verdict,
        as_of=view.as_of(None),
        totals={"rows": total},
        sections={"rows": rows},
        left_out=left_out,
        cursor=cursor,
        snapshot=view.version,
        main="rows",
    )
