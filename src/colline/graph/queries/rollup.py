"""`upstream` and `downstream` by table or by job instead of by column."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from colline.flat.integer_arrays import distinct
from colline.graph.answer import Page, count_of
from colline.graph.queries.impact import dataset_rows
from colline.graph.queries.inventory.coverage_gaps import gaps_reached, unknown_rows
from colline.graph.queries.reach_summary import column_names, conditions_note, depth_note, gap_note, reach_totals
from colline.graph.queries.upstream_downstream import flag_names, job_flags
from colline.graph.reach_rows import JobEdge, ReachedDataset, ReachedJob, TableEdge
from colline.graph.results import JobWalkAnswer, TableWalkAnswer
from colline.graph.traversal.bfs import INDIRECT, Reach, TraversalOptions, traverse
from colline.graph.traversal.csr import Nodes, adjacency
from colline.graph.traversal.records import View


class _Steps(NamedTuple):
    """Edges that were followed: source, target and job of each, and the level of its nearer end."""

    source: Nodes
    target: Nodes
    job: Nodes
    level: Nodes
    is_indirect: bool


def by_table(view: View, origin: Nodes, options: TraversalOptions, page: Page) -> TableWalkAnswer:
    """The datasets that are reached, nearest first, and the lineage between them."""
    reach = traverse(view.arrays, origin, options)
    rows = _table_rows(view, reach)
    gaps, totals = gaps_reached(view, reach), reach_totals(reach)
    return TableWalkAnswer(
        question="upstream" if options.upstream else "downstream",
        verdict=_verdict(view, reach, len(rows), "table", totals=totals) + gap_note(len(gaps)),
        of=view.origin_rows(origin, options.at),
        totals=totals,
        datasets=rows[page.rows],
        edges=_table_edges(view, reach),
        unknown=unknown_rows(view, gaps),
        **page.answer_fields(len(rows), view.as_of(options.at)),
    )


def by_job(view: View, origin: Nodes, options: TraversalOptions, page: Page) -> JobWalkAnswer:
    """The jobs whose edges are followed, nearest first. Two jobs are connected if one reads what the other writes."""
    reach = traverse(view.arrays, origin, options)
    rows, edges = _job_rows_and_edges(view, reach)
    gaps, totals = gaps_reached(view, reach), reach_totals(reach)
    return JobWalkAnswer(
        question="upstream" if options.upstream else "downstream",
        verdict=_verdict(view, reach, len(rows), "job", totals=totals) + gap_note(len(gaps)),
        of=view.origin_rows(origin, options.at),
        totals=totals,
        jobs=rows[page.rows],
        edges=edges,
        unknown=unknown_rows(view, gaps),
        **page.answer_fields(len(rows), view.as_of(options.at)),
    )


def _verdict(view: View, reach: Reach, count: int, word: str, *, totals: dict[str, int]) -> str:
    names, upstream = column_names(view, reach.origin), reach.options.upstream
    if count:
        side = "upstream" if upstream else "downstream"
        return f"{count_of(count, word)} {side} of {names}{depth_note(totals)}"
    conditions = conditions_note(reach)
    if conditions:
        return f"no {word} {'feeds' if upstream else 'takes the value of'} {names}; {conditions}"
    return f"nothing is {'upstream' if upstream else 'downstream'} of {names}"


def _steps(reach: Reach) -> Iterator[_Steps]:
    """Every edge that the traversal followed."""
    options, arrays = reach.options, reach.arrays
    nodes = np.concatenate([reach.origin, reach.nodes])
    if options.depth is not None:
        nodes = nodes[reach.level_of(nodes) <= options.depth]
    level = np.full(arrays.meta["nodes"], np.iinfo(np.int32).max, dtype=np.int32)
    level[nodes] = reach.level_of(nodes)
    with_rows = nodes
    if options.upstream and options.indirect:  # what decides the rows of a dataset feeds each of its columns
        rows_of = arrays["dataset.rows"][arrays["node.dataset"][nodes]].astype(np.int64)
        np.minimum.at(level, rows_of[rows_of >= 0], level[nodes[rows_of >= 0]])
        with_rows = np.concatenate([nodes, distinct(rows_of[rows_of >= 0])])
    past = options.at is not None
    for edges in adjacency(arrays, forward=not options.upstream, indirect=options.indirect, past=past):
        is_indirect = bool(edges.bits & INDIRECT)
        found, owner = edges.rows(with_rows if is_indirect else nodes, options.at)
        other, job = edges.other[found].astype(np.int64), edges.job[found].astype(np.int64)
        source, target = (other, owner) if options.upstream else (owner, other)
        yield _Steps(source, target, job, level[owner], is_indirect)


def _table_rows(view: View, reach: Reach) -> list[ReachedDataset]:
    owners = view.arrays["node.dataset"]
    nodes = reach.nodes
    direct_places = distinct(owners.take(nodes.compress(reach.is_direct(nodes))))
    direct = set(view.arrays["dataset.id"].take(direct_places).tolist())
    return [replace(row, relation="direct" if row.id in direct else "indirect") for row in dataset_rows(view, reach)]


def _table_edges(view: View, reach: Reach) -> list[TableEdge]:
    owners, ids = view.arrays["node.dataset"], view.arrays["dataset.id"]
    counts: dict[tuple[int, int, bool], int] = defaultdict(int)
    jobs: dict[tuple[int, int, bool], set[int]] = defaultdict(set)
    for steps in _steps(reach):
        found, sizes = _count_rows(owners[steps.source], owners[steps.target], steps.job)
        for (one, two, job), size in zip(found, sizes, strict=True):
            key = (one, two, not steps.is_indirect)
            counts[key] += size
            jobs[key].add(job)
    return [
        TableEdge(
            int(ids[one]), int(ids[two]), "DIRECT" if is_direct else "INDIRECT", counts[one, two, is_direct],
            [view.job_ref(job) for job in sorted(jobs[one, two, is_direct])],
        )
        for one, two, is_direct in sorted(counts, key=lambda key: (key[0], key[1], not key[2]))
    ]  # fmt: skip


def _job_rows_and_edges(view: View, reach: Reach) -> tuple[list[ReachedJob], list[JobEdge]]:
    distance: dict[int, int] = {}
    writers: dict[int, set[int]] = defaultdict(set)  # dataset → jobs that write it
    reads: dict[int, set[int]] = defaultdict(set)  # job → datasets that it reads
    owners = view.arrays["node.dataset"]
    for steps in _steps(reach):
        found, _ = _count_rows(steps.job, owners[steps.source], owners[steps.target])
        for job, read, written in found:
            reads[job].add(read)
            writers[written].add(job)
        order = np.lexsort((steps.level, steps.job))
        first = order[np.unique(steps.job[order], return_index=True)[1]]
        for job, level in zip(steps.job[first].tolist(), steps.level[first].tolist(), strict=True):
            distance[job] = min(distance.get(job, level), level)
    places = np.array(sorted(job for job in distance if job >= 0), dtype=np.int64)
    flags = job_flags(view, places, None)
    rows = [
        ReachedJob.extend(view.job(job), distance=distance[job], flags=flag_names(flags, place))
        for place, job in enumerate(places.tolist())
    ]
    pairs = {(writer, job) for job, read in reads.items() for home in read for writer in writers.get(home, ())}
    ids = view.arrays["job.id"]
    edges = [JobEdge(int(ids[a]), int(ids[b])) for a, b in sorted(pairs) if a != b and a >= 0 and b >= 0]
    return sorted(rows, key=lambda row: (row.distance, row.name)), edges


def _count_rows(*columns: Nodes) -> tuple[list[tuple[int, int, int]], list[int]]:
    """The distinct rows of three columns, and how often each occurs."""
    keys = np.stack(columns, axis=1)
    if not len(keys):
        return [], []
    found, counts = np.unique(keys, axis=0, return_counts=True)
    return [(one, two, three) for one, two, three in found.tolist()], counts.tolist()
