"""`runs` and `quarantine`: read from the tables of the lake, because history is not part of the snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from colline.graph.answer import Page, count_of
from colline.graph.inventory_rows import QuarantineRow, RunRow
from colline.graph.queries.inventory.run_statistics import written_by_run
from colline.graph.results import QuarantineAnswer, RunsAnswer
from colline.graph.rows import DatasetIdentity, JobIdentity
from colline.graph.traversal.records import View
from colline.graph.traversal.times import parse_time, time_or_none

_RUN_COLUMNS = (
    "run_id", "job_namespace", "job_name", "state", "started_at", "ended_at", "last_event",
    "parent_run", "streaming", "integration", "owner", "error", "mentions",
)  # fmt: skip


@dataclass(frozen=True)
class RunFilter:
    """Which runs are wanted."""

    run: str | None = None
    job: str | None = None
    namespace: str | None = None
    state: str | None = None
    since: int | None = None


def runs(view: View, lake: Path, page: Page, wanted: RunFilter) -> RunsAnswer:
    """Runs, last started first."""
    total, rows = read_runs(view, lake, page, wanted)
    return RunsAnswer(
        verdict=count_of(total, "run") if total else "no known run",
        totals={"rows": total},
        rows=rows,
        **page.answer_fields(total, view.as_of(None)),
    )


def read_runs(view: View, lake: Path, page: Page, wanted: RunFilter) -> tuple[int, list[RunRow]]:
    """The number of wanted runs, and those of one page, last started first."""
    from colline.lake.table_reader import count_rows, read_rows
    from colline.lake.tables import RUNS

    where = _conditions(wanted)
    total = count_rows(lake, RUNS, where)
    order = '"started_at" desc nulls last, "run_id" asc'
    found = read_rows(lake, RUNS, _RUN_COLUMNS, where=where, order_by=order, page=(page.offset, page.limit))
    if wanted.run is None:
        return total, [_run_row(view, row) for row in found]
    return total, [_opened_run(view, lake, row) for row in found]


def _conditions(wanted: RunFilter) -> list[str]:
    """The filter as SQL conditions."""
    from colline.lake.table_reader import sql_text, sql_time

    values = {"run_id": wanted.run, "job_name": wanted.job, "job_namespace": wanted.namespace, "state": wanted.state}
    tests = [f'"{column}" = {sql_text(value)}' for column, value in values.items() if value is not None]
    return tests if wanted.since is None else [*tests, f'"started_at" >= {sql_time(wanted.since)}']


def _json_value(value: Any) -> Any:
    return time_or_none(parse_time(value) or 0) if isinstance(value, datetime) else value


def _run_row(view: View, row: dict[str, Any]) -> RunRow:
    started, ended = row.get("started_at"), row.get("ended_at")
    facts = {key: _json_value(value) for key, value in row.items() if key in RunRow.__struct_fields__}
    return RunRow(
        **facts,
        job=JobIdentity(row.get("job_namespace") or "", row.get("job_name") or ""),
        started=_json_value(started),
        ended=_json_value(ended),
        seconds=(ended - started).total_seconds() if started and ended else None,
        inputs=_datasets_of_run(view, row, "I"),
        outputs=_datasets_of_run(view, row, "O"),
    )


def _opened_run(view: View, lake: Path, row: dict[str, Any]) -> RunRow:
    """A run with the statistics of what it wrote."""
    written = written_by_run(view, lake, row["run_id"], row.get("started_at"))
    return msgspec.structs.replace(_run_row(view, row), written=written)


def _datasets_of_run(view: View, row: dict[str, Any], role: str) -> list[DatasetIdentity]:
    """The datasets that the events of a run name as inputs or outputs."""
    found = {(each["namespace"], each["name"]) for each in row.get("mentions") or () if each["role"] == role}
    return [view.dataset_identity(namespace, name) for namespace, name in sorted(found)]


def quarantine(view: View, lake: Path, page: Page, reason: str | None) -> QuarantineAnswer:
    """Lines that could not be ingested, newest first."""
    from colline.lake.table_reader import count_rows, has_column, read_rows, sql_text
    from colline.lake.tables import QUARANTINE

    where = [] if reason is None else [f'"reason" = {sql_text(reason)}']
    total = count_rows(lake, QUARANTINE, where)
    newest = '"quarantined_at" desc nulls last, ' if has_column(lake, QUARANTINE, "quarantined_at") else ""
    found = read_rows(
        lake, QUARANTINE, QuarantineRow.__struct_fields__, where=where,
        order_by=f'{newest}"file" asc, "position" asc', page=(page.offset, page.limit),
    )  # fmt: skip
    rows = [msgspec.convert({key: _json_value(value) for key, value in row.items()}, QuarantineRow) for row in found]
    return QuarantineAnswer(
        verdict=f"{count_of(total, 'line')} in quarantine" if total else "the quarantine is empty",
        totals={"rows": total},
        rows=rows,
        **page.answer_fields(total, view.as_of(None)),
    )


def count_quarantined(lake: Path) -> int:
    """The number of lines in quarantine that were not replayed."""
    from colline.lake.table_reader import count_rows, has_column
    from colline.lake.tables import QUARANTINE

    is_replayable = has_column(lake, QUARANTINE, "replayed_at")
    return count_rows(lake, QUARANTINE, ['"replayed_at" is null'] if is_replayable else [])
