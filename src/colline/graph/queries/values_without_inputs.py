"""Columns whose value comes from no column: `count(*)`, ranks, constants, the current time. A job writes them all."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from colline.flat.integer_arrays import distinct
from colline.graph.snapshot.array_file import SUBTYPES
from colline.graph.traversal.bfs import INDIRECT
from colline.graph.traversal.csr import adjacency
from colline.graph.traversal.records import View

_COUNT_OF_ROWS = re.compile(r"count\(\s*(1|\*)\s*\)", re.IGNORECASE)
MAX_TABLES = 3
MAX_CONDITIONS = 20  # edges of a column that are searched for its expression


class _RowSources(NamedTuple):
    """The datasets that the rows of another dataset come from, and whether they are joined."""

    datasets: list[int]
    is_join: bool


def describe_written_value(view: View, node: int, at: int | None) -> str | None:
    """What a column without input columns contains, and who writes it; None if no known job writes its dataset."""
    jobs = view.writing_jobs(int(view.arrays["node.dataset"][node]), at)
    if not jobs:
        return None
    names = [ref.name for job in jobs if (ref := view.job_ref(job))]
    more = f" and {len(names) - MAX_TABLES} more" if len(names) > MAX_TABLES else ""
    return f"{describe_value(view, node, jobs, at)}, written by {', '.join(names[:MAX_TABLES])}{more}"


def describe_value(view: View, node: int, jobs: list[int], at: int | None) -> str:
    """`count of rows of silver.orders joined with silver.payments`, a constant, or the expression of the column."""
    expression = view.optional_text("node.expression", node) or _expression_of_conditions(view, node, jobs, at)
    if expression and not _COUNT_OF_ROWS.fullmatch(expression):
        return expression
    rows = _rows_of(view, _row_sources(view, int(view.arrays["node.dataset"][node]), jobs, at))
    return f"{'count' if expression else 'a constant, or a count'} of rows{rows}"


def _expression_of_conditions(view: View, node: int, jobs: list[int], at: int | None) -> str | None:
    """`rank() OVER (…)`, or `a constant chosen by (a > 1)`; None if no condition of the column itself is known."""
    found: dict[str, set[str]] = {"WINDOW": set(), "CONDITIONAL": set()}
    for edges in adjacency(view.arrays, forward=False, indirect=True, past=at is not None):
        if not edges.bits & INDIRECT:
            continue
        for row in edges.positions(np.array([node]), at)[:MAX_CONDITIONS].tolist():
            edge = view.edge(edges, row, (int(edges.other[row]), node))
            if int(edges.job[row]) in jobs and edge.description and edge.subtype in found:
                found[edge.subtype].add(edge.description)
    if found["WINDOW"]:
        return "; ".join(sorted(found["WINDOW"]))
    return f"a constant chosen by {', '.join(sorted(found['CONDITIONAL']))}" if found["CONDITIONAL"] else None


def _rows_of(view: View, sources: _RowSources) -> str:
    """` of silver.orders joined with silver.payments`; empty if the sources of the rows are not known."""
    labels = [view.names.labels[place] for place in sources.datasets]
    more = [f"{len(labels) - MAX_TABLES} more"] if len(labels) > MAX_TABLES else []
    between = " joined with " if sources.is_join else ", "
    return f" of {between.join([*labels[:MAX_TABLES], *more])}" if labels else ""


def _row_sources(view: View, dataset: int, jobs: list[int], at: int | None) -> _RowSources:
    """The datasets of the columns that decide the rows of a dataset; else those that feed its other columns."""
    arrays = view.arrays
    rows_node = int(arrays["dataset.rows"][dataset])
    nodes = np.arange(*arrays["dataset.start"][[dataset, dataset + 1]], dtype=np.int64)
    deciding, feeding, is_join = [np.empty(0, np.int64)], [np.empty(0, np.int64)], False
    for edges in adjacency(arrays, forward=False, indirect=True, past=at is not None):
        rows, owner = edges.rows(nodes, at)
        of_jobs = np.isin(edges.job.take(rows), jobs)
        rows, owner = rows[of_jobs], owner[of_jobs]
        homes = arrays["node.dataset"].take(edges.other.take(rows)).astype(np.int64)
        if edges.bits & INDIRECT:
            subtypes = arrays[f"{edges.group}.subtype"].take(edges.edges(rows))
            is_join |= bool((subtypes[owner == rows_node] == SUBTYPES.index("JOIN")).any())
            deciding.append(homes[owner == rows_node])
        else:
            feeding.append(homes)
    found = distinct(np.concatenate([*deciding, *feeding] if is_join else deciding))
    found = found if len(found) else distinct(np.concatenate(feeding))
    return _RowSources([place for place in found.tolist() if place != dataset], is_join)
