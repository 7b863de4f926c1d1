"""The way a walk took to one column, and how many of its beginnings reach each column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colline.graph.traversal.bfs import INDIRECT, Reach, TraversalOptions, traverse
from colline.graph.traversal.csr import Adjacency, Nodes, adjacency, expand

_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)
_EDGES_AT_ONCE = 1 << 20
_MOST_WORDS = 8  # 512 beginnings at a time keep the bits of a million columns in 64 MB


@dataclass(frozen=True)
class Step:
    """One edge of a way, from a column nearer to the beginning to one farther away."""

    edges: Adjacency
    row: int
    nearer: int
    farther: int
    level: str = "column"

    def ends(self, *, upstream: bool) -> tuple[int, int]:
        """The two columns, source first."""
        return (self.farther, self.nearer) if upstream else (self.nearer, self.farther)


def best_state(reach: Reach, node: int) -> int:
    """The state that counts: clear before masked, direct before indirect."""
    return next(state for state in (0, 1, 2, 3) if int(reach.seen[node]) & (1 << state))


def shortest_path(reach: Reach, node: int) -> list[Step]:
    """A shortest way from where the walk began to a column it reached, of the kind that counts for that column."""
    state, steps = best_state(reach, node), []
    back = adjacency(
        reach.arrays,
        forward=reach.options.upstream,
        indirect=reach.options.indirect,
        past=reach.options.at is not None,
    )
    while reach.state_levels[state][node] > 1:
        step, state = _step_back(reach, back, node, state)
        steps.append(step)
        node = step.nearer
    return steps[::-1]


def _step_back(reach: Reach, back: tuple[Adjacency, ...], node: int, state: int) -> tuple[Step, int]:
    level = int(reach.state_levels[state][node])
    for edges, end, kind in _ends(reach, back, node, state):
        for before in (s for s in range(len(reach.state_levels)) if s | edges.bits == state):
            rows = edges.positions(np.array([end]), reach.options.at)
            for row, other in _arrived(reach, edges, rows, before, level - 1):
                return Step(edges, row, other, node, kind), before
    raise AssertionError(f"no step leads to node {node}")


def _ends(reach: Reach, back: tuple[Adjacency, ...], node: int, state: int) -> Iterator[tuple[Adjacency, int, str]]:
    """Edges that may have led to a column: its own, and those of its dataset's rows."""
    yield from ((edges, node, "column") for edges in back)
    if reach.options.indirect and state & INDIRECT:
        rows = int(reach.arrays["dataset.rows"][reach.arrays["node.dataset"][node]])
        if rows >= 0 and not reach.options.upstream:
            yield from ((edges, rows, "dataset") for edges in back if edges.bits & INDIRECT)
        if reach.options.upstream:
            yield from ((edges, node, "dataset") for edges in back if edges.bits & INDIRECT)


def _arrived(reach: Reach, edges: Adjacency, rows: Nodes, state: int, level: int) -> Iterator[tuple[int, int]]:
    """Edges whose other end was reached in a state one level before; a `rows` end stands for its dataset's columns."""
    others = edges.other[rows].astype(np.int64)
    for at in np.flatnonzero(reach.state_levels[state][others] == level)[:1]:
        yield int(rows[at]), int(others[at])
    if reach.options.upstream and edges.bits & INDIRECT:
        for at in np.flatnonzero(reach.arrays["node.rows"][others]):
            columns = np.arange(
                *reach.arrays["dataset.start"][reach.arrays["node.dataset"][others[at]] + np.array([0, 1])]
            )
            for column in columns[reach.state_levels[state][columns] == level][:1]:
                yield int(rows[at]), int(column)


def sources_reaching(reach: Reach, wanted: Nodes) -> NDArray[np.int64]:
    """How many of the walk's beginnings reach each wanted column by direct steps, all walked at once as bits."""
    found = np.ascontiguousarray(bits_of(reach, wanted)).view(np.uint8)
    counts: NDArray[np.int64] = _ONES[found].sum(axis=1, dtype=np.int64)
    return counts


def bits_of(reach: Reach, wanted: Nodes) -> NDArray[np.uint64]:
    """For each wanted column, one bit a beginning that reaches it by direct steps."""
    if reach.options.depth is not None:
        return _one_by_one(reach, wanted)
    words = (len(reach.origin) + 63) // 64
    parts = [_bits(reach, reach.origin[w * 64 : (w + _MOST_WORDS) * 64], wanted) for w in range(0, words, _MOST_WORDS)]
    return np.concatenate(parts, axis=1)


def _one_by_one(reach: Reach, wanted: Nodes) -> NDArray[np.uint64]:
    """The same by one walk each: where steps are counted, bits cannot tell."""
    out = np.zeros((len(wanted), (len(reach.origin) + 63) // 64), dtype=np.uint64)
    question = TraversalOptions(reach.options.upstream, indirect=False, depth=reach.options.depth, at=reach.options.at)
    for place, start in enumerate(reach.origin):
        mine = traverse(reach.arrays, np.array([start]), question)
        out[mine.level[wanted] > 0, place // 64] |= np.uint64(1) << np.uint64(place % 64)
    return out


def _bits(reach: Reach, beginnings: Nodes, wanted: Nodes) -> NDArray[np.uint64]:
    """Bits flow along the edges in the order of levels, each edge once; again only where there are cycles."""
    nodes = np.concatenate([reach.origin, *(direct for direct, _ in reach.layers)])
    level = reach.arrays["node.level"][nodes]
    order = np.argsort(level if not reach.options.upstream else -level, kind="stable")
    nodes, level = nodes[order], level[order]
    place = np.zeros(len(reach.seen), dtype=np.int32)
    place[nodes] = np.arange(1, len(nodes) + 1)
    bits = np.zeros((len(nodes) + 1, (len(beginnings) + 63) // 64), dtype=np.uint64)  # row 0: not reached
    at = np.arange(len(beginnings))
    np.bitwise_or.at(bits, (place[beginnings], at // 64), np.uint64(1) << (at % 64).astype(np.uint64))
    cuts = np.flatnonzero(np.diff(level)) + 1
    groups = np.split(nodes, cuts)
    back = adjacency(reach.arrays, forward=reach.options.upstream, indirect=False, past=reach.options.at is not None)
    again = True
    while again:
        changed = [_pull(reach, back, group, place, bits) for group in groups]
        again = any(changed) and bool(reach.arrays.meta["cyclic"])
    found: NDArray[np.uint64] = bits[place[wanted]]
    return found


def _pull(reach: Reach, back: tuple[Adjacency, ...], nodes: Nodes, place: Nodes, bits: NDArray[np.uint64]) -> bool:
    """Give each node the bits of the nodes before it; whether some node got more."""
    changed = False
    for edges in back:
        sizes = edges.start[nodes + 1] - edges.start[nodes]
        cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // _EDGES_AT_ONCE)) + 1
        for chunk in np.split(nodes, cuts):
            rows, counts = expand(edges.start, chunk)
            if reach.options.at is not None:
                true = edges.valid_at(rows, reach.options.at)
                kept = np.add.reduceat(np.append(true, False), np.cumsum(counts) - counts) if len(rows) else counts
                rows, counts = rows[true], np.where(counts > 0, kept, 0)
            part, counts = chunk[counts > 0], counts[counts > 0]
            if not len(part):
                continue
            gained = np.bitwise_or.reduceat(bits[place[edges.other[rows]]], np.cumsum(counts) - counts, axis=0)
            mine = place[part]
            before = bits[mine]
            after = before | gained
            changed = changed or bool((after != before).any())
            bits[mine] = after
    return changed
