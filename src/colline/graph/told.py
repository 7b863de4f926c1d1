"""Which edges an answer tells, and how they are told: those of one set at once, as arrays, until they become rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from colline.graph.adjacency import Adjacency, Nodes, adjacency, spread
from colline.graph.answer import Row
from colline.graph.view import View
from colline.graph.walk import INDIRECT, Reach

EDGES_A_ROW = 20  # edges told for each row of a page, at most


@dataclass(frozen=True)
class Told:
    """Edges of one set to tell: where each lies, and the two columns it joins."""

    edges: Adjacency
    rows: Nodes
    source: Nodes
    target: Nodes
    level: str = "column"

    def first(self, most: int) -> Told:
        """No more than so many of them."""
        return Told(self.edges, self.rows[:most], self.source[:most], self.target[:most], self.level)


def edge_rows(view: View, told: list[Told], most: int | None = None) -> tuple[list[Row], int]:
    """The edges as an answer tells them, and how many were left out."""
    total = sum(len(some.rows) for some in told)
    out: list[Row] = []
    for some in told:
        part = some if most is None else some.first(most - len(out))
        out += view.edges(part.edges, part.rows, (part.source, part.target), level=part.level)
    return out, total - len(out)


def told_edges(reach: Reach, page: Nodes, *, first: bool = True) -> list[Told]:
    """Edges between columns of the answer, each on the page of its later end, so that pages add up to all of them.

    An input of a dataset's rows is told as an indirect edge to each column of the page, marked `level: dataset`.
    """
    near = np.concatenate([reach.origin, page])
    ranks = _page_ranks(reach, page, first=first)
    out: list[Told] = []
    # an edge is found at its target; where that is on an earlier page, at its source. On the first page there is none
    for forward in (False,) if first else (False, True):
        past = reach.question.at is not None
        for edges in adjacency(reach.arrays, forward=forward, indirect=reach.question.indirect, past=past):
            for told in _found(reach, edges, near):
                if not len(told.rows):
                    continue
                keep = _tellable(reach, told.source, told.target, ranks)
                if forward:
                    keep &= ~_is_near(reach, told.target, ranks)
                if keep.any():
                    rows, source, target = (part.compress(keep) for part in (told.rows, told.source, told.target))
                    out.append(Told(edges, rows, source, target, told.level))
    return out


def _found(reach: Reach, edges: Adjacency, near: Nodes) -> Iterator[Told]:
    rows, owner = edges.rows(near, reach.question.at)
    other = edges.other.take(rows).astype(np.int64)
    yield Told(edges, rows, owner, other) if edges.forward else Told(edges, rows, other, owner)
    if edges.bits & INDIRECT:
        yield _rows_level(reach, edges, near)


def _page_ranks(reach: Reach, page: Nodes, *, first: bool) -> tuple[int, int]:
    """The places of a page's first and last column in the order of the answer; the origin is on the first page."""
    if not len(page):
        return 0, 3 * len(reach.seen) - 1 if first else -1
    low, high = _rank(reach, page[[0, -1]], reach.away(page[[0, -1]])).tolist()
    return 0 if first else low, high


def _tellable(reach: Reach, source: Nodes, target: Nodes, ranks: tuple[int, int]) -> Any:
    """Pairs whose ends are both in the answer, whose later end is on the page, and whose step the walk could take."""
    start, end = reach.away(source), reach.away(target)
    later = np.maximum(_rank(reach, source, start), _rank(reach, target, end))
    keep = (start > 0) & (end > 0) & (later >= ranks[0]) & (later <= ranks[1])
    if reach.question.depth is not None:
        # a step is taken from its near end: the target when going up, the source when going down
        keep &= (end if reach.question.upstream else start) <= reach.question.depth
    return keep


def _is_near(reach: Reach, nodes: Nodes, ranks: tuple[int, int]) -> Any:
    """Which columns are on the page or where the walk began."""
    away = reach.away(nodes)
    rank = _rank(reach, nodes, away)
    return (away == 1) | ((away > 0) & (rank >= ranks[0]) & (rank <= ranks[1]))


def _rank(reach: Reach, nodes: Nodes, away: Nodes) -> Any:
    """The place of a column in the order of the answer."""
    return (away * 2 + ~reach.is_direct(nodes)) * len(reach.seen) + nodes


def _rows_level(reach: Reach, edges: Adjacency, near: Nodes) -> Told:
    """Edges of `rows` nodes, one for each column of the dataset."""
    arrays = reach.arrays
    if edges.forward:
        rows, source = edges.rows(near, reach.question.at)
        ends = edges.other[rows].astype(np.int64)
        chosen = arrays["node.rows"][ends]
        rows, source, ends = rows[chosen], source[chosen], ends[chosen]
        target, counts = spread(arrays["dataset.start"], arrays["node.dataset"][ends].astype(np.int64))
        rows, source = np.repeat(rows, counts), np.repeat(source, counts)
        columns = ~arrays["node.rows"][target]
        return Told(edges, rows[columns], source[columns], target[columns], "dataset")
    home = arrays["dataset.rows"][arrays["node.dataset"][near]].astype(np.int64)
    columns, home = near[home >= 0], home[home >= 0]
    rows, counts = spread(edges.start, home)
    target, source = np.repeat(columns, counts), edges.other[rows].astype(np.int64)
    if reach.question.at is not None:
        keep = edges.true_at(rows, reach.question.at)
        rows, source, target = rows[keep], source[keep], target[keep]
    return Told(edges, rows, source, target, "dataset")
