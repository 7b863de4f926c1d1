"""`paths`: how exactly two columns are connected: the shortest ways, and how many more there are."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from colline.graph.answer import Answer, Row, counted
from colline.graph.queries import upstream_downstream
from colline.graph.traversal.bfs import INDIRECT, Reach, TraversalOptions, traverse
from colline.graph.traversal.csr import Adjacency, Nodes, adjacency, distinct, expand
from colline.graph.traversal.records import View

_MOST_TRIED = 200_000  # partial paths looked at where cycles forbid counting
_EXACT = 2.0**53


@dataclass(frozen=True)
class Between:
    """The part of the graph that lies on some way from `first` to `last`: steps as CSR over its own numbers."""

    nodes: Nodes
    first: set[int]
    last: set[int]
    start: Nodes
    other: Nodes
    left: Nodes  # steps from each node to the nearest of `last`


def answer(view: View, a: Nodes, b: Nodes, question: TraversalOptions, k: int) -> Answer:
    """The k shortest ways from the first column to the second; if there is none, the other way round is tried."""
    ways, count, exact, turned = _either_way(view, a, b, question, k)
    first, last = (b, a) if turned else (a, b)
    gaps = [] if ways else _gaps(view, a, b, question)
    names = [view.names.label(int(n[0])) for n in (first, last)]
    return Answer(
        question="paths",
        verdict=_verdict(names, count, ways, exact, bool(gaps)),
        as_of=view.as_of(question.at),
        of=tuple(view.ref(int(n)) for n in (a[0], b[0])),
        totals={"paths": count, "shown": len(ways), "exact": exact},
        sections={"paths": [_row(view, way, question) for way in ways]},
        unknown=view.unknown(gaps),
        left_out=max(0, count - len(ways)),
        snapshot=view.version,
        main="paths",
    )


def _either_way(
    view: View, a: Nodes, b: Nodes, question: TraversalOptions, k: int
) -> tuple[list[list[int]], int, bool, bool]:
    for first, last, turned in ((a, b, False), (b, a, True)):
        found = between(view, first, last, question)
        if found is not None:
            count, exact = count_paths(found)
            ways = [way for way, _ in zip(shortest(found), range(k if exact else 1000), strict=False)]
            return ways[:k], (count if exact else len(ways)), exact, turned
    return [], 0, True, False


def between(view: View, first: Nodes, last: Nodes, question: TraversalOptions) -> Between | None:
    """Everything on some way between two sets of columns, None where there is no way."""
    down = traverse(
        view.arrays, first, TraversalOptions(False, indirect=question.indirect, depth=question.depth, at=question.at)
    )
    if not (down.level[last] > 0).any() or (len(first) == 1 and np.isin(last, first).all()):
        return None
    up = traverse(
        view.arrays, last, TraversalOptions(True, indirect=question.indirect, depth=question.depth, at=question.at)
    )
    candidates = distinct(np.concatenate([down.all_nodes(), first]))
    nodes = candidates[up.level[candidates] > 0]
    place = np.full(up.node_count, -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    pairs = np.concatenate(list(_steps(view, nodes, question)) or [np.empty((0, 2), np.int64)])
    one, two = place[pairs[:, 0]], place[pairs[:, 1]]
    # a pair as one number: sorting those is ten times faster than sorting pairs
    pair = distinct((one * len(nodes) + two)[(one >= 0) & (two >= 0) & (one != two)])
    start = np.searchsorted(pair, np.arange(len(nodes) + 1) * len(nodes))
    inside = [{int(place[n]) for n in some if place[n] >= 0} for some in (first, last)]
    other = pair % max(len(nodes), 1)
    return Between(nodes, inside[0], inside[1], start, other, _left(start, other, inside[1], len(nodes)))


def _steps(view: View, nodes: Nodes, question: TraversalOptions) -> Iterator[Nodes]:
    """All steps that begin at the nodes, as pairs; a step into a dataset's rows is one to each of its columns."""
    arrays = view.arrays
    for edges in adjacency(arrays, forward=True, indirect=question.indirect, past=question.at is not None):
        rows, owner = edges.rows(nodes, question.at)
        other = edges.other[rows].astype(np.int64)
        yield np.stack([owner, other], axis=1)
        if edges.bits & INDIRECT:
            chosen = arrays["node.rows"][other]
            columns, counts = expand(arrays["dataset.start"], arrays["node.dataset"][other[chosen]].astype(np.int64))
            yield np.stack([np.repeat(owner[chosen], counts), columns], axis=1)


def _left(start: Nodes, other: Nodes, last: set[int], count: int) -> Nodes:
    """Steps to the nearest end, by a walk backwards over the pairs."""
    source = np.repeat(np.arange(count), np.diff(start))
    left = np.full(count, count + 1, dtype=np.int64)
    left[list(last)] = 0
    ring, steps = np.array(sorted(last)), 0
    by_target = np.argsort(other, kind="stable")
    back_start = np.searchsorted(other[by_target], np.arange(count + 1))
    while len(ring):
        steps += 1
        found = distinct(source[by_target[expand(back_start, ring)[0]]])
        ring = found[left[found] > steps]
        left[ring] = steps
    return left


