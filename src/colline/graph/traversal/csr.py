"""One set of edges in one direction, as CSR arrays: from a set of nodes to everything one step away."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colline.graph.snapshot.array_file import Arrays

Nodes = NDArray[Any]  # numbers of nodes or places, of any integer width
_NO_NODES: Nodes = np.empty(0, dtype=np.int64)
_FIRST_NUMBERS = np.arange(1 << 14)
_MOST_NUMBERS = 1 << 20
_MANY = 2000  # so many nodes are worth a look at whether they lie close together


def expand(start: NDArray[np.int64], nodes: Nodes) -> tuple[Nodes, Nodes]:
    """The positions of all rows of the given nodes, one after the other, and how many each node has."""
    first, counts = spans(start, nodes)
    return positions(first, counts), counts


def spans(start: NDArray[np.int64], nodes: Nodes) -> tuple[Nodes, Nodes]:
    """Where the rows of each node begin, and how many they are."""
    first = start.take(nodes)
    counts = start[1:].take(nodes)
    counts -= first
    return first, counts


def positions(first: Nodes, counts: Nodes) -> Nodes:
    """The positions of all rows that begin somewhere and are so many; the beginnings are used up."""
    return _positions(first, counts, counts.cumsum())


def _positions(first: Nodes, counts: Nodes, ends: Nodes) -> Nodes:
    total = int(ends[-1]) if len(ends) else 0
    if not total:
        return _NO_NODES
    # a row's position is its number among all rows found, moved to where those of its node begin
    ends -= counts
    first -= ends
    rows = first.repeat(counts)
    rows += numbers(total)
    return rows


def numbers(count: int) -> Nodes:
    """0, 1, 2, … so many; kept, because fresh memory costs more than the numbers."""
    global _FIRST_NUMBERS  # noqa: PLW0603 - it only grows, and every thread would write the same
    if count > _MOST_NUMBERS:
        return np.arange(count)
    if count > len(_FIRST_NUMBERS):
        _FIRST_NUMBERS = np.arange(_MOST_NUMBERS)
    return _FIRST_NUMBERS[:count]


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Each value once, sorted. `np.unique` would import numpy's masked arrays, 50 ms of a first answer."""
    if len(values) < 2:
        return values
    return once(np.sort(values))


