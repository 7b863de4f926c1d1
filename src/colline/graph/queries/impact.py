"""`impact`: what breaks if a column is dropped, renamed or gets another type, by distance and by kind of use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colline.graph.answer import Answer, Page, Row, counted
from colline.graph.queries import upstream_downstream
from colline.graph.queries.unused import query_readers
from colline.graph.snapshot.array_file import SUBTYPES
from colline.graph.traversal.bfs import INDIRECT, Reach, TraversalOptions, traverse
from colline.graph.traversal.csr import Nodes, adjacency, distinct, expand
from colline.graph.traversal.edge_selection import edge_rows, told_edges
from colline.graph.traversal.records import View

KINDS = ("value", "join", "group_by", "filter", "sort", "window", "conditional")
_VALUE = 1
# an edge's subtype → the bit of the kind it makes
_BIT = np.array([1 << KINDS.index(s.lower()) if s.lower() in KINDS else _VALUE for s in SUBTYPES], dtype=np.uint8)
DOING = {"drop": "dropping", "rename": "renaming", "type": "changing the type of"}


@dataclass(frozen=True)
class Change:
    """One change of a schema, and the columns of the lake it is about."""

    kind: str = "drop"
    rows: tuple[Row, ...] = ()
    unknown: tuple[Row, ...] = field(default=())


def answer(view: View, origin: Nodes, question: TraversalOptions, page: Page, change: Change) -> Answer:
    """Affected columns nearest first, datasets, jobs and readers; a no where something is affected."""
    reach = traverse(view.arrays, origin, question)
    kinds = kinds_of(reach)
    nodes = reach.page(page.offset, page.limit)
    edges = edge_rows(view, told_edges(reach, nodes, first=page.offset == 0))
    jobs = job_rows(view, reach, kinds)
    reads = query_readers(view, np.concatenate([origin, nodes]), question.at)
    readers = [row for row in reads if row["kind"] == "query"]
    live = [row for row in readers if row["live"]]
    gaps = upstream_downstream.gaps_on(view, reach)
    left_out, cursor = page.next(reach.total, view.version)
    totals = upstream_downstream.totals(reach)
    totals |= {"jobs": len(jobs), "breaking": sum(job["breaks"] for job in jobs), "readers": len(live)}
    columns = upstream_downstream.column_rows(view, reach, nodes)
    rows = [{**row, "kinds": names(kinds[node])} for row, node in zip(columns, nodes.tolist(), strict=True)]
    return Answer(
        question="impact",
        verdict=_verdict(view, origin, change, totals, len(gaps)),
        as_of=view.as_of(question.at),
        of=view.of(origin, question.at),
        totals={**totals, "by_kind": _by_kind(reach, kinds)},
        sections={
            "change": change.kind,
            "changes": list(change.rows),
            "columns": rows,
            "datasets": dataset_rows(view, reach),
            "jobs": jobs,
            "readers": readers,
            "edges": edges,
        },
        unknown=(*change.unknown, *view.unknown(gaps)),
        left_out=left_out,
        cursor=cursor,
        snapshot=view.version,
        holds=not (reach.total or live or jobs or gaps or change.unknown),
    )


def names(bits: int) -> list[str]:
    """The kinds of use in a set of bits."""
    return [kind for place, kind in enumerate(KINDS) if int(bits) & (1 << place)]


def kinds_of(reach: Reach) -> NDArray[np.uint8]:
    """How each reached column uses the changed ones: by value along direct steps, else by the last indirect step."""
    arrays, question = reach.arrays, reach.options
    kinds = np.zeros(reach.node_count, dtype=np.uint8)
    kinds[reach.origin] = _VALUE
    ring = reach.origin
    steps = adjacency(arrays, forward=True, indirect=question.indirect, past=question.at is not None)
    while len(ring):
        targets, bits = [], []
        for edges in steps:
            rows, owner = edges.rows(ring, question.at)
            other = edges.other[rows].astype(np.int64)
            if edges.bits & INDIRECT:
                gained = _BIT[arrays[f"{edges.group}.subtype"][edges.edges(rows)]]
                other, gained = _to_columns(arrays, other, gained)
            else:
                gained = kinds[owner]
            targets.append(other)
            bits.append(gained)
        ring = _spread_bits(reach, kinds, np.concatenate(targets), np.concatenate(bits)) if targets else ring[:0]
    return kinds


def _to_columns(arrays: Any, other: Nodes, gained: NDArray[np.uint8]) -> tuple[Nodes, NDArray[np.uint8]]:
    chosen = arrays["node.rows"][other]
    columns, counts = expand(arrays["dataset.start"], arrays["node.dataset"][other[chosen]].astype(np.int64))
    return np.concatenate([other[~chosen], columns]), np.concatenate(
        [gained[~chosen], np.repeat(gained[chosen], counts)]
    )


def _spread_bits(reach: Reach, kinds: NDArray[np.uint8], nodes: Nodes, bits: NDArray[np.uint8]) -> Nodes:
    """Add bits to reached columns; those that got new ones."""
    # the step must be within the depth asked for: only columns the walk reached count
    fresh = (reach.level[nodes] > 0) & ((bits & ~kinds[nodes]) != 0)
    nodes, bits = nodes[fresh], bits[fresh]
    np.bitwise_or.at(kinds, nodes, bits)
    return distinct(nodes)


def job_rows(view: View, reach: Reach, kinds: NDArray[np.uint8]) -> list[Row]:
    """The jobs that read what is affected, nearest first; `breaks`: it reads a changed column itself."""
    arrays, question = reach.arrays, reach.options
    near = np.full(arrays.meta["jobs"] + 1, np.iinfo(np.int32).max, dtype=np.int32)
    uses = np.zeros(arrays.meta["jobs"] + 1, dtype=np.uint8)
    nodes = np.concatenate([reach.origin, reach.all_nodes()])
    if question.depth is not None:
        nodes = nodes[reach.level_of(nodes) <= question.depth]
    for edges in adjacency(arrays, forward=True, indirect=question.indirect, past=question.at is not None):
        rows, owner = edges.rows(nodes, question.at)
        job = edges.job[rows]
        np.minimum.at(near, job, reach.level[owner])
        own = _BIT[arrays[f"{edges.group}.subtype"][edges.edges(rows)]] if edges.bits & INDIRECT else kinds[owner]
        np.bitwise_or.at(uses, job, own)
    found = np.flatnonzero(near[:-1] != np.iinfo(np.int32).max)
    order = found[np.lexsort((found, near[found]))]
    return [
        {**view.job(j), "distance": int(near[j]), "kinds": names(uses[j]), "breaks": int(near[j]) == 1}
        for j in order.tolist()
    ]


def dataset_rows(view: View, reach: Reach) -> list[Row]:
    """The datasets reached, nearest first, with how many of their columns."""
    owners = view.arrays["node.dataset"]
    counts: dict[int, list[int]] = {}
    for distance, level in enumerate(reach.layers, 1):
        for nodes in level:
            for place, many in zip(*np.unique(owners[nodes], return_counts=True), strict=True):
                counts.setdefault(int(place), [distance, 0])[1] += int(many)
    ranked = sorted(counts.items(), key=lambda item: (item[1][0], item[0]))
    return [{**view.dataset(place), "distance": found[0], "columns": found[1]} for place, found in ranked[:1000]]


def _by_kind(reach: Reach, kinds: NDArray[np.uint8]) -> dict[str, int]:
    mine = kinds[reach.all_nodes()]
    counts = {kind: int(np.count_nonzero(mine & (1 << place))) for place, kind in enumerate(KINDS)}
    return {kind: count for kind, count in counts.items() if count}


def _verdict(view: View, origin: Nodes, change: Change, totals: dict[str, int], gaps: int) -> str:
    what = ", ".join(view.names.label(n) for n in origin[:3].tolist())
    what += f" and {len(origin) - 3} more" if len(origin) > 3 else ""
    doing = DOING.get(change.kind, "changing")
    touched = totals["columns"] or totals["jobs"] or totals["readers"]
    if not touched:
        rest = "; unknown whether something outside the known lineage does" if gaps or change.unknown else ""
        return f"{doing} {what} affects nothing{rest}" if len(origin) else f"no known column changes{rest}"
    breaks = f"breaks {counted(totals['breaking'], 'job')}" if totals["breaking"] else "breaks no job"
    out = f"{doing} {what} {breaks} and affects {counted(totals['columns'], 'column')} in "
    out += counted(totals["datasets"], "dataset")
    out += f"; {counted(totals['readers'], 'live query')}".replace("querys", "queries") if totals["readers"] else ""
    return out + (f"; {counted(gaps, 'gap')} in coverage on the way" if gaps else "")


def changed_columns(view: View, changes: Sequence[Row], at: int | None) -> tuple[Nodes, tuple[Row, ...]]:
    """The columns of the lake that a list of schema changes is about, and the changes the lake knows nothing of."""
    from colline.errors import ColumnError

    nodes, missed = [], []
    for row in changes:
        try:
            nodes += view.names.resolve([f"{row['dataset']}.{row['column']}"], at).tolist()
        except ColumnError as error:
            missed.append({"what": f"{row['dataset']}.{row['column']}", "why": error.message})
    return np.array(list(dict.fromkeys(nodes)), dtype=np.int64), tuple(missed)
