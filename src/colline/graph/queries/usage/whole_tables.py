"""`droppable` and `unused` by table: a table can be dropped, or is unused, if that is true of each of its columns."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from colline.flat.integer_arrays import distinct
from colline.graph.answer import Page, count_of
from colline.graph.queries.usage.evidence import collect_evidence
from colline.graph.queries.usage.readers import ReadWindow, is_read
from colline.graph.queries.usage.unused import MAX_UNKNOWN_ROWS, VERDICTS, confidence_note, droppable_rows, unused_rows
from colline.graph.results import DroppableTablesAnswer, UnusedTablesAnswer
from colline.graph.traversal.csr import Nodes
from colline.graph.traversal.records import View
from colline.graph.usage_rows import Confidence, DroppableRow, DroppableTable, UnusedRow, UnusedTable

_WEAKEST_FIRST: tuple[Confidence, ...] = ("unknown", "low", "medium", "high")


def droppable_tables(view: View, columns: Nodes, page: Page, window: ReadWindow) -> DroppableTablesAnswer:
    """One row for each table: yes, no or unknown, and which jobs read how many of its columns."""
    homes = view.arrays["node.dataset"].take(columns)
    by_home: dict[int, list[DroppableRow]] = defaultdict(list)
    for home, row in zip(homes.tolist(), droppable_rows(view, columns, window), strict=True):
        by_home[home].append(row)
    rows = [_droppable_table(view, home, found) for home, found in by_home.items()]
    counts: Counter[str] = Counter(row.verdict for row in rows)
    gaps = dict.fromkeys(
        gap for found in by_home.values() for row in found if row.verdict == "unknown" for gap in row.gaps
    )
    return DroppableTablesAnswer(
        verdict=_verdict(rows, counts),
        totals={"tables": len(rows), **{verdict: counts[verdict] for verdict in VERDICTS}},
        evidence=collect_evidence(view, window),
        rows=rows[page.rows],
        unknown=tuple(gaps)[:MAX_UNKNOWN_ROWS],
        holds=counts["yes"] == len(rows),
        **page.answer_fields(len(rows), view.as_of(window.at)),
    )


def _droppable_table(view: View, home: int, columns: list[DroppableRow]) -> DroppableTable:
    counts = Counter(row.verdict for row in columns)
    verdict = next(each for each in ("no", "unknown", "yes") if counts[each])
    deciding = [row for row in columns if row.verdict == verdict]
    jobs = list(dict.fromkeys(reader.job for row in columns for reader in row.readers if reader.job))
    why = {
        "no": f"{counts['no']} of {count_of(len(columns), 'column')} {'is' if counts['no'] == 1 else 'are'} read",
        "unknown": deciding[0].why,
        "yes": "no column has a known reader",
    }[verdict]
    return DroppableTable.extend(
        view.dataset(home),
        verdict=verdict,
        confidence=min((row.confidence for row in deciding), key=_WEAKEST_FIRST.index),
        why=why,
        columns=len(columns),
        readers=jobs,
    )


def _verdict(rows: list[DroppableTable], counts: Counter[str]) -> str:
    if len(rows) == 1:
        [row] = rows
        sure = f", with {row.confidence} confidence" if row.verdict == "yes" and row.confidence != "high" else ""
        return f"{row.verdict}{sure}: {row.label}: {row.why}"
    total = count_of(len(rows), "table")
    return f"{counts['yes']} of {total} can be dropped, {counts['no']} cannot, {counts['unknown']} unknown"


def unused_tables(view: View, nodes: Nodes, page: Page, window: ReadWindow) -> UnusedTablesAnswer:
    """Tables without a live reader of any column."""
    homes = view.arrays["node.dataset"].take(nodes)
    read_homes = distinct(homes[is_read(view, nodes, window)])
    idle = np.setdiff1d(homes, read_homes)
    rows = [
        _unused_table(view, home, unused_rows(view, nodes[homes == home], window)) for home in idle[page.rows].tolist()
    ]
    evidence = collect_evidence(view, window)
    total = count_of(len(distinct(homes)), "table")
    return UnusedTablesAnswer(
        verdict=f"nobody reads {len(idle):,} of {total}{confidence_note([row.confidence for row in rows], evidence)}",
        totals={"tables": len(idle), "of": len(distinct(homes))},
        evidence=evidence,
        rows=rows,
        **page.answer_fields(len(idle), view.as_of(window.at)),
    )


def _unused_table(view: View, home: int, columns: list[UnusedRow]) -> UnusedTable:
    weakest = min(columns, key=lambda row: _WEAKEST_FIRST.index(row.confidence))
    return UnusedTable.extend(view.dataset(home), columns=len(columns), confidence=weakest.confidence, why=weakest.why)