def once(ordered: NDArray[Any]) -> NDArray[Any]:
    """Each of some sorted values once."""
    fresh = np.empty(len(ordered), dtype=np.bool_)
    fresh[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered.compress(fresh)


def is_among(values: NDArray[Any], wanted: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are among the wanted ones, which are sorted."""
    if not len(wanted):
        return np.zeros(len(values), dtype=np.bool_)
    place = np.minimum(np.searchsorted(wanted, values), len(wanted) - 1)
    return np.asarray(wanted[place] == values)


@dataclass(frozen=True)
class Adjacency:
    """The edges of one group, seen from one end. `bits` say what a step does: 1 it masks, 2 it is indirect."""

    group: str
    bits: int
    forward: bool
    start: NDArray[np.int64]
    other: NDArray[np.int32]
    job: NDArray[np.int32]
    edge: NDArray[np.int32] | None  # position in the group's own order; None: the same
    since: NDArray[np.int64]
    until: NDArray[np.int64] | None  # None: all are current

    @cached_property
    def plain(self) -> tuple[memoryview, memoryview, memoryview]:
        """`start`, `other` and `job` as numbers of Python, for who looks at a few of them."""
        return self.start.data, self.other.data, self.job.data

    def rows(self, nodes: Nodes, at: int | None) -> tuple[Nodes, Nodes]:
        """Positions of the edges of `nodes` that were true at a time, and the node each one starts from."""
        found, counts = expand(self.start, nodes)
        if not len(found):
            return found, found
        owner = nodes.repeat(counts)
        if at is None:
            return found, owner
        keep = self.valid_at(found, at)
        return found.compress(keep), owner.compress(keep)

    def step(self, nodes: Nodes, at: int | None) -> tuple[Nodes, Nodes]:
        """The nodes one step away from some, with repetitions, and the job of each step."""
        keep = self._range(nodes, at) if len(nodes) > _MANY else None
        if keep is not None:
            inside, chosen = keep
            return self.other[inside].compress(chosen), self.job[inside].compress(chosen)
        rows = self.positions(nodes, at)
        return self.other.take(rows), self.job.take(rows)

    def _range(self, nodes: Nodes, at: int | None) -> tuple[slice, Any] | None:
        """Where the nodes lie close together: the range of all their edges, and which of it are theirs."""
        low, high = int(nodes.min()), int(nodes.max()) + 1
        if high - low > 2 * len(nodes):
            return None
        here = np.zeros(high - low, dtype=np.bool_)
        here[nodes - low] = True
        inside = slice(int(self.start[low]), int(self.start[high]))
        keep = np.repeat(here, np.diff(self.start[low : high + 1]))
        return inside, keep if at is None else keep & self.valid_at(inside, at)

    def positions(self, nodes: Nodes, at: int | None) -> Nodes:
        """Positions of the edges of `nodes` that were true at a time."""
        found = expand(self.start, nodes)[0]
        return found if at is None else found.compress(self.valid_at(found, at))

    def positions_of(self, nodes: Nodes, cuts: list[int], at: int | None) -> tuple[Nodes, list[int]]:
        """The same of several groups of nodes, each ending at a cut, and where the edges of each group end."""
        first, counts = spans(self.start, nodes)
        ends = counts.cumsum()
        edge_cuts = [int(ends[cut - 1]) if cut else 0 for cut in cuts]
        found = _positions(first, counts, ends)
        if at is None:
            return found, edge_cuts
        keep = self.valid_at(found, at)
        return found.compress(keep), [int(np.count_nonzero(keep[:cut])) for cut in edge_cuts]

    def valid_at(self, rows: Nodes | slice, at: int) -> Any:
        """Which of the edges were true at a time."""
        true = _picked(self.since, rows) <= at
        if self.until is not None:
            true &= _picked(self.until, rows) > at
        return true

    def edges(self, rows: Nodes) -> Nodes:
        """Positions in the group's own order, where the edges' facts lie."""
        return rows if self.edge is None else self.edge[rows].astype(np.int64)


def neighbours(arrays: Any, sets: Iterable[Adjacency], nodes: Nodes, at: int | None) -> NDArray[np.int64]:
    """How many other columns lie one step of the sets away from each node."""
    pairs = []
    for edges in sets:
        rows, owner = edges.rows(nodes, at)
        if len(rows):
            other = edges.other.take(rows)
            pairs.append((owner << 32 | other).compress(owner != other))
        if edges.forward and "nested.members.start" in arrays:
            pairs.append(_of_members(arrays, edges, nodes, at))
    if not pairs:
        return np.zeros(len(nodes), dtype=np.int64)
    # the rows of a node lie in order already: a stable sort only merges them
    found = np.sort(np.concatenate(pairs), kind="stable")
    owners = once(found) >> 32
    return owners.searchsorted(nodes, "right") - owners.searchsorted(nodes, "left")


def _of_members(arrays: Any, edges: Adjacency, nodes: Nodes, at: int | None) -> NDArray[np.int64]:
    """Steps from the members of structs, as steps of the structs: who reads a member reads a part of them."""
    place, counts = expand(arrays["nested.members.start"], nodes)
    members, structs = arrays["nested.members.node"].take(place).astype(np.int64), np.repeat(nodes, counts)
    rows, many = expand(edges.start, members)
    owner, other = np.repeat(structs, many), edges.other.take(rows)
    true = np.ones(len(rows), dtype=np.bool_) if at is None else edges.valid_at(rows, at)
    return (owner << 32 | other).compress(true & (owner != other))


def _picked(values: NDArray[Any], rows: Nodes | slice) -> NDArray[Any]:
    """The values at some places; `take` is faster than the same in brackets."""
    return values[rows] if isinstance(rows, slice) else values.take(rows)


KINDS = {"direct": 0, "direct.masked": 1, "indirect": 2, "indirect.masked": 3}


def adjacency(arrays: Arrays, *, forward: bool, indirect: bool, past: bool) -> tuple[Adjacency, ...]:
    """The sets of edges a walk may use: downstream or upstream, with indirect ones, with retired ones."""
    names = [name for name, bits in KINDS.items() if bits < 2 or indirect]
    names += [f"{name}.past" for name in names] if past else []
    return tuple(_held(arrays, name, forward) for name in names if arrays.meta["groups"][name])


def opposite(arrays: Arrays, edges: Adjacency) -> Adjacency:
    """The same set of edges, seen from the other end."""
    return _held(arrays, edges.group, not edges.forward)


def _held(arrays: Arrays, group: str, forward: bool) -> Adjacency:
    found: Adjacency | None = arrays.derived.get((group, forward))
    if found is None:
        found = arrays.derived[group, forward] = load(arrays, group, forward=forward)
    return found


def load(arrays: Any, group: str, *, forward: bool) -> Adjacency:
    """One set of edges from arrays by name."""
    way = f"{group}.out" if forward else f"{group}.in"
    return Adjacency(
        group=group,
        bits=KINDS[group.removesuffix(".past")],
        forward=forward,
        start=arrays[f"{way}.start"],
        other=arrays[f"{way}.other"],
        job=arrays[f"{way}.job"],
        edge=None if forward else arrays[f"{way}.edge"],
        since=arrays[f"{way}.since"],
        until=arrays[f"{way}.until"] if group.endswith(".past") else None,
    )