def count_paths(found: Between) -> tuple[int, bool]:
    """How many ways there are, and whether that is exact: cycles, or more than 2^53 ways, make it a lower bound."""
    count = len(found.nodes)
    degree = np.bincount(found.other, minlength=count)
    ways = np.zeros(count)
    ways[list(found.first)] = 1.0
    ready, done = np.flatnonzero(degree == 0), 0
    while len(ready):
        done += len(ready)
        rows, counts = expand(found.start, ready)
        np.add.at(ways, found.other[rows], np.repeat(ways[ready], counts))
        np.subtract.at(degree, found.other[rows], 1)
        reached = distinct(found.other[rows])
        ready = reached[degree[reached] == 0]
    total = float(ways[list(found.last)].sum())
    return int(total), done == count and total < _EXACT


def shortest(found: Between) -> Iterator[list[int]]:
    """Ways without a repeated column, shortest first, then by name.

    A way waits together with the next one that begins alike, not with all of them: a column may have a million onward.
    """
    heap: list[tuple[int, tuple[int, ...], int, Nodes]] = []
    _wait(found, heap, (), _nearest_first(found, np.array(sorted(found.first), dtype=np.int64)), 0)
    tried = 0
    while heap and tried < _MOST_TRIED:
        tried += 1
        _, way, place, alike = heapq.heappop(heap)
        _wait(found, heap, way[:-1], alike, place + 1)
        here = way[-1]
        if here in found.last:
            yield [int(found.nodes[n]) for n in way]
            continue
        onward = found.other[found.start[here] : found.start[here + 1]]
        _wait(found, heap, way, _nearest_first(found, onward), 0)


def _nearest_first(found: Between, nodes: Nodes) -> Nodes:
    """The nodes by how far the end is from them, then by name, which is their order already."""
    return nodes[np.argsort(found.left[nodes], kind="stable")]


def _wait(found: Between, heap: list[Any], way: tuple[int, ...], onward: Nodes, place: int) -> None:
    """Put the way, longer by the next node that it does not hold, among those that wait."""
    while place < len(onward) and int(onward[place]) in way:
        place += 1
    if place < len(onward):
        node = int(onward[place])
        heapq.heappush(heap, (len(way) + int(found.left[node]), (*way, node), place, onward))


def _row(view: View, way: list[int], question: TraversalOptions) -> Row:
    edges = [view.edge(e, row, ends, level=level) for e, row, ends, level in _edges(view, way, question)]
    steps = list(pairwise(way))
    ids = [(int(view.arrays["node.id"][a]), int(view.arrays["node.id"][b])) for a, b in steps]
    by_step = [[e for e in edges if (e["from"], e["to"]) == pair] for pair in ids]
    direct = all(any(e["type"] == "DIRECT" for e in step) for step in by_step)
    counting = [[e for e in step if not direct or e["type"] == "DIRECT"] for step in by_step]
    return {
        "length": len(steps),
        "hops": len(steps),
        "relation": "direct" if direct else "indirect",
        "masked": any(all(e["masking"] for e in step) for step in counting),
        "columns": [view.ref(n) for n in way],
        "edges": edges,
    }


def _edges(
    view: View, way: list[int], question: TraversalOptions
) -> Iterator[tuple[Adjacency, int, tuple[int, int], str]]:
    """The edges of each step of a way."""
    arrays = view.arrays
    for source, target in pairwise(way):
        home = int(arrays["dataset.rows"][arrays["node.dataset"][target]])
        for edges in adjacency(arrays, forward=True, indirect=question.indirect, past=question.at is not None):
            rows = edges.positions(np.array([source]), question.at)
            other = edges.other[rows]
            yield from ((edges, int(row), (source, target), "column") for row in rows[other == target])
            if home >= 0:
                yield from ((edges, int(row), (source, target), "dataset") for row in rows[other == home])


def _gaps(view: View, a: Nodes, b: Nodes, question: TraversalOptions) -> list[int]:
    """Gaps that could hide a way: on what the first reaches, and on what feeds the second."""
    reaches: list[Reach] = []
    for nodes, upstream in ((a, False), (b, True)):
        reaches.append(
            traverse(view.arrays, nodes, TraversalOptions(upstream, indirect=question.indirect, at=question.at))
        )
    return sorted({gap for reach in reaches for gap in upstream_downstream.gaps_on(view, reach)})


def _verdict(names: list[str], count: int, ways: list[list[int]], exact: bool, gaps: bool) -> str:
    first, last = names
    if not ways and first == last:
        return f"no path: {first} was given twice"
    if not ways:
        return (
            f"unknown whether {first} and {last} are connected: lineage is missing"
            if gaps
            else (f"no path: {first} and {last} are not connected")
        )
    more = "" if exact else "at least "
    return f"{more}{counted(count, 'path')} from {first} to {last}, the shortest of {counted(len(ways[0]) - 1, 'step')}"
