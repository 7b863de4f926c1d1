"""From a set of columns to everything they reach, level by level, at a cost that follows what is reached.

A column is reached in one of four states: by direct steps or with an indirect one, in the clear or through a mask. A
state is two bits, an edge adds its own, and a state makes every state with more bits pointless from that level on.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colline.graph.snapshot.array_file import NEVER, Arrays
from colline.graph.traversal.csr import Adjacency, Nodes, adjacency, distinct, expand, numbers, once
from colline.graph.traversal.near import COVERS, FEW, few_arrive, few_steps

MASKED, INDIRECT = 1, 2
_DIRECT_SEEN = 0b0011
# state → whether it is news, by the set of states that were seen: one look instead of two sums
_IS_FRESH = tuple(np.array([not seen >> state & 1 for seen in range(16)]) for state in range(4))
_Part = tuple[int, Nodes]  # nodes of a ring, and the state they are in
_NO_NODES: Nodes = np.empty(0, dtype=np.int64)
_MANY = 1000  # so many steps at once are worth a look at whether their ends lie close together
_FEW_LEVELS = 250
_SPARSE = 16  # a walk that reached less than one in this many columns wipes what it wrote
_BLANKS = 2  # arrays kept for the walks to come
_DENSE = 64  # ends with more than one in this many of their range are collected by a bitmap


@dataclass(frozen=True)
class TraversalOptions:
    """Which way to walk, over which edges, how far, and as of when."""

    upstream: bool
    indirect: bool = False
    depth: int | None = None
    at: int | None = None


@dataclass(frozen=True)
class Reach:
    """What a walk reached. `found` has a pair a level: columns first reached there by direct steps, and the others."""

    arrays: Arrays
    options: TraversalOptions
    origin: Nodes
    seen: NDArray[np.uint8]
    rings: tuple[tuple[Nodes, ...], ...]  # a level each, from the origin on: the columns that arrived, by state
    layers: tuple[tuple[Nodes, Nodes], ...]
    job_seen: NDArray[np.bool_]

    def __del__(self) -> None:
        """Wipe what was written into `seen` and keep it for the next walk, if nobody else holds it."""
        held_here = 2  # by this value, and by the call that counts
        if self.options.indirect or sys.getrefcount(self.seen) > held_here or self.total * _SPARSE > len(self.seen):
            return
        kept = _blanks(self.arrays)
        if len(kept) < _BLANKS:
            for ring in self.rings:
                for nodes in ring:
                    if len(nodes):
                        self.seen[nodes] = 0
            kept.append(self.seen)

    @cached_property
    def state_levels(self) -> tuple[NDArray[np.int32], ...]:
        """Per state, at which level a column arrived in it, plus one: the way back along a path."""
        out = tuple(np.zeros(len(self.seen), dtype=np.int32) for _ in range(4 if self.options.indirect else 2))
        for level, ring in enumerate(self.rings, 1):
            for of_state, nodes in zip(out, ring, strict=False):
                of_state[nodes] = level
        return out

    @cached_property
    def jobs(self) -> Nodes:
        """The jobs whose edges were walked."""
        return self.job_seen[:-1].nonzero()[0]

    def level_of(self, nodes: Nodes) -> NDArray[np.int64]:
        """How far some columns are, in the state that counts, plus one; 0 = not reached."""
        return self.level.take(nodes).astype(np.int64)

    @cached_property
    def level(self) -> NDArray[Any]:
        """The same of all columns, in the smallest numbers that can tell it: to clear them is part of every answer."""
        out = np.zeros(len(self.seen), dtype=np.uint8 if len(self.layers) < _FEW_LEVELS else np.int32)
        out[self.origin] = 1
        for level, ring in enumerate(self.layers, 2):
            for nodes in ring:
                out[nodes] = level
        return out

    @cached_property
    def sizes(self) -> list[int]:
        """How many columns lie at each distance."""
        return [len(direct) + len(indirect) for direct, indirect in self.layers]

    @cached_property
    def total(self) -> int:
        """How many columns were reached."""
        return sum(self.sizes)

    @property
    def depth(self) -> int:
        """The distance of the farthest column."""
        return max((level for level, size in enumerate(self.sizes, 1) if size), default=0)

    def page(self, offset: int, limit: int | None) -> Nodes:
        """Columns nearest first, direct before indirect, then by name; only levels on the page are put in order."""
        end = self.total if limit is None else min(self.total, offset + limit)
        out, place = [], 0
        for level in self.layers:
            for nodes in level:
                if not len(nodes):
                    continue
                low, high = max(offset - place, 0), min(end - place, len(nodes))
                if low < high:
                    out.append(_in_order(nodes, low, high))
                place += len(nodes)
        return np.concatenate(out) if out else _NO_NODES

    def page_levels(self, offset: int, count: int) -> NDArray[np.int64]:
        """How far the columns of a page are, plus one: they come level by level."""
        counts, place = [], 0
        for size in self.sizes:
            counts.append(max(min(place + size, offset + count) - max(place, offset), 0))
            place += size
        return numbers(len(counts) + 2)[2:].repeat(counts)

    def all_nodes(self) -> Nodes:
        """All columns reached, in no order within a level."""
        return np.concatenate([nodes for level in self.layers for nodes in level] or [_NO_NODES])

    def is_direct(self, nodes: Any) -> Any:
        """Whether some way there has only direct steps."""
        return (self.seen.take(nodes) & _DIRECT_SEEN) != 0

    def is_masked(self, nodes: Any) -> Any:
        """Whether every way there, of the kind that counts, goes through a mask."""
        seen = self.seen.take(nodes)
        if not self.options.indirect:
            return (seen & 0b0001) == 0
        direct = (seen & _DIRECT_SEEN) != 0
        return np.where(direct, (seen & 0b0001) == 0, (seen & 0b0100) == 0)


def _blanks(arrays: Arrays) -> list[NDArray[np.uint8]]:
    """Arrays of zeros, one a column. To clear a new one drives everything else out of the processor's memory."""
    kept: list[NDArray[np.uint8]] = arrays.derived.setdefault("blanks", [])
    return kept


