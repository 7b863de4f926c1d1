"""Which edges an answer tells, and how they are told: those of one set at once, as arrays, until they become rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from colline.graph.answer import Row
from colline.graph.traversal.bfs import INDIRECT, Reach
from colline.graph.traversal.csr import Adjacency, Nodes, adjacency, expand, opposite, positions, row_ranges
from colline.graph.traversal.records import View

_NO_NODES: Nodes = np.empty(0, dtype=np.int64)
_FEW_EDGES = 10  # edges a column, which are looked through without asking whether there are fewer the other way
_FEW = 2000  # columns of a page that are looked up one by one
EDGES_A_ROW = 20  # edges told for each row of a page, at most


@dataclass(frozen=True)
class Told:
    """Edges of one set to tell: where each lies, and the two columns it joins."""

    edges: Adjacency
    rows: Nodes
    source: Nodes
    target: Nodes
    level: str = "column"

    def those(self, chosen: Any) -> Told:
        """Some of them: by a slice, by places, or by yes and no."""
        return Told(self.edges, self.rows[chosen], self.source[chosen], self.target[chosen], self.level)


def edge_rows(view: View, told: list[Told]) -> list[Row]:
    """The edges as an answer tells them."""
    return [
        row for some in told for row in view.edges(some.edges, some.rows, (some.source, some.target), level=some.level)
    ]


def at_most(told: list[Told], most: int | None) -> tuple[list[Told], int]:
    """The first of the edges, so many, and how many were left out."""
    total = sum(len(some.rows) for some in told)
    if most is None or total <= most:
        return told, 0
    out, room = [], most
    for some in told:
        out.append(some.those(slice(room)))
        room -= len(out[-1].rows)
    return out, total - most


def told_edges(reach: Reach, page: Nodes, *, first: bool = True) -> list[Told]:
    """Edges between columns of the answer, each on the page of its later end, so that pages add up to all of them.

    An input of a dataset's rows is told as an indirect edge to each column of the page, marked `level: dataset`.
    """
    near = np.concatenate([reach.origin, page])
    if first and len(near) <= _FEW:
        return _on_first_page(reach, near)
    question, past = reach.options, reach.options.at is not None
    tellable = _on_page(reach, page, first=first)
    # an edge is found at its target; where that is on an earlier page, at its source. On the first page there is none
    sets = adjacency(reach.arrays, forward=False, indirect=question.indirect, past=past)
    if not first:
        sets += adjacency(reach.arrays, forward=True, indirect=question.indirect, past=past)
    found = (told for edges in sets for told in _found(reach, edges, near) if len(told.rows))
    kept = (told.those(tellable(told)) for told in found)
    return [told for told in kept if len(told.rows)]


def _found(reach: Reach, edges: Adjacency, near: Nodes) -> Iterator[Told]:
    rows, owner = edges.rows(near, reach.options.at)
    other = edges.other.take(rows).astype(np.int64)
    yield Told(edges, rows, owner, other) if edges.forward else Told(edges, rows, other, owner)
    if edges.bits & INDIRECT:
        yield _rows_level(reach, edges, near)


def _on_first_page(reach: Reach, near: Nodes) -> list[Told]:
    """The same of the first of the pages: both ends are on it, so its few columns are enough to know."""
    first = _First(reach, near)
    found: list[Told] = []
    past, indirect = reach.options.at is not None, reach.options.indirect
    for edges in adjacency(reach.arrays, forward=False, indirect=indirect, past=past):
        if edges.bits & INDIRECT:
            found += (first.kept(told) for told in _found(reach, edges, near))
        else:  # along the walk, the columns of a first page have few edges that lead elsewhere
            found.append(first.between(edges if reach.options.upstream else opposite(reach.arrays, edges)))
    return [told for told in found if len(told.rows)]


class _First:
    """The columns of a first page, to be found among the ends of edges."""

    def __init__(self, reach: Reach, near: Nodes) -> None:
        self.reach, self.near = reach, near
        self.away = np.ones(len(near), dtype=np.int64)
        self.away[len(reach.origin) :] = reach.level_of(near[len(reach.origin) :])
        self.order = near.argsort()
        self.nodes = near.take(self.order)

    def places(self, wanted: Nodes) -> tuple[Nodes, Any]:
        """Where on the page some columns are, if they are."""
        at = self.nodes.searchsorted(wanted)
        np.minimum(at, len(self.nodes) - 1, out=at)
        return self.order.take(at), self.nodes.take(at) == wanted

    def kept(self, told: Told) -> Told:
        """Those edges that have both ends here, and whose step the walk could take."""
        (start, has_start), (end, has_end) = self.places(told.source), self.places(told.target)
        return told.those(has_start & has_end & _could_take(self.reach, self.away.take(start), self.away.take(end)))

    def between(self, edges: Adjacency) -> Told:
        """The same of all edges of a set: a column has few sources, or few that are built on it."""
        spanned = row_ranges(edges.start, self.near)
        if (many := int(spanned[1].sum())) > _FEW_EDGES * len(self.near):
            turned = opposite(self.reach.arrays, edges)
            other_way = row_ranges(turned.start, self.near)
            if int(other_way[1].sum()) < many:
                edges, spanned = turned, other_way
        if not many:
            return Told(edges, _NO_NODES, _NO_NODES, _NO_NODES)
        counts = spanned[1]
        rows = positions(*spanned)
        far, inside = self.places(edges.other.take(rows))
        if self.reach.options.at is not None:
            inside &= edges.valid_at(rows, self.reach.options.at)
        rows, far = rows.compress(inside), far.compress(inside)
        own = np.arange(len(self.near)).repeat(counts).compress(inside)
        start, end = (own, far) if edges.forward else (far, own)
        could = _could_take(self.reach, self.away.take(start), self.away.take(end))
        if could is not True:
            rows, start, end = rows.compress(could), start.compress(could), end.compress(could)
        if edges.forward:  # in the order in which they would have been found at their targets
            order = np.lexsort((rows, end))
            rows, start, end = rows.take(order), start.take(order), end.take(order)
        return Told(edges, rows, self.near.take(start), self.near.take(end))


def _on_page(reach: Reach, page: Nodes, *, first: bool) -> Callable[[Told], Any]:
    """Pairs whose ends are both in the answer, whose later end is on the page, and whose step the walk could take."""
    low, high = _page_ranks(reach, page, first=first)

    def tellable(told: Told) -> Any:
        start, end = reach.level_of(told.source), reach.level_of(told.target)
        ranks = _rank(reach, told.source, start), _rank(reach, told.target, end)
        later = np.maximum(*ranks)
        keep = (start > 0) & (end > 0) & (later >= low) & (later <= high) & _could_take(reach, start, end)
        # found at its source only where its target is neither on the page nor where the walk began
        return keep & (end > 1) & ((ranks[1] < low) | (ranks[1] > high)) if told.edges.forward else keep

    return tellable


def _page_ranks(reach: Reach, page: Nodes, *, first: bool) -> tuple[int, int]:
    """The places of a page's first and last column in the order of the answer; the origin is on the first page."""
    if not len(page):
        return 0, 3 * reach.node_count - 1 if first else -1
    low, high = _rank(reach, page[[0, -1]], reach.level_of(page[[0, -1]])).tolist()
    return 0 if first else low, high


