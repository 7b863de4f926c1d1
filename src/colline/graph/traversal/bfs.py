"""Breadth-first search from a set of columns, upstream or downstream.

A column can be reached in four states: by direct edges only or with an indirect one, in the clear or through a mask.
A state is two bits. An edge adds its own bits to the state, so a path never loses one. A column that was reached in
one state need not be visited again in a state with more bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colline.flat.integer_arrays import NEVER, distinct, expand
from colline.graph.snapshot.array_file import Arrays
from colline.graph.traversal.csr import NO_NODES, Adjacency, Nodes, adjacency

MASKED, INDIRECT = 1, 2
# state → the states it makes superfluous: itself and every state with more bits, one bit per state
COVERED_STATES = (0b1111, 0b1010, 0b1100, 0b1000)
_CLEAR_STATES, _DIRECT_STATES = 0b0101, 0b0011

Frontier = tuple[Nodes, Nodes, Nodes, Nodes]  # the columns newly reached at one distance, by state
Mask = NDArray[np.bool_]
Levels = NDArray[np.unsignedinteger]


@dataclass(frozen=True)
class TraversalOptions:
    """Direction, kinds of edges, largest distance and point in time of a traversal."""

    upstream: bool
    indirect: bool = False
    depth: int | None = None
    at: int | None = None


class Visited:
    """The states in which each column was reached: one byte per column, one bit per state."""

    def __init__(self, node_count: int, start: Nodes) -> None:
        self.states = np.zeros(node_count, dtype=np.uint8)
        self.states[start] = COVERED_STATES[0]

    def add_new(self, nodes: Nodes, state: int) -> Nodes:
        """Mark the nodes as reached in a state; returns those for which this is new, sorted, without repetitions."""
        is_new = (self.states.take(nodes) & (1 << state)) == 0
        new = distinct(nodes.compress(is_new)).astype(np.int64, copy=False)
        self.states[new] |= COVERED_STATES[state]
        return new


def traverse(arrays: Arrays, origin: Nodes, options: TraversalOptions) -> Reach:
    """Every column that can be reached from `origin`, with its distance and states."""
    edges = _Edges(arrays, options)
    visited = Visited(arrays.meta["nodes"], origin)
    frontiers: list[Frontier] = [(origin, NO_NODES, NO_NODES, NO_NODES)]
    while any(map(len, frontiers[-1])) and (options.depth is None or len(frontiers) <= options.depth):
        clear, masked, indirect, both = edges.follow(frontiers[-1], visited)
        frontiers.append(
            (
                visited.add_new(clear, 0),
                visited.add_new(masked, MASKED),
                visited.add_new(indirect, INDIRECT),
                visited.add_new(both, MASKED | INDIRECT),
            )
        )
    level = _levels(frontiers, len(visited.states))
    nodes = _in_order(frontiers, level, visited.states)
    return Reach(arrays, options, tuple(frontiers), visited.states, level, nodes, edges.jobs)


def _levels(frontiers: Sequence[Frontier], node_count: int) -> Levels:
    """The level of each node; see `Reach`."""
    out = np.zeros(node_count, dtype=np.min_scalar_type(len(frontiers)))
    backwards = [(level, frontiers[level - 1]) for level in range(len(frontiers), 0, -1)]
    for level, (_, _, indirect, both) in backwards:
        out[indirect] = out[both] = level
    for level, (clear, masked, _, _) in backwards:
        out[clear] = out[masked] = level
    return out


def _in_order(frontiers: Sequence[Frontier], levels: Levels, states: NDArray[np.uint8]) -> Nodes:
    """The columns reached, in the order of `Reach.nodes`."""
    out = [NO_NODES]
    for level, (clear, masked, indirect, both) in enumerate(frontiers[1:], 2):
        others = _at_level(indirect, both, levels, level)
        out += [_at_level(clear, masked, levels, level), others.compress(~_is_direct(states, others))]
    return np.concatenate(out)


def _at_level(clear: Nodes, masked: Nodes, levels: Levels, level: int) -> Nodes:
    """The nodes of two sorted arrays that were not reached at a lower level in another state."""
    nodes = np.sort(np.concatenate([clear, masked]), kind="stable") if len(masked) else clear
    return nodes.compress(levels.take(nodes) == level)


def _is_direct(states: NDArray[np.uint8], nodes: Nodes) -> Mask:
    return np.asarray((states.take(nodes) & _DIRECT_STATES) != 0)


class _Edges:
    """The edges a traversal may follow, and the jobs of those it followed."""

    def __init__(self, arrays: Arrays, options: TraversalOptions) -> None:
        self._arrays, self._options = arrays, options
        self._sets = adjacency(
            arrays, forward=not options.upstream, indirect=options.indirect, past=options.at is not None
        )
        self._has_job = np.zeros(arrays.meta["jobs"] + 1, dtype=np.bool_)  # the last one: edges without a job

    @property
    def jobs(self) -> Nodes:
        """The jobs whose edges were followed."""
        return self._has_job[:-1].nonzero()[0]

    def follow(self, frontier: Frontier, visited: Visited) -> list[Nodes]:
        """The nodes one edge away from the frontier, by state, with repetitions."""
        reached: list[list[Nodes]] = [[], [], [], []]
        for state, nodes, sets in self._edges_to_follow(frontier, visited):
            for edges in sets:
                reached[state | edges.bits].append(self._end_nodes(edges, nodes))
        out = [np.concatenate(parts) if parts else NO_NODES for parts in reached]
        if self._options.indirect and not self._options.upstream:
            for state in (INDIRECT, INDIRECT | MASKED):
                out[state] = self._with_columns_of_rows(out[state], state, visited)
        return out

    def _edges_to_follow(
        self, frontier: Frontier, visited: Visited
    ) -> Iterator[tuple[int, Nodes, Sequence[Adjacency]]]:
        """The nodes of each state to leave from and the edges to follow; upstream, also the datasets' `rows` nodes."""
        for state, nodes in enumerate(frontier):
            if not len(nodes):
                continue
            yield state, nodes, self._sets
            if self._options.indirect and self._options.upstream:
                rows = visited.add_new(self._rows_nodes(nodes), state | INDIRECT)
                yield state | INDIRECT, rows, [edges for edges in self._sets if edges.bits & INDIRECT]

    def _end_nodes(self, edges: Adjacency, nodes: Nodes) -> Nodes:
        places = edges.positions(nodes, self._options.at)
        self._has_job[edges.job.take(places)] = True
        return edges.other.take(places)

    def _rows_nodes(self, nodes: Nodes) -> Nodes:
        """The `rows` nodes of the datasets of some columns: what decides a dataset's rows affects each column."""
        rows = distinct(self._arrays["dataset.rows"].take(self._arrays["node.dataset"].take(nodes)))
        return rows[rows >= 0]

    def _with_columns_of_rows(self, nodes: Nodes, state: int, visited: Visited) -> Nodes:
        """The nodes, with each `rows` node replaced by the columns of its dataset."""
        is_rows = self._arrays["node.rows"].take(nodes)
        rows = visited.add_new(nodes.compress(is_rows), state)
        columns, _ = expand(self._arrays["dataset.start"], self._arrays["node.dataset"].take(rows))
        kept = exist_at(self._arrays, columns, self._options.at) & ~self._arrays["node.rows"].take(columns)
        return np.concatenate([nodes.compress(~is_rows), columns.compress(kept)])


