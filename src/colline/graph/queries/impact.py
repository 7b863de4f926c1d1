"""`impact`: what breaks if columns are dropped, renamed or get another type, by distance and by kind of use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colline.errors import ColumnError
from colline.flat.integer_arrays import distinct
from colline.graph.answer import Page, count_of, show_duration
from colline.graph.difference_rows import SchemaChange
from colline.graph.queries.inventory.coverage_gaps import gaps_reached, unknown_rows
from colline.graph.queries.reach_summary import column_names, conditions_note, depth_note, gap_note, reach_totals
from colline.graph.queries.upstream_downstream import reached_columns
from colline.graph.queries.usage.evidence import recorded_seconds
from colline.graph.queries.usage.readers import query_readers
from colline.graph.reach_rows import ImpactedJob, ImpactRow, ReachedDataset
from colline.graph.results import ImpactAnswer, ImpactJobsAnswer, ImpactTablesAnswer
from colline.graph.rows import Row, Unknown
from colline.graph.snapshot.array_file import SUBTYPES
from colline.graph.traversal.bfs import INDIRECT, Reach, TraversalOptions, traverse
from colline.graph.traversal.csr import Nodes, adjacency, columns_of_rows
from colline.graph.traversal.edge_selection import edge_rows, select_edges
from colline.graph.traversal.records import View

KINDS = ("value", "join", "group_by", "filter", "sort", "window", "conditional")
MAX_DATASETS = 1000
_VALUE = 1
# the subtype of an edge → the bit of its kind of use
_BIT = np.array([1 << KINDS.index(s.lower()) if s.lower() in KINDS else _VALUE for s in SUBTYPES], dtype=np.uint8)
VERBS = {"drop": "dropping", "rename": "renaming", "type": "changing the type of"}
_NOT_REACHED = np.iinfo(np.int32).max
Bits = NDArray[np.uint8]  # kinds of use, one bit each


@dataclass(frozen=True)
class Change:
    """A change of columns. `unknown` are changed columns that the lake does not have."""

    kind: str = "drop"
    rows: tuple[SchemaChange, ...] = ()
    unknown: tuple[Unknown, ...] = ()


def answer(view: View, origin: Nodes, options: TraversalOptions, page: Page, *, change: Change) -> ImpactAnswer:
    """Affected columns nearest first, with datasets, jobs and queries that read them."""
    reach = traverse(view.arrays, origin, options)
    kinds = _kinds_of_use(reach)
    nodes = reach.page(page.offset, page.limit)
    jobs = _job_rows(view, reach, kinds)
    reads = query_readers(view, np.concatenate([origin, nodes]), options.at)
    readers = sorted((row for row in reads if row.kind == "query"), key=lambda row: row.live is not True)
    live = len({row.job for row in readers if row.live is True})
    gaps = gaps_reached(view, reach)
    totals = reach_totals(reach) | {"jobs": len(jobs), "breaking": sum(job.breaks for job in jobs), "readers": live}
    rows = zip(reached_columns(view, reach, nodes), kinds[nodes].tolist(), strict=True)
    return ImpactAnswer(
        verdict=_verdict(view, reach, change, totals, gaps=len(gaps)),
        of=view.origin_rows(origin, options.at),
        totals={**totals, "by_kind": _count_by_kind(reach, kinds)},
        change=change.kind,
        changes=list(change.rows),
        columns=[ImpactRow.extend(row, kinds=kind_names(bits)) for row, bits in rows],
        datasets=dataset_rows(view, reach),
        jobs=jobs,
        readers=readers,
        edges=edge_rows(view, select_edges(reach, nodes, is_first_page=page.offset == 0)),
        unknown=(*change.unknown, *unknown_rows(view, gaps)),
        holds=not (reach.total or live or jobs or gaps or change.unknown),
        **page.answer_fields(reach.total, view.as_of(options.at)),
    )


def by_grain(found: ImpactAnswer, grain: str, page: Page) -> ImpactAnswer:
    """The same answer by table or by job; an answer by column is not changed."""
    if grain == "column":
        return found
    kind: Callable[..., ImpactAnswer] = ImpactJobsAnswer if grain == "job" else ImpactTablesAnswer
    main = "jobs" if grain == "job" else "datasets"
    rows: list[Row] = getattr(found, main)
    fields = {name: getattr(found, name) for name in ImpactAnswer.__struct_fields__}
    changed = {"columns": [], "edges": [], main: rows[page.rows], **page.answer_fields(len(rows), found.as_of)}
    return kind(**{**fields, **changed})


def kind_names(bits: int) -> list[str]:
    """The kinds of use in a set of bits."""
    return [kind for place, kind in enumerate(KINDS) if int(bits) & (1 << place)]


def _kinds_of_use(reach: Reach) -> Bits:
    """How each column uses the changed columns: as a value along direct edges, or by its last indirect edge."""
    arrays, options = reach.arrays, reach.options
    kinds = np.zeros(arrays.meta["nodes"], dtype=np.uint8)
    kinds[reach.origin] = _VALUE
    frontier = reach.origin
    sets = adjacency(arrays, forward=True, indirect=options.indirect, past=options.at is not None)
    while len(frontier) and sets:
        targets, bits = [], []
        for edges in sets:
            rows, owner = edges.rows(frontier, options.at)
            other = edges.other[rows].astype(np.int64)
            if edges.bits & INDIRECT:
                kinds_of_edges = _BIT[arrays[f"{edges.group}.subtype"][edges.edges(rows)]]
                other, place = columns_of_rows(arrays, other)
                gained = kinds_of_edges[place]
            else:
                gained = kinds[owner]
            targets.append(other)
            bits.append(gained)
        frontier = _add_bits(reach, kinds, np.concatenate(targets), np.concatenate(bits))
    return kinds


def _add_bits(reach: Reach, kinds: Bits, nodes: Nodes, bits: Bits) -> Nodes:
    """Adds bits to columns that the traversal reached; returns those with a new bit."""
    is_new = (reach.level_of(nodes) > 0) & ((bits & ~kinds[nodes]) != 0)
    np.bitwise_or.at(kinds, nodes[is_new], bits[is_new])
    return distinct(nodes[is_new])


def _job_rows(view: View, reach: Reach, kinds: Bits) -> list[ImpactedJob]:
    """The jobs that read affected columns, nearest first."""
    arrays, options = reach.arrays, reach.options
    distance = np.full(arrays.meta["jobs"] + 1, _NOT_REACHED, dtype=np.int32)  # the last one: edges without a job
    uses = np.zeros(arrays.meta["jobs"] + 1, dtype=np.uint8)
    nodes = np.concatenate([reach.origin, reach.nodes])
    if options.depth is not None:
        nodes = nodes[reach.level_of(nodes) <= options.depth]
    for edges in adjacency(arrays, forward=True, indirect=options.indirect, past=options.at is not None):
        rows, owner = edges.rows(nodes, options.at)
        job = edges.job[rows]
        np.minimum.at(distance, job, reach.level_of(owner))
        own = _BIT[arrays[f"{edges.group}.subtype"][edges.edges(rows)]] if edges.bits & INDIRECT else kinds[owner]
        np.bitwise_or.at(uses, job, own)
    found = np.flatnonzero(distance[:-1] != _NOT_REACHED)
    order = found[np.lexsort((found, distance[found]))].tolist()
    return [
        ImpactedJob.extend(
            view.job(job),
            distance=int(distance[job]),
            kinds=kind_names(uses[job]),
            breaks=int(distance[job]) == 1,
        )
        for job in order
    ]


def dataset_rows(view: View, reach: Reach) -> list[ReachedDataset]:
    """The datasets that are reached, nearest first, with the number of their columns."""
    nodes = reach.nodes
    owners, distances = view.arrays["node.dataset"].take(nodes), reach.level_of(nodes) - 1
    places, counts = np.unique(owners, return_counts=True)
    nearest = np.full(view.arrays.meta["datasets"], _NOT_REACHED, dtype=np.int64)
    np.minimum.at(nearest, owners, distances)
    order = np.lexsort((places, nearest[places]))[:MAX_DATASETS].tolist()
    return [
        ReachedDataset.extend(view.dataset(int(places[n])), distance=int(nearest[places[n]]), columns=int(counts[n]))
        for n in order
    ]


def _count_by_kind(reach: Reach, kinds: Bits) -> dict[str, int]:
    bits = kinds[reach.nodes]
    counts = {kind: int(np.count_nonzero(bits & (1 << place))) for place, kind in enumerate(KINDS)}
    return {kind: count for kind, count in counts.items() if count}


def _verdict(view: View, reach: Reach, change: Change, totals: dict[str, int], *, gaps: int) -> str:
    origin = reach.origin
    subject = f"{VERBS.get(change.kind, 'changing')} {column_names(view, origin)}"
    if not (totals["columns"] or totals["jobs"] or totals["readers"]):
        conditions = conditions_note(reach, "leave out `--direct` to list them") if len(origin) else ""
        if conditions:
            return f"{subject} affects no value; {conditions}"
        rest = "; unknown whether it affects anything outside the known lineage" if gaps or change.unknown else ""
        if not len(origin):
            return f"no known column changes{rest}"
        period = show_duration(recorded_seconds(view, reach.options.at))
        return f"{subject} affects nothing in {period} of recorded reads{rest}"
    breaks = f"breaks {count_of(totals['breaking'], 'job')}" if totals["breaking"] else "breaks no job"
    affected = f"{count_of(totals['columns'], 'column')} in {count_of(totals['datasets'], 'dataset')}"
    queries = f"; {count_of(totals['readers'], 'live query', 'live queries')}" if totals["readers"] else ""
    return f"{subject} {breaks} and affects {affected}{queries}{depth_note(totals)}{gap_note(gaps)}"


def changed_columns(view: View, changes: Sequence[SchemaChange], at: int | None) -> tuple[Nodes, tuple[Unknown, ...]]:
    """The columns that schema changes are about, and the changes of columns that the lake does not have."""
    nodes: dict[int, None] = {}
    missing = []
    for row in changes:
        name = f"{row.dataset}.{row.column}"
        try:
            nodes.update(dict.fromkeys(view.names.resolve([name], at).tolist()))
        except ColumnError as error:
            missing.append(Unknown(name, error.message))
    return np.array(list(nodes), dtype=np.int64), tuple(missing)
