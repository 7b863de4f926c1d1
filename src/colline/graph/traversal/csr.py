"""Edges as compressed sparse rows (CSR): the edges of node `n` are at `start[n]` to `start[n + 1]`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colline.flat.integer_arrays import Integers, distinct, expand
from colline.graph.snapshot.array_file import Arrays, Values

Nodes = Integers  # node numbers, or positions in an array
NO_NODES: Nodes = np.empty(0, dtype=np.int64)

# the two bits of each kind of edge: 1 it masks, 2 it is indirect
KINDS = {"direct": 0, "direct.masked": 1, "indirect": 2, "indirect.masked": 3}


@dataclass(frozen=True)
class Adjacency:
    """The edges of one group, seen from their sources (`forward`) or from their targets."""

    group: str
    bits: int  # see KINDS
    forward: bool
    start: NDArray[np.int64]
    other: NDArray[np.int32]
    job: NDArray[np.int32]
    edge: NDArray[np.int32] | None  # position in the order of the sources; None: the same position
    since: NDArray[np.int64]
    until: NDArray[np.int64] | None  # None: all are current

    def rows(self, nodes: Nodes, at: int | None) -> tuple[Nodes, Nodes]:
        """Positions of the edges of `nodes` that are current or were at a time, and the node of each."""
        found, counts = expand(self.start, nodes)
        owner = nodes.repeat(counts)
        if at is None:
            return found, owner
        keep = self.valid_at(found, at)
        return found.compress(keep), owner.compress(keep)

    def positions(self, nodes: Nodes, at: int | None) -> Nodes:
        """Positions of the edges of `nodes` that are current, or were at a time."""
        found, _ = expand(self.start, nodes)
        return found if at is None else found.compress(self.valid_at(found, at))

    def valid_at(self, rows: Nodes, at: int) -> NDArray[np.bool_]:
        """Whether each edge was current at a time."""
        is_valid = self.since.take(rows) <= at
        if self.until is not None:
            is_valid &= self.until.take(rows) > at
        return is_valid

    def edges(self, rows: Nodes) -> Nodes:
        """Positions in the arrays that describe the edges, such as `direct.subtype`."""
        return rows if self.edge is None else self.edge[rows].astype(np.int64)


def adjacency(arrays: Arrays, *, forward: bool, indirect: bool, past: bool) -> tuple[Adjacency, ...]:
    """The groups of edges that a traversal may use: downstream or upstream, with indirect and with retired ones."""
    names = [name for name, bits in KINDS.items() if bits < 2 or indirect]
    names += [f"{name}.past" for name in names] if past else []
    return tuple(load(arrays, name, forward=forward) for name in names if arrays.meta["groups"][name])


def load(arrays: Mapping[str, Values] | Arrays, group: str, *, forward: bool) -> Adjacency:
    """One group of edges."""
    prefix = f"{group}.out" if forward else f"{group}.in"
    return Adjacency(
        group=group,
        bits=KINDS[group.removesuffix(".past")],
        forward=forward,
        start=arrays[f"{prefix}.start"],
        other=arrays[f"{prefix}.other"],
        job=arrays[f"{prefix}.job"],
        edge=None if forward else arrays[f"{prefix}.edge"],
        since=arrays[f"{prefix}.since"],
        until=arrays[f"{prefix}.until"] if group.endswith(".past") else None,
    )


def columns_of_rows(arrays: Arrays, nodes: Nodes) -> tuple[Nodes, Nodes]:
    """The nodes, with the columns of its dataset in the place of each `rows` node; and which node each stands for."""
    is_rows = arrays["node.rows"].take(nodes)
    places, homes = np.arange(len(nodes)), arrays["node.dataset"].take(nodes.compress(is_rows))
    columns, counts = expand(arrays["dataset.start"], homes)
    found = np.concatenate([nodes.compress(~is_rows), columns])
    return found, np.concatenate([places.compress(~is_rows), places.compress(is_rows).repeat(counts)])


def count_neighbours(
    arrays: Mapping[str, Values] | Arrays, sets: Iterable[Adjacency], nodes: Nodes, at: int | None
) -> NDArray[np.int64]:
    """The number of other columns one edge away from each node. A struct counts the targets of its members too."""
    pairs = [NO_NODES]
    for edges in sets:
        rows, owner = edges.rows(nodes, at)
        pairs.append(_pairs(owner, edges.other.take(rows)))
        if edges.forward and "nested.members.start" in arrays:
            place, counts = expand(arrays["nested.members.start"], nodes)
            members, structs = arrays["nested.members.node"].take(place), nodes.repeat(counts)
            rows, counts = expand(edges.start, members)
            valid = slice(None) if at is None else edges.valid_at(rows, at)
            pairs.append(_pairs(structs.repeat(counts)[valid], edges.other.take(rows)[valid]))
    owners = distinct(np.concatenate(pairs)) >> 32
    return owners.searchsorted(nodes, "right") - owners.searchsorted(nodes, "left")


def _pairs(node: Nodes, other: Nodes) -> Nodes:
    """Each node and its neighbour as one number, without the edges from a node to itself."""
    return (node.astype(np.int64) << 32 | other).compress(node != other)
