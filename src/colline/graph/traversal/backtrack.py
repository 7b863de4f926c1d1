"""Explains a downstream traversal: a shortest path to a column, and the number of origins that reach each column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colline.graph.traversal.bfs import INDIRECT, Reach, traverse
from colline.graph.traversal.csr import Adjacency, Nodes, adjacency
from colline.graph.traversal.records import Level

_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)  # byte → the bits set in it
_MAX_EDGES_AT_ONCE = 1 << 20
_MAX_WORDS = 8  # 512 origins at a time: the bits of a million columns take 64 MB

Bits = NDArray[np.uint64]


@dataclass(frozen=True)
class Step:
    """One edge of a path, from a column nearer to the origin to one farther away."""

    edges: Adjacency
    row: int
    nearer: int
    farther: int
    level: Level = "column"


def shortest_paths(reach: Reach, nodes: Nodes) -> Iterator[list[Step]]:
    """A shortest path from the origin to each column: in the clear if there is one, else direct, else any."""
    back = _edges_upstream(reach, indirect=reach.options.indirect)
    levels = _state_levels(reach)
    for node in nodes.tolist():
        yield _path_to(_Search(reach, back, levels), node)


@dataclass(frozen=True)
class _Search:
    """What finding a path needs: the traversal, the edges back, and per state the level of each node in it."""

    reach: Reach
    back: tuple[Adjacency, ...]
    levels: tuple[NDArray[np.int32], ...]


def _state_levels(reach: Reach) -> tuple[NDArray[np.int32], ...]:
    """Per state, the level at which each node was newly reached in it."""
    out = tuple(np.zeros(reach.node_count, dtype=np.int32) for _ in reach.frontiers[0])
    for level, frontier in enumerate(reach.frontiers, 1):
        for levels, nodes in zip(out, frontier, strict=True):
            levels[nodes] = level
    return out


def _path_to(search: _Search, node: int) -> list[Step]:
    state = next(state for state in range(4) if int(search.reach.states[node]) & (1 << state))
    steps: list[Step] = []
    while search.levels[state][node] > 1:
        step, state = _step_before(search, node, state)
        steps.append(step)
        node = step.nearer
    return steps[::-1]


def _edges_upstream(reach: Reach, *, indirect: bool) -> tuple[Adjacency, ...]:
    return adjacency(reach.arrays, forward=False, indirect=indirect, past=reach.options.at is not None)


def _step_before(search: _Search, node: int, state: int) -> tuple[Step, int]:
    """An edge over which a node was reached in a state, and the state of its nearer end."""
    level = int(search.levels[state][node]) - 1
    for edges, end, kind in _edges_into(search, node):
        rows = edges.positions(np.array([end]), search.reach.options.at)
        others = edges.other.take(rows)
        for before in (before for before in range(4) if before | edges.bits == state):
            for place in np.flatnonzero(search.levels[before].take(others) == level)[:1]:
                return Step(edges, int(rows[place]), int(others[place]), node, kind), before
    raise AssertionError(f"no edge leads to node {node}")


def _edges_into(search: _Search, node: int) -> Iterator[tuple[Adjacency, int, Level]]:
    """The groups of edges that can lead to a column: its own, and those of its dataset's `rows` node."""
    yield from ((edges, node, "column") for edges in search.back)
    arrays = search.reach.arrays
    rows = int(arrays["dataset.rows"][arrays["node.dataset"][node]])
    if rows >= 0:
        yield from ((edges, rows, "dataset") for edges in search.back if edges.bits & INDIRECT)


def sources_reaching(reach: Reach, wanted: Nodes) -> NDArray[np.int64]:
    """The number of origins that reach each wanted column by direct edges."""
    bits = np.ascontiguousarray(_origin_bits(reach, wanted)).view(np.uint8)
    counts: NDArray[np.int64] = _ONES[bits].sum(axis=1, dtype=np.int64)
    return counts


def _origin_bits(reach: Reach, wanted: Nodes) -> Bits:
    """For each wanted column, one bit per origin that reaches it by direct edges."""
    if reach.options.depth is not None:
        return _bits_one_by_one(reach, wanted)
    step, order = 64 * _MAX_WORDS, _topological_order(reach)
    parts = [
        _propagated_bits(reach, order, reach.origin[at : at + step])[order.place[wanted]]
        for at in range(0, len(reach.origin), step)
    ]
    return np.concatenate(parts, axis=1)


def _bits_one_by_one(reach: Reach, wanted: Nodes) -> Bits:
    """The same by one traversal per origin: bits that are propagated carry no distance."""
    out = np.zeros((len(wanted), (len(reach.origin) + 63) // 64), dtype=np.uint64)
    for place in range(len(reach.origin)):
        one = traverse(reach.arrays, reach.origin[place : place + 1], replace(reach.options, indirect=False))
        out[one.level[wanted] > 0, place // 64] |= np.uint64(1) << np.uint64(place % 64)
    return out


class _Order(NamedTuple):
    """The columns with a direct path in topological order: the groups of one level, and the place of each column."""

    groups: list[Nodes]
    place: NDArray[np.int32]  # from 1 on; 0: not reached
    column_count: int


def _topological_order(reach: Reach) -> _Order:
    nodes = np.concatenate([reach.origin, reach.nodes.compress(reach.is_direct(reach.nodes))])
    nodes = nodes[np.argsort(reach.arrays["node.level"][nodes], kind="stable")]
    place = np.zeros(reach.node_count, dtype=np.int32)
    place[nodes] = np.arange(1, len(nodes) + 1)
    groups = np.split(nodes, np.flatnonzero(np.diff(reach.arrays["node.level"][nodes])) + 1)
    return _Order(groups, place, len(nodes))


def _propagated_bits(reach: Reach, order: _Order, origins: Nodes) -> Bits:
    """Propagates the bits along the edges in topological order, each edge once; repeats while a cycle changes them."""
    bits = np.zeros((order.column_count + 1, (len(origins) + 63) // 64), dtype=np.uint64)  # row 0: not reached
    at = np.arange(len(origins))
    np.bitwise_or.at(bits, (order.place[origins], at // 64), np.uint64(1) << (at % 64).astype(np.uint64))
    back = _edges_upstream(reach, indirect=False)
    has_changed = True
    while has_changed:
        changes = [_pull(reach, edges, group, order.place, bits=bits) for group in order.groups for edges in back]
        has_changed = any(changes) and bool(reach.arrays.meta["cyclic"])
    return bits


def _pull(reach: Reach, edges: Adjacency, nodes: Nodes, place: NDArray[np.int32], *, bits: Bits) -> bool:
    """Adds to each node the bits of the nodes with an edge to it; returns whether a node gained some."""
    has_changed = False
    batches = np.cumsum(edges.start[nodes + 1] - edges.start[nodes]) // _MAX_EDGES_AT_ONCE
    for batch in np.split(nodes, np.flatnonzero(np.diff(batches)) + 1):
        rows, owner = edges.rows(batch, reach.options.at)
        if not len(rows):
            continue
        is_first = np.append(True, owner[1:] != owner[:-1])
        gained = np.bitwise_or.reduceat(bits[place[edges.other[rows]]], np.flatnonzero(is_first), axis=0)
        mine = place[owner[is_first]]
        before = bits[mine]
        bits[mine] = before | gained
        has_changed = has_changed or bool((bits[mine] != before).any())
    return has_changed