def _blank(arrays: Arrays) -> NDArray[np.uint8]:
    try:
        return _blanks(arrays).pop()
    except IndexError:
        # calloc: pages that the walk does not touch cost nothing
        return np.zeros(arrays.meta["nodes"], dtype=np.uint8)


def alive(arrays: Arrays, nodes: Any, at: int | None) -> NDArray[np.bool_]:
    """Which columns a dataset had at a time, or has now."""
    until = arrays["node.until"][nodes]
    return np.asarray(until == NEVER if at is None else (arrays["node.since"][nodes] <= at) & (at < until))


def _in_order(nodes: Nodes, low: int, high: int) -> Nodes:
    if high - low == len(nodes):
        return np.sort(nodes)
    return np.sort(np.partition(nodes, [low, high - 1])[low:high]) if high - low else _NO_NODES


def traverse(arrays: Arrays, origin: Nodes, options: TraversalOptions) -> Reach:
    """Everything the origin reaches under the question's terms. Cycles and self edges end where they began."""
    steps = _Steps(arrays, options, origin)
    level = 0
    while any(map(len, steps.rings[-1])) and (options.depth is None or level < options.depth):
        level += 1
        steps.take()
    return steps.reach()


@dataclass
class _Steps:
    """The state of one walk: what was seen, at which level, and the edges it may take."""

    arrays: Arrays
    options: TraversalOptions
    origin: Nodes
    found: list[tuple[Nodes, Nodes]] = field(default_factory=list)
    rings: list[tuple[Nodes, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        arrays, options = self.arrays, self.options
        self.seen = _blank(arrays)
        self.jobs: list[Nodes] = []
        self.edges = adjacency(
            arrays, forward=not options.upstream, indirect=options.indirect, past=options.at is not None
        )
        self.rows_edges = [edges for edges in self.edges if edges.bits & INDIRECT]
        self.rows_of = arrays["dataset.rows"] if options.indirect else None
        self.is_rows = arrays["node.rows"] if options.indirect else None
        self.seen[self.origin] = COVERS[0]
        self.is_simple = not options.indirect and options.at is None
        self.is_plain = True  # nothing was reached but by direct steps in the clear
        self.rings.append((self.origin, _NO_NODES, _NO_NODES, _NO_NODES))

    def take(self) -> None:
        """One step from every node of the last ring."""
        if self.is_simple and sum(map(len, self.rings[-1])) <= FEW and self._take_few():
            return
        reached: list[list[Nodes]] = [[], [], [], []]
        parts = [(state, nodes) for state, nodes in enumerate(self.rings[-1]) if len(nodes)]
        self._follow(self.edges, parts, reached)
        if self.rows_of is not None and self.options.upstream:
            above = [(state | INDIRECT, self._rows_above(state | INDIRECT, nodes)) for state, nodes in parts]
            self._follow(self.rows_edges, above, reached)
        direct: list[Nodes] = []
        indirect: list[Nodes] = []
        new = (direct, indirect)
        self.rings.append(tuple(self._arrive(state, parts, new) for state, parts in enumerate(reached)))
        self.found.append((_joined(direct), _joined(indirect)))

    def _take_few(self) -> bool:
        """The same from few nodes, whether it was done so: not if they have many edges."""
        clear, masked, *_ = self.rings[-1]
        found = few_steps(self.edges, (clear.tolist(), masked.tolist()))
        if found is None:
            return False
        reached, jobs = found
        if jobs:
            self.jobs.append(np.array(jobs, dtype=np.int64))
        fresh, new = few_arrive(reached, self.seen.data)
        self.is_plain = self.is_plain and not fresh[MASKED]
        self.rings.append((*(np.array(nodes, dtype=np.int64) for nodes in fresh), _NO_NODES, _NO_NODES))
        self.found.append((np.array(new, dtype=np.int64), _NO_NODES))
        return True

    def _rows_above(self, state: int, nodes: Nodes) -> Nodes:
        """What stands for the rows of the datasets that the columns are in, where it was not yet reached."""
        assert self.rows_of is not None
        rows: Nodes = distinct(self.rows_of[self.arrays["node.dataset"][nodes]])
        rows = rows[rows >= 0].astype(np.int64)
        rows = rows.compress(_IS_FRESH[state].take(self.seen.take(rows)))
        self.seen[rows] |= COVERS[state]
        return rows

    def _follow(self, sets: Iterable[Adjacency], parts: list[_Part], reached: list[list[Nodes]]) -> None:
        """A step over some sets of edges, from the nodes of each state."""
        if len(parts) > 1 and sum(len(nodes) for _, nodes in parts) <= _MANY:
            self._follow_together(sets, parts, reached)
            return
        for edges in sets:
            for state, nodes in parts:
                others, jobs = edges.step(nodes, self.options.at)
                if len(others):
                    self.jobs.append(jobs)
                    reached[state | edges.bits].append(others)

    def _follow_together(self, sets: Iterable[Adjacency], parts: list[_Part], reached: list[list[Nodes]]) -> None:
        """The same of few nodes: to look for the edges of all states at once costs as much as for those of one."""
        nodes, cuts = np.concatenate([some for _, some in parts]), list(accumulate(len(some) for _, some in parts))
        for edges in sets:
            rows, ends = edges.positions_of(nodes, cuts, self.options.at)
            if not len(rows):
                continue
            self.jobs.append(edges.job.take(rows))
            others, low = edges.other.take(rows), 0
            states = [state | edges.bits for state, _ in parts]
            for state, after, high in zip(states, [*states[1:], None], ends, strict=True):
                if state == after:  # the next piece goes to the same state: they are one
                    continue
                if low < high:
                    reached[state].append(others[low:high])
                low = high

    def _arrive(self, state: int, parts: list[Nodes], new: tuple[list[Nodes], list[Nodes]]) -> Nodes:
        if not parts:
            return _NO_NODES
        nodes = self._fresh(_joined(parts), state)
        if self.is_rows is not None and not self.options.upstream and state & INDIRECT:
            nodes = self._past_rows(nodes, state)
        if not len(nodes):
            return _NO_NODES
        (new[1] if state & INDIRECT else new[0]).append(self._counted(nodes, state))
        # the first state covers all others; with direct steps only, what is fresh has no state that the new one lacks
        whole = state == 0 or not self.options.indirect
        self.seen[nodes] = COVERS[state] if whole else self.seen.take(nodes) | COVERS[state]
        self.is_plain = self.is_plain and state == 0
        return nodes

    def _counted(self, nodes: Nodes, state: int) -> Nodes:
        """Those of the fresh nodes that were not yet counted: by direct steps, or at all."""
        if self.is_plain or state == MASKED:  # what was reached in the clear is not fresh in a mask
            return nodes
        already = self.seen.take(nodes)
        return nodes.compress(already == 0 if state & INDIRECT else (already & _DIRECT_SEEN) == 0)

    def _fresh(self, nodes: Nodes, state: int) -> Nodes:
        """Nodes that were not yet reached in this state or a better one, each once, sorted."""
        if len(nodes) > _MANY:
            low, high = int(nodes.min()), int(nodes.max()) + 1
            if len(nodes) * _DENSE > high - low:
                inside = np.zeros(high - low, dtype=np.bool_)
                inside[nodes - low] = True
                inside &= (self.seen[low:high] & (1 << state)) == 0
                return np.flatnonzero(inside) + low
        fresh = nodes.compress(_IS_FRESH[state].take(self.seen.take(nodes)))
        if len(fresh) > 1:
            fresh.sort()
            fresh = once(fresh)
        return fresh.astype(np.int64, copy=False)

    def _past_rows(self, nodes: Nodes, state: int) -> Nodes:
        """What decides the rows of a dataset reaches each of its columns, in the same step."""
        assert self.is_rows is not None
        chosen = self.is_rows[nodes]
        if not chosen.any():
            return nodes
        rows = nodes[chosen]
        self.seen[rows] |= COVERS[state]
        columns = expand(self.arrays["dataset.start"], self.arrays["node.dataset"][rows].astype(np.int64))[0]
        columns = columns[~self.is_rows[columns] & alive(self.arrays, columns, self.options.at)]
        return self._fresh(np.concatenate([nodes[~chosen], columns]), state)

    def reach(self) -> Reach:
        """The walk's result; what turned out to be direct later is counted there only."""
        found = tuple((direct, self._only_indirect(indirect)) for direct, indirect in self.found)
        job_seen = np.zeros(self.arrays.meta["jobs"] + 1, dtype=np.bool_)  # the last one: no job
        few = [jobs for jobs in self.jobs if len(jobs) <= _MANY]
        for jobs in [np.concatenate(few), *(jobs for jobs in self.jobs if len(jobs) > _MANY)] if few else self.jobs:
            job_seen[jobs] = True
        return Reach(self.arrays, self.options, self.origin, self.seen, tuple(self.rings), found, job_seen)

    def _only_indirect(self, nodes: Nodes) -> Nodes:
        return nodes.compress((self.seen.take(nodes) & _DIRECT_SEEN) == 0) if len(nodes) else nodes


def _joined(parts: list[Nodes]) -> Nodes:
    if not parts:
        return _NO_NODES
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