def _could_take(reach: Reach, start: Nodes, end: Nodes) -> Any:
    """A step is taken from its near end: the target when going up, the source when going down."""
    depth = reach.options.depth
    return True if depth is None else (end if reach.options.upstream else start) <= depth


def _rank(reach: Reach, nodes: Nodes, away: Nodes) -> Any:
    """The place of a column in the order of the answer."""
    return (away * 2 + ~reach.is_direct(nodes)) * reach.node_count + nodes


def _rows_level(reach: Reach, edges: Adjacency, near: Nodes) -> Told:
    """Edges of `rows` nodes, one for each column of the dataset."""
    arrays = reach.arrays
    if edges.forward:
        rows, source = edges.rows(near, reach.options.at)
        ends = edges.other[rows].astype(np.int64)
        chosen = arrays["node.rows"][ends]
        rows, source, ends = rows[chosen], source[chosen], ends[chosen]
        target, counts = expand(arrays["dataset.start"], arrays["node.dataset"][ends].astype(np.int64))
        rows, source = np.repeat(rows, counts), np.repeat(source, counts)
        columns = ~arrays["node.rows"][target]
        return Told(edges, rows[columns], source[columns], target[columns], "dataset")
    home = arrays["dataset.rows"][arrays["node.dataset"][near]].astype(np.int64)
    columns, home = near[home >= 0], home[home >= 0]
    rows, counts = expand(edges.start, home)
    target, source = np.repeat(columns, counts), edges.other[rows].astype(np.int64)
    if reach.options.at is not None:
        keep = edges.valid_at(rows, reach.options.at)
        rows, source, target = rows[keep], source[keep], target[keep]
    return Told(edges, rows, source, target, "dataset")
