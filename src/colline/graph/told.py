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
    on_page = np.zeros(len(reach.distance), dtype=np.bool_)
    on_page[page] = True
    on_page[reach.origin] = first
    near = np.concatenate([reach.origin, page])
    is_near = on_page.copy()
    is_near[reach.origin] = True
    out: list[Told] = []
    # an edge is found at its target; where that is on an earlier page, at its source. On the first page there is none
    for forward in (False,) if first else (False, True):
        past = reach.question.at is not None
        for edges in adjacency(reach.arrays, forward=forward, indirect=reach.question.indirect, past=past):
            for told in _found(reach, edges, near):
                keep = _tellable(reach, told.source, told.target, on_page)
                if forward:
                    keep &= ~is_near[told.target]
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


def _tellable(reach: Reach, source: Nodes, target: Nodes, on_page: Any) -> Any:
    """Pairs whose ends are both in the answer, whose later end is on the page, and whose step the walk could take."""
    later = np.where(_rank(reach, source) >= _rank(reach, target), source, target)
    keep = (reach.distance.take(source) > 0) & (reach.distance.take(target) > 0) & on_page.take(later)
    depth = reach.question.depth
    if depth is not None:
        # a step is taken from its near end: the target when going up, the source when going down
        starts_at = target if reach.question.upstream else source
        keep &= reach.distance.take(starts_at) - 1 < depth
    return keep


def _rank(reach: Reach, nodes: Nodes) -> Any:
    """The place of a column in the order of the answer."""
    indirect = ~reach.is_direct(nodes)
    return (reach.distance.take(nodes).astype(np.int64) * 2 + indirect) * len(reach.distance) + nodes


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
