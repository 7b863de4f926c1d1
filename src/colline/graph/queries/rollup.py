"""A walk told by tables or by jobs instead of by columns."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from colline.graph.answer import Answer, Page, Row, counted
from colline.graph.queries import upstream_downstream
from colline.graph.queries.impact import dataset_rows
from colline.graph.traversal.bfs import INDIRECT, Reach, TraversalOptions, traverse
from colline.graph.traversal.csr import Nodes, adjacency, distinct
from colline.graph.traversal.records import View


def answer(view: View, origin: Nodes, question: TraversalOptions, page: Page, grain: str) -> Answer:
    """The datasets or the jobs a walk passes, nearest first, and how they are joined."""
    reach = traverse(view.arrays, origin, question)
    steps = list(_steps(reach))
    rows, edges = _tables(view, reach, steps) if grain == "table" else _jobs(view, reach, steps)
    key, word = ("datasets", "dataset") if grain == "table" else ("jobs", "job")
    end = len(rows) if page.limit is None else page.offset + page.limit
    left_out, cursor = page.next(len(rows), view.version)
    gaps = upstream_downstream.gaps_on(view, reach)
    name = "upstream" if question.upstream else "downstream"
    names = ", ".join(view.names.label(n) for n in origin[:3].tolist())
    side = "upstream of" if question.upstream else "downstream of"
    told = f"{counted(len(rows), word)} {side} {names}" if rows else f"nothing is {side} {names}"
    return Answer(
        question=name,
        verdict=told + (f"; {counted(len(gaps), 'gap')} in coverage on the way" if gaps else ""),
        as_of=view.as_of(question.at),
        of=view.of(origin, question.at),
        totals=upstream_downstream.totals(reach),
        sections={"grain": grain, "columns": [], key: rows[page.offset : end], "edges": edges},
        unknown=view.unknown(gaps),
        left_out=left_out,
        cursor=cursor,
        snapshot=view.version,
        main=key,
    )


def _steps(reach: Reach) -> Any:
    """Every step the walk took: near ends, far ends, jobs, whether indirect, and how far away the near end is."""
    question, arrays = reach.options, reach.arrays
    nodes = np.concatenate([reach.origin, reach.all_nodes()])
    if question.depth is not None:
        nodes = nodes[reach.level_of(nodes) <= question.depth]
    rows_of = arrays["dataset.rows"][arrays["node.dataset"][nodes]].astype(np.int64)
    away = np.where(reach.level > 0, reach.level.astype(np.int32), np.iinfo(np.int32).max)
    for edges in adjacency(
        arrays, forward=not question.upstream, indirect=question.indirect, past=question.at is not None
    ):
        if question.upstream and edges.bits & INDIRECT:
            homes = distinct(rows_of[rows_of >= 0])
            np.minimum.at(away, rows_of[rows_of >= 0], reach.level[nodes[rows_of >= 0]])
            found, owner = edges.rows(np.concatenate([nodes, homes]), question.at)
        else:
            found, owner = edges.rows(nodes, question.at)
        other = edges.other[found].astype(np.int64)
        yield owner, other, edges.job[found].astype(np.int64), bool(edges.bits & INDIRECT), away[owner]


def _tables(view: View, reach: Reach, steps: list[Any]) -> tuple[list[Row], list[Row]]:
    owners = view.arrays["node.dataset"]
    rows = dataset_rows(view, reach)
    direct = set(distinct(owners[np.concatenate([d for d, _ in reach.layers] or [reach.origin[:0]])]).tolist())
    places = {int(view.arrays["dataset.id"][p]): int(p) for p in distinct(owners[reach.all_nodes()])}
    rows = [{**row, "relation": "direct" if places[row["id"]] in direct else "indirect"} for row in rows]
    joined: dict[tuple[int, int, str], list[Any]] = defaultdict(lambda: [0, set()])
    for near, far, job, indirect, _ in steps:
        source, target = (far, near) if reach.options.upstream else (near, far)
        keys = np.stack([owners[source], owners[target], job], axis=1)
        for (one, two, by), count in zip(*_counted(keys), strict=True):
            found = joined[int(one), int(two), "INDIRECT" if indirect else "DIRECT"]
            found[0] += int(count)
            found[1].add(int(by))
    ids = view.arrays["dataset.id"]
    edges = [
        {
            "from": int(ids[a]),
            "to": int(ids[b]),
            "type": kind,
            "columns": n,
            "jobs": [view.job_ref(j) for j in sorted(js)],
        }
        for (a, b, kind), (n, js) in sorted(joined.items())
    ]
    return rows, edges


def _jobs(view: View, reach: Reach, steps: list[Any]) -> tuple[list[Row], list[Row]]:
    """Jobs by the distance of what they read; two are joined where one reads what the other writes."""
    near: dict[int, int] = {}
    writes: dict[int, set[int]] = defaultdict(set)
    reads: dict[int, set[int]] = defaultdict(set)
    homes = view.arrays["node.dataset"]
    for from_, to, job, _, distance in steps:
        source, target = (to, from_) if reach.options.upstream else (from_, to)
        keys = np.stack([job, homes[source], homes[target]], axis=1)
        for (by, one, two), _count in zip(*_counted(keys), strict=True):
            reads[int(by)].add(int(one))
            writes[int(two)].add(int(by))
        order = np.lexsort((distance, job))
        first = order[np.unique(job[order], return_index=True)[1]]
        for by, steps_away in zip(job[first].tolist(), distance[first].tolist(), strict=True):
            near[by] = min(near.get(by, steps_away), steps_away)
    ids = view.arrays["job.id"]
    pairs = sorted({(w, j) for j, sets in reads.items() for home in sets for w in writes.get(home, ()) if w != j})
    places = np.array(sorted(j for j in near if j >= 0), dtype=np.int64)
    marks = upstream_downstream.flags(view, places, None)
    rows = [
        {**view.job(j), "distance": near[j], "flags": [name for name, found in marks.items() if found[i]]}
        for i, j in enumerate(places.tolist())
    ]
    rows.sort(key=lambda row: (row["distance"], row["name"]))
    return rows, [{"from": int(ids[a]), "to": int(ids[b])} for a, b in pairs if a >= 0 and b >= 0]


def _counted(keys: Any) -> tuple[Any, Any]:
    return np.unique(keys, axis=0, return_counts=True) if len(keys) else (keys, np.empty(0, dtype=np.int64))
