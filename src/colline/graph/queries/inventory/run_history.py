"""`runs` and `quarantine`: read from the tables of the lake, because history is not part of the snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from colline.graph.answer import Page, count_of
from colline.graph.results import QuarantineAnswer, RunsAnswer
from colline.graph.rows import QuarantineRow, RunRow
from colline.graph.traversal.records import View
from colline.graph.traversal.times import parse_time, time_or_none

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc

_RUN_COLUMNS = (
    "run_id", "job_namespace", "job_name", "state", "started_at", "ended_at", "last_event",
    "parent_run", "streaming", "integration", "owner", "error",
)  # fmt: skip


@dataclass(frozen=True)
class RunFilter:
    """Which runs are wanted."""

    job: str | None = None
    namespace: str | None = None
    state: str | None = None
    since: int | None = None


def runs(view: View, lake: Path, page: Page, wanted: RunFilter) -> RunsAnswer:
    """Runs, last started first."""
    from colline.lake.table_reader import scan
    from colline.lake.tables import RUNS

    table = scan(lake, RUNS, columns=_RUN_COLUMNS, filters=_filter(wanted))
    total, rows = 0, []
    if table is not None:
        total = table.num_rows
        table = table.sort_by([("started_at", "descending"), ("run_id", "ascending")])
        rows = [_run_row(row) for row in _page_rows(table, page)]
    return RunsAnswer(
        verdict="no known runs" if table is None else count_of(total, "run"),
        totals={"rows": total},
        rows=rows,
        **page.answer_fields(total, view.as_of(None)),
    )


def _filter(wanted: RunFilter) -> pc.Expression | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    from colline.lake.table_reader import TIME

    values = {"job_name": wanted.job, "job_namespace": wanted.namespace, "state": wanted.state}
    tests = [pc.field(column) == value for column, value in values.items() if value is not None]
    if wanted.since is not None:
        tests.append(pc.field("started_at") >= pa.scalar(wanted.since, TIME))
    out = None
    for test in tests:
        out = test if out is None else out & test
    return out


def _page_rows(table: pa.Table, page: Page) -> list[dict[str, object]]:
    """The rows of one page, with times as text."""
    rows: list[dict[str, object]] = table.slice(page.offset, page.limit).to_pylist()
    return [{key: _plain(value) for key, value in row.items()} for row in rows]


def _plain(value: object) -> object:
    return time_or_none(parse_time(value) or 0) if isinstance(value, datetime) else value


def _run_row(row: dict[str, object]) -> RunRow:
    job = {"namespace": row.get("job_namespace") or "", "name": row.get("job_name") or ""}
    times = {"started": row.get("started_at"), "ended": row.get("ended_at"), "state": row.get("state")}
    return msgspec.convert({**row, **times, "job": job}, RunRow)


def quarantine(view: View, lake: Path, page: Page, reason: str | None) -> QuarantineAnswer:
    """Lines that could not be ingested, newest first."""
    import pyarrow.compute as pc

    from colline.lake.table_reader import scan
    from colline.lake.tables import QUARANTINE

    chosen = None if reason is None else pc.field("reason") == reason
    table = scan(lake, QUARANTINE, columns=QuarantineRow.__struct_fields__, filters=chosen)
    total, rows = 0, []
    if table is not None and table.num_rows:
        total = table.num_rows
        newest = "quarantined_at" if "quarantined_at" in table.schema.names else "position"
        table = table.sort_by([(newest, "descending"), ("file", "ascending"), ("position", "ascending")])
        rows = [msgspec.convert(row, QuarantineRow) for row in _page_rows(table, page)]
    return QuarantineAnswer(
        verdict=f"{count_of(total, 'line')} in quarantine" if total else "the quarantine is empty",
        totals={"rows": total},
        rows=rows,
        **page.answer_fields(total, view.as_of(None)),
    )


def count_quarantined(lake: Path) -> int:
    """The number of lines in quarantine that were not replayed."""
    from colline.lake.table_reader import scan
    from colline.lake.tables import QUARANTINE

    found = scan(lake, QUARANTINE, columns=["reason", "replayed_at"])
    if found is None:
        return 0
    if "replayed_at" not in found.schema.names:
        return int(found.num_rows)
    return int(found.column("replayed_at").null_count)
