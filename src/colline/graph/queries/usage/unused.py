"""`droppable` and `unused`: whether columns can be dropped, and which ones nobody reads."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from colline.flat.integer_arrays import UNKNOWN, distinct
from colline.graph.answer import Page, count_of, show_duration
from colline.graph.queries.inventory.coverage_gaps import REASONS, unknown_rows
from colline.graph.queries.usage.evidence import collect_evidence, confidences
from colline.graph.queries.usage.readers import (
    OUTSIDE_READERS,
    ReadWindow,
    deriving_jobs,
    hiding_gaps,
    is_read,
    last_reads,
    query_readers,
    retired_jobs,
    with_nested_fields,
)
from colline.graph.results import DroppableAnswer, UnusedAnswer
from colline.graph.rows import ColumnRow, Unknown
from colline.graph.traversal.csr import Nodes
from colline.graph.traversal.records import View
from colline.graph.traversal.times import time_or_none
from colline.graph.usage_rows import Confidence, DroppableRow, Evidence, Reader, UnusedRow

MAX_UNKNOWN_ROWS = 20
VERDICTS = ("yes", "no", "unknown")


def droppable_rows(view: View, columns: Nodes, window: ReadWindow) -> list[DroppableRow]:
    """The verdict of each column."""
    homes = view.arrays["node.dataset"].take(columns).tolist()
    hidden = {place: _hidden_readers(view, place, window.at) for place in set(homes)}
    columns_with_homes = zip(view.columns(columns, window.at), columns.tolist(), homes, strict=True)
    sure = confidences(view, columns, window)
    return [
        _droppable_row(view, row, node, window, doubts=(hidden[home], confidence))
        for (row, node, home), confidence in zip(columns_with_homes, sure, strict=True)
    ]


def droppable(view: View, columns: Nodes, page: Page, window: ReadWindow) -> DroppableAnswer:
    """One row for each column: yes, no or unknown, and why."""
    rows = droppable_rows(view, columns, window)
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in VERDICTS}
    unknown = dict.fromkeys(gap for row in rows if row.verdict == "unknown" for gap in row.gaps)
    return DroppableAnswer(
        verdict=_verdict(rows, counts),
        of=tuple(view.ref(node) for node in columns.tolist()),
        totals={"columns": len(rows), **counts},
        evidence=collect_evidence(view, window),
        rows=rows[page.rows],
        unknown=tuple(unknown)[:MAX_UNKNOWN_ROWS],
        holds=counts["yes"] == len(rows),
        **page.answer_fields(len(rows), view.as_of(window.at)),
    )


def _verdict(rows: list[DroppableRow], counts: dict[str, int]) -> str:
    sure = {row.confidence for row in rows if row.verdict == "yes"}
    confidence = f", with {'low' if 'low' in sure else 'medium'} confidence" if sure - {"high"} else ""
    if len(rows) == 1:
        return f"{rows[0].verdict}{confidence}: {rows[0].label} {rows[0].why}"
    total = count_of(len(rows), "column")
    return f"{counts['yes']} of {total} can be dropped{confidence}, {counts['no']} cannot, {counts['unknown']} unknown"


def _droppable_row(
    view: View, row: ColumnRow, node: int, window: ReadWindow, *, doubts: tuple[list[Unknown], Confidence]
) -> DroppableRow:
    gaps, confidence = doubts
    family = with_nested_fields(view, node)
    derived, left_out = deriving_jobs(view, family, window.at)
    known = {_job_name(reader) for reader in derived}
    reads = query_readers(view, family, window.at, window.start)
    other = [reader for reader in reads if reader.kind == "query" or _job_name(reader) not in known]
    live = derived + [reader for reader in other if reader.live]
    retired = [reader for reader in reads if not reader.live and _job_name(reader) not in known]
    retired += retired_jobs(view, family, known | {_job_name(reader) for reader in retired})
    last_read = max((reader.last_read for reader in reads + derived + retired if reader.last_read), default=None)
    return DroppableRow.extend(
        row,
        verdict="no" if live else "unknown" if gaps else "yes",
        confidence="high" if live else "unknown" if gaps else confidence,
        why=_reason(live, retired, gaps, last_read),
        readers=live,
        readers_left_out=left_out,
        retired=retired,
        last_read=last_read,
        gaps=gaps,
    )


def _job_name(reader: Reader) -> str | None:
    return reader.job.name if reader.job else None


def _reason(live: list[Reader], retired: list[Reader], gaps: list[Unknown], last_read: str | None) -> str:
    if live:
        jobs = list(dict.fromkeys(_job_name(reader) or "?" for reader in live))
        uses = ", ".join(sorted({reader.use for reader in live}))
        more = f" and {len(jobs) - 3} more" if len(jobs) > 3 else ""
        return f"is read by {', '.join(jobs[:3])}{more} ({uses})"
    if gaps:
        return f"has no known reader, but {gaps[0].what}: {gaps[0].why}"
    if retired:
        return f"has no live reader; {count_of(len(retired), 'retired one')}, last read {last_read or 'unknown'}"
    return "was never read"


def _hidden_readers(view: View, dataset: int, at: int | None) -> list[Unknown]:
    """Why a dataset may have readers that are not recorded."""
    rows = list(unknown_rows(view, hiding_gaps(view, dataset, at)))
    outside = OUTSIDE_READERS.get(view.text("dataset.kind", dataset) or "")
    return [*rows, Unknown(view.names.labels[dataset], outside)] if outside else rows


def unused(view: View, nodes: Nodes, page: Page, window: ReadWindow) -> UnusedAnswer:
    """Columns without a live reader, with the last write and read, and the confidence of the verdict."""
    idle = nodes[~is_read(view, nodes, window)]
    rows = unused_rows(view, idle[page.rows], window)
    evidence = collect_evidence(view, window)
    note = confidence_note([row.confidence for row in rows], evidence)
    return UnusedAnswer(
        verdict=f"nobody reads {len(idle):,} of {count_of(len(nodes), 'column')}{note}",
        totals={"columns": len(idle), "of": len(nodes)},
        evidence=evidence,
        rows=rows,
        **page.answer_fields(len(idle), view.as_of(window.at)),
    )


def unused_rows(view: View, nodes: Nodes, window: ReadWindow) -> list[UnusedRow]:
    """Columns without a live reader."""
    homes = view.arrays["node.dataset"].take(nodes)
    doubts = {place: _doubt(view, place, window.at) for place in distinct(homes).tolist()}
    sure = confidences(view, nodes, window)
    facts = zip(view.columns(nodes, window.at), homes.tolist(), last_reads(view, nodes).tolist(), sure, strict=True)
    return [
        UnusedRow.extend(
            row,
            last_write=view.time_of("dataset.last_written", home),
            last_read=time_or_none(read),
            never=read == UNKNOWN,
            confidence=_lower_confidence(doubts[home], confidence),
            why=_unused_reason(doubts[home], confidence),
        )
        for row, home, read, confidence in facts
    ]


class _Doubt(NamedTuple):
    """Why a dataset may have readers that are not recorded, and whether a job is known to have run unobserved."""

    why: str
    is_unknown: bool


def _doubt(view: View, dataset: int, at: int | None) -> _Doubt | None:
    """The most important reason why a dataset may have readers that are not recorded."""
    kinds = [view.text("gap.kind", gap) or "" for gap in hiding_gaps(view, dataset, at)]
    if kinds:
        kind = "run_without_events" if "run_without_events" in kinds else kinds[0]
        return _Doubt(REASONS.get(kind, "a gap in coverage"), kind == "run_without_events")
    outside = OUTSIDE_READERS.get(view.text("dataset.kind", dataset) or "")
    return _Doubt(outside, False) if outside else None


def _lower_confidence(doubt: _Doubt | None, confidence: Confidence) -> Confidence:
    """The confidence in view of a doubt."""
    if doubt is None:
        return confidence
    return "unknown" if doubt.is_unknown else "low"


def _unused_reason(doubt: _Doubt | None, confidence: Confidence) -> str:
    if doubt is not None:
        return doubt.why
    return (
        "no known reader, and no gap in coverage could hide one"
        if confidence == "high"
        else "observed for a short time"
    )


def confidence_note(found: list[Confidence], evidence: Evidence) -> str:
    """How sure the verdict about some rows is, if not very sure."""
    counts = Counter(found)
    if counts["unknown"]:
        return f"; unknown for {counts['unknown']:,} of those shown: a job ran without sending events"
    unsure = counts["low"] + counts["medium"]
    period = show_duration(evidence.seconds)
    return f"; not certain for {unsure:,} of those shown, with {period} of recorded reads" if unsure else ""