@dataclass(frozen=True)
class Reach:
    """The result of a traversal. Level 1 is the origin, level 2 is one edge away, level 0 means not reached."""

    arrays: Arrays
    options: TraversalOptions
    frontiers: tuple[Frontier, ...]  # by distance, from the origin on
    states: NDArray[np.uint8]
    level: Levels  # of each node: that of its shortest direct path, or of its shortest path if it has no direct one
    nodes: Nodes  # the columns reached: nearest first, direct before indirect, then by name
    jobs: Nodes

    @property
    def origin(self) -> Nodes:
        """The columns that the traversal started from."""
        return self.frontiers[0][0]

    @property
    def node_count(self) -> int:
        """The number of nodes of the graph, reached or not."""
        return len(self.states)

    def level_of(self, nodes: Nodes) -> NDArray[np.int64]:
        """The level of some nodes."""
        return self.level.take(nodes).astype(np.int64)

    @property
    def total(self) -> int:
        """The number of columns reached."""
        return len(self.nodes)

    @property
    def depth(self) -> int:
        """The distance of the farthest column."""
        return int(self.level[self.nodes[-1]]) - 1 if len(self.nodes) else 0

    def page(self, offset: int, limit: int | None) -> Nodes:
        """One page of `nodes`."""
        return self.nodes[offset : None if limit is None else offset + limit]

    def is_direct(self, nodes: Nodes) -> Mask:
        """Whether some path to each node has direct edges only."""
        return _is_direct(self.states, nodes)

    def is_masked(self, nodes: Nodes) -> Mask:
        """Whether every path to each node goes through a mask; only direct paths count where there are some."""
        states = self.states.take(nodes)
        counting = np.where((states & _DIRECT_STATES) != 0, states & _DIRECT_STATES, states)
        return np.asarray((counting & _CLEAR_STATES) == 0)


def exist_at(arrays: Arrays, nodes: Nodes | int, at: int | None) -> Mask:
    """Whether each column exists, or existed at a time."""
    until = arrays["node.until"][nodes]
    return np.asarray(until == NEVER if at is None else (arrays["node.since"][nodes] <= at) & (at < until))
