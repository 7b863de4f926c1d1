"""`upstream` and `downstream`: what feeds a column, what is built on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colline.graph.adjacency import Adjacency, Nodes, adjacency, distinct, spread
from colline.graph.answer import Answer, Page, Row, counted
from colline.graph.view import View
from colline.graph.walk import INDIRECT, Question, Reach, walk

_MOST_EDGES_A_ROW = 20


@dataclass(frozen=True)
class Told:
    """One edge to tell: which set it is in, where, and the two columns it joins (source first)."""

    edges: Adjacency
    row: int
    source: int
    target: int
    level: str = "column"


def answer(view: View, origin: Nodes, question: Question, page: Page, since: int | None = None) -> Answer:
    """The answer at column grain."""
    reach = walk(view.arrays, origin, question)
    nodes = reach.page(page.offset, page.limit)
    told = list(told_edges(reach, nodes, first=page.offset == 0))
    most = _MOST_EDGES_A_ROW * max(len(nodes), 1) if page.limit else len(told)
    left_out, cursor = page.next(reach.total, view.version)
    gaps = gaps_on(view, reach)
    name = "upstream" if question.upstream else "downstream"
    return Answer(
        question=name,
        verdict=verdict(view, reach, since, len(gaps)),
        as_of=view.as_of(question.at),
        of=view.of(origin, question.at),
        totals=totals(reach),
        sections={
            "columns": column_rows(view, reach, nodes),
            "edges": edge_rows(view, told[:most]),
            "edges_left_out": max(0, len(told) - most),
            "jobs": job_rows(view, reach, since),
        },
        unknown=view.unknown(gaps),
        left_out=left_out,
        cursor=cursor,
        snapshot=view.version,
    )


def edge_rows(view: View, told: list[Told]) -> list[Row]:
    """The edges as an answer tells them; those of one set, which lie side by side, at once."""
    out: list[Row] = []
    for _, group in groupby(told, key=lambda t: (t.edges.group, t.edges.forward)):
        some = list(group)
        out += view.edges(some[0].edges, [(t.row, t.source, t.target, t.level) for t in some])
    return out


def column_rows(view: View, reach: Reach, nodes: Nodes) -> list[Row]:
    """Reached columns with how far, how, and whether only through a mask."""
    facts = zip(
        view.columns(nodes, reach.question.at),
        (reach.distance[nodes] - 1).tolist(),
        reach.is_direct(nodes).tolist(),
        reach.is_masked(nodes).tolist(),
        strict=True,
    )
    return [
        {**row, "distance": distance, "relation": "direct" if direct else "indirect", "masked": masked}
        for row, distance, direct, masked in facts
    ]


def totals(reach: Reach) -> dict[str, int]:
    """How much was reached."""
    owners = np.zeros(reach.arrays.meta["datasets"], dtype=np.bool_)
    for level in reach.found:
        for nodes in level:
            owners[reach.arrays["node.dataset"][nodes]] = True
    return {
        "columns": reach.total,
        "datasets": int(np.count_nonzero(owners)),
        "jobs": int(np.count_nonzero(reach.job_seen[:-1])),
        "depth": reach.depth,
    }


def datasets_of(reach: Reach) -> Any:
    """The datasets reached and those the walk began in."""
    owners = reach.arrays["node.dataset"]
    return distinct(np.concatenate([owners[reach.origin], *(owners[n] for level in reach.found for n in level)]))


def gaps_on(view: View, reach: Reach) -> list[int]:
    """Open gaps in coverage on the datasets and jobs that were walked."""
    if not len(view.arrays["gap.since"]):
        return []
    return view.gaps(datasets=datasets_of(reach), jobs=np.flatnonzero(reach.job_seen[:-1]), at=reach.question.at)


def job_rows(view: View, reach: Reach, since: int | None, most: int = 100) -> list[Row]:
    """The jobs on the way, those that need a look first: failed, changed, not run since a time."""
    places = np.flatnonzero(reach.job_seen[:-1])
    marks = flags(view, places, since)
    flagged = np.logical_or.reduce(list(marks.values()))
    order = np.lexsort((places, ~flagged))[:most]
    return [
        {**view.job(int(places[i])), "flags": [name for name, found in marks.items() if found[i]]}
        for i in order.tolist()
    ]


def flags(view: View, jobs: Nodes, since: int | None) -> dict[str, NDArray[np.bool_]]:
    """`failed`: its last run did, or one did since; `changed`: its lineage did since; `stale`: no success since."""
    arrays = view.arrays
    failed = arrays["job.failed"][jobs]
    if since is None:
        never = np.zeros(len(jobs), dtype=np.bool_)
        return {"failed": failed, "changed": never, "stale": never}
    changed, first = arrays["job.changed_at"][jobs], arrays["job.first_seen"][jobs]
    return {
        "failed": failed | (arrays["job.last_failure"][jobs] >= since),
        "changed": (changed >= since) & (first < since),  # a job that is new has not changed
        "stale": arrays["job.last_success"][jobs] < since,
    }


def verdict(view: View, reach: Reach, since: int | None, gaps: int) -> str:
    """One sentence: how much, how far, what is wrong on the way, what is not known."""
    found = totals(reach)
    names = ", ".join(view.names.label(n) for n in reach.origin[:3].tolist())
    names += f" and {len(reach.origin) - 3} more" if len(reach.origin) > 3 else ""
    if not found["columns"]:
        word = "nothing feeds" if reach.question.upstream else "nothing is built on"
        return (
            f"unknown what {'feeds' if reach.question.upstream else 'is built on'} {names}: lineage is missing"
            if (gaps)
            else f"{word} {names}"
        )
    word = ("feed" if found["columns"] > 1 else "feeds") if reach.question.upstream else "built on"
    reached = f"{counted(found['columns'], 'column')} in {counted(found['datasets'], 'dataset')}"
    linked = (
        f"{reached} {word} {names}" if reach.question.upstream else f"{reached} {_are(found['columns'])} {word} {names}"
    )
    marks = flags(view, np.flatnonzero(reach.job_seen[:-1]), since)
    notes = [f"{counted(n, 'job')} {flag}" for flag, found in marks.items() if (n := int(found.sum()))]
    notes += [f"{counted(gaps, 'gap')} in coverage on the way"] if gaps else []
    return "; ".join([linked, *notes])


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def told_edges(reach: Reach, page: Nodes, *, first: bool = True) -> Iterator[Told]:
    """Edges between columns of the answer, each on the page of its later end, so that pages add up to all of them.

    An input of a dataset's rows is told as an indirect edge to each column of the page, marked `level: dataset`.
    """
    on_page = np.zeros(len(reach.distance), dtype=np.bool_)
    on_page[page] = True
    on_page[reach.origin] = first
    near = np.concatenate([reach.origin, page])
    seen: set[tuple[str, int, int, int]] = set()
    for forward in (False, True):
        past = reach.question.at is not None
        for edges in adjacency(reach.arrays, forward=forward, indirect=reach.question.indirect, past=past):
            for told in _told(reach, edges, near, on_page):
                place = told.row if edges.edge is None else int(edges.edge[told.row])
                key = (edges.group, place, told.source, told.target)
                if key not in seen:
                    seen.add(key)
                    yield told


def _told(reach: Reach, edges: Adjacency, near: Nodes, on_page: Any) -> Iterator[Told]:
    lent = _lent(reach, near)
    for nodes, owners in (near, near), lent:
        rows, at = spread(edges.start, nodes)
        owner = np.repeat(owners, at)
        if reach.question.at is not None:
            keep = edges.true_at(rows, reach.question.at)
            rows, owner = rows[keep], owner[keep]
        other = edges.other[rows].astype(np.int64)
        yield from _joined(reach, edges, (rows, owner, other), on_page)
    if edges.bits & INDIRECT:
        yield from _rows_level(reach, edges, near, on_page)


def _lent(reach: Reach, near: Nodes) -> tuple[Nodes, Nodes]:
    """Struct columns whose edges count for their members: the struct, and the member that borrows."""
    if not reach.arrays.meta["nested"]:
        return near[:0], near[:0]
    at, counts = spread(reach.arrays["kin.up.start"], near)
    lenders, owners = reach.arrays["kin.up.other"][at].astype(np.int64), np.repeat(near, counts)
    strangers = reach.distance[lenders] == 0  # a struct that is in the answer itself tells its own edges
    return lenders[strangers], owners[strangers]


def _joined(reach: Reach, edges: Adjacency, found: tuple[Nodes, Nodes, Nodes], on_page: Any) -> Iterator[Told]:
    rows, owner, other = found
    keep = _tellable(reach, owner, other, on_page, edges.forward)
    for row, one, two in zip(rows[keep].tolist(), owner[keep].tolist(), other[keep].tolist(), strict=True):
        source, target = (one, two) if edges.forward else (two, one)
        yield Told(edges, row, source, target)


def _tellable(reach: Reach, owner: Nodes, other: Nodes, on_page: Any, forward: bool) -> Any:
    """Pairs whose ends are both in the answer, whose later end is on the page, and whose step the walk could take."""
    one, two = _rank(reach, owner), _rank(reach, other)
    later = np.where(one >= two, owner, other)
    keep = (reach.distance[other] > 0) & (reach.distance[owner] > 0) & on_page[later]
    depth = reach.question.depth
    if depth is not None:
        # a step is taken from its near end: the target when going up, the source when going down
        starts_at = owner if forward != reach.question.upstream else other
        keep &= reach.distance[starts_at] - 1 < depth
    return keep


def _rank(reach: Reach, nodes: Nodes) -> Any:
    indirect = ~reach.is_direct(nodes)
    return (reach.distance[nodes].astype(np.int64) * 2 + indirect) * len(reach.distance) + nodes


def _rows_level(reach: Reach, edges: Adjacency, near: Nodes, on_page: Any) -> Iterator[Told]:
    """Edges of `rows` nodes, told for each column of the dataset that is in the answer."""
    arrays = reach.arrays
    if edges.forward:
        rows, source = edges.rows(near, reach.question.at)
        ends = edges.other[rows].astype(np.int64)
        chosen = arrays["node.rows"][ends]
        rows, source, ends = rows[chosen], source[chosen], ends[chosen]
        target, counts = spread(arrays["dataset.start"], arrays["node.dataset"][ends].astype(np.int64))
        rows, source = np.repeat(rows, counts), np.repeat(source, counts)
    else:
        home = arrays["dataset.rows"][arrays["node.dataset"][near]].astype(np.int64)
        columns, home = near[home >= 0], home[home >= 0]
        rows, counts = spread(edges.start, home)
        target, source = np.repeat(columns, counts), edges.other[rows].astype(np.int64)
        if reach.question.at is not None:
            keep = edges.true_at(rows, reach.question.at)
            rows, source, target = rows[keep], source[keep], target[keep]
    keep = _tellable(reach, source, target, on_page, forward=True) & ~arrays["node.rows"][target]
    for row, one, two in zip(rows[keep].tolist(), source[keep].tolist(), target[keep].tolist(), strict=True):
        yield Told(edges, row, one, two, level="dataset")
