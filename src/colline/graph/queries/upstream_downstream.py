"""`upstream` and `downstream`: what feeds a column, and what is built on it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colline.graph.answer import Page, count_of
from colline.graph.queries.inventory.coverage_gaps import gaps_reached, unknown_rows
from colline.graph.queries.reach_summary import column_names, conditions_note, depth_note, gap_note, reach_totals
from colline.graph.queries.usage.readers import query_readers
from colline.graph.queries.values_without_inputs import describe_written_value
from colline.graph.reach_rows import FlaggedJob, ReachedColumn
from colline.graph.results import WalkAnswer
from colline.graph.traversal.bfs import Reach, TraversalOptions, traverse
from colline.graph.traversal.csr import Nodes
from colline.graph.traversal.edge_selection import MAX_EDGES_PER_ROW, edge_rows, limit_edges, select_edges
from colline.graph.traversal.records import View

MAX_JOBS = 100
Flags = dict[str, NDArray[np.bool_]]  # failed, changed, stale → whether it applies to each job


def answer(view: View, origin: Nodes, options: TraversalOptions, page: Page, *, since: int | None = None) -> WalkAnswer:
    """The columns that are reached, nearest first, with their edges and jobs."""
    reach = traverse(view.arrays, origin, options)
    nodes = reach.page(page.offset, page.limit)
    max_edges = MAX_EDGES_PER_ROW * max(len(nodes), 1) if page.limit else None
    edges, edges_left_out = limit_edges(select_edges(reach, nodes, is_first_page=page.offset == 0), max_edges)
    gaps, totals, flags = gaps_reached(view, reach), reach_totals(reach), job_flags(view, reach.jobs, since)
    return WalkAnswer(
        question="upstream" if options.upstream else "downstream",
        verdict=_verdict(view, reach, flags, totals, gaps=len(gaps)),
        of=view.origin_rows(origin, options.at),
        totals=totals,
        columns=reached_columns(view, reach, nodes),
        edges=edge_rows(view, edges),
        edges_left_out=edges_left_out,
        jobs=_job_rows(view, reach.jobs, flags),
        unknown=unknown_rows(view, gaps),
        **page.answer_fields(reach.total, view.as_of(options.at)),
    )


def reached_columns(view: View, reach: Reach, nodes: Nodes) -> list[ReachedColumn]:
    """Columns with their distance, whether a direct path leads there, and whether every path is masked."""
    distances = (reach.level_of(nodes) - 1).tolist()
    facts = zip(distances, reach.is_direct(nodes).tolist(), reach.is_masked(nodes).tolist(), strict=True)
    return [
        ReachedColumn.extend(row, distance=distance, relation="direct" if is_direct else "indirect", masked=is_masked)
        for row, (distance, is_direct, is_masked) in zip(view.columns(nodes, reach.options.at), facts, strict=True)
    ]


def job_flags(view: View, jobs: Nodes, since: int | None) -> Flags:
    """Jobs that need attention.

    `failed`: the last run failed, or one since a time. `changed`: the lineage changed since then. `stale`: no success
    since then.
    """
    arrays = view.arrays
    failed = arrays["job.failed"][jobs]
    if since is None:
        none = np.zeros(len(jobs), dtype=np.bool_)
        return {"failed": failed, "changed": none, "stale": none}
    changed, first = arrays["job.changed_at"][jobs], arrays["job.first_seen"][jobs]
    return {
        "failed": failed | (arrays["job.last_failure"][jobs] >= since),
        "changed": (changed >= since) & (first < since),  # a new job has not changed
        "stale": arrays["job.last_success"][jobs] < since,
    }


def flag_names(flags: Flags, place: int) -> list[str]:
    """The flags of one job."""
    return [name for name, applies in flags.items() if applies[place]]


def _job_rows(view: View, jobs: Nodes, flags: Flags) -> list[FlaggedJob]:
    """Flagged jobs first."""
    order = np.lexsort((jobs, ~np.logical_or.reduce(list(flags.values()))))[:MAX_JOBS].tolist()
    return [FlaggedJob.extend(view.job(int(jobs[place])), flags=flag_names(flags, place)) for place in order]


def _verdict(view: View, reach: Reach, flags: Flags, totals: dict[str, int], *, gaps: int) -> str:
    """One sentence: how many columns, what needs attention, what is unknown."""
    names, upstream = column_names(view, reach.origin), reach.options.upstream
    notes = [f"{count_of(n, 'job')} {name}" for name, found in flags.items() if (n := int(np.count_nonzero(found)))]
    queries = 0 if upstream else _count_live_queries(view, reach)
    notes += [f"{count_of(queries, 'live query reads', 'live queries read')} it"] if queries else []
    if not totals["columns"]:
        notes.insert(0, conditions_note(reach))
        return "; ".join(filter(None, [_empty_verdict(view, reach, bool(gaps), any(notes)), *notes]))
    one = totals["columns"] == 1
    verb = ("feeds" if one else "feed") if upstream else ("is built on" if one else "are built on")
    reached = f"{count_of(totals['columns'], 'column')} in {count_of(totals['datasets'], 'dataset')}"
    return "; ".join([f"{reached} {verb} {names}", *notes]) + depth_note(totals) + gap_note(gaps)


def _empty_verdict(view: View, reach: Reach, has_gaps: bool, is_used: bool) -> str:
    """The verdict if no column is reached."""
    names, upstream = column_names(view, reach.origin), reach.options.upstream
    if has_gaps:
        return f"unknown what {'feeds' if upstream else 'is built on'} {names}: lineage is missing"
    if upstream and len(reach.origin) == 1:
        written = describe_written_value(view, int(reach.origin[0]), reach.options.at)
        if written is not None:
            return f"no column feeds {names}: {written}"
    if is_used:
        return f"no column {'feeds' if upstream else 'takes the value of'} {names}"
    return f"nothing {'feeds' if upstream else 'is built on'} {names}"


def _count_live_queries(view: View, reach: Reach) -> int:
    """The number of recent queries that read the columns asked about."""
    readers = query_readers(view, reach.origin, reach.options.at)
    return len({reader.job for reader in readers if reader.kind == "query" and reader.live})
