"""Selects the edges of an answer and turns them into rows. Edges stay in arrays until a row is needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colline.flat.integer_arrays import expand
from colline.graph.rows import EdgeRow
from colline.graph.traversal.bfs import INDIRECT, Reach
from colline.graph.traversal.csr import Adjacency, Nodes, adjacency, columns_of_rows
from colline.graph.traversal.records import Level, View

MAX_EDGES_PER_ROW = 20  # on average over a page


@dataclass(frozen=True)
class EdgeSelection:
    """Edges of one group: their positions, and the source and target column of each."""

    edges: Adjacency
    rows: Nodes
    source: Nodes
    target: Nodes
    level: Level = "column"

    def take(self, chosen: slice | NDArray[np.bool_]) -> EdgeSelection:
        """Some of the edges."""
        return EdgeSelection(self.edges, self.rows[chosen], self.source[chosen], self.target[chosen], self.level)


def edge_rows(view: View, selections: list[EdgeSelection]) -> list[EdgeRow]:
    """The rows of the selected edges."""
    return [
        row
        for some in selections
        for row in view.edges(some.edges, some.rows, (some.source, some.target), level=some.level)
    ]


def limit_edges(selections: list[EdgeSelection], limit: int | None) -> tuple[list[EdgeSelection], int]:
    """The first edges up to a limit, and the number of edges beyond it."""
    total = sum(len(some.rows) for some in selections)
    if limit is None or total <= limit:
        return selections, 0
    out, left = [], limit
    for some in selections:
        out.append(some.take(slice(left)))
        left -= len(out[-1].rows)
    return out, total - limit


def select_edges(reach: Reach, page: Nodes, *, is_first_page: bool = True) -> list[EdgeSelection]:
    """Edges between columns of the answer. Each edge is on the page of its later column, so that pages add up.

    An input of a dataset's rows becomes an indirect edge to each column on the page, with `level: dataset`.
    """
    options, shown = reach.options, np.concatenate([reach.origin, page])
    past = options.at is not None
    # an edge is found at its target or, if that is on an earlier page, at its source
    sets = adjacency(reach.arrays, forward=False, indirect=options.indirect, past=past)
    if not is_first_page:
        sets += adjacency(reach.arrays, forward=True, indirect=options.indirect, past=past)
    ranks = _page_ranks(reach, page, is_first_page=is_first_page)
    found = (some for edges in sets for some in _edges_of(reach, edges, shown) if len(some.rows))
    kept = (some.take(_is_on_page(reach, some, ranks)) for some in found)
    return [some for some in kept if len(some.rows)]


def _edges_of(reach: Reach, edges: Adjacency, shown: Nodes) -> Iterator[EdgeSelection]:
    rows, owner = edges.rows(shown, reach.options.at)
    other = edges.other.take(rows).astype(np.int64)
    yield EdgeSelection(edges, rows, owner, other) if edges.forward else EdgeSelection(edges, rows, other, owner)
    if edges.bits & INDIRECT:
        yield _from_rows_nodes(reach, edges, shown) if edges.forward else _to_rows_nodes(reach, edges, shown)


def _is_on_page(reach: Reach, some: EdgeSelection, ranks: tuple[int, int]) -> NDArray[np.bool_]:
    """Edges with both columns in the answer and the later one on the page, that the traversal could follow."""
    low, high = ranks
    start, end = reach.level_of(some.source), reach.level_of(some.target)
    start_rank, end_rank = _rank(reach, some.source, start), _rank(reach, some.target, end)
    later = np.maximum(start_rank, end_rank)
    keep = (start > 0) & (end > 0) & (later >= low) & (later <= high)
    if reach.options.depth is not None:  # an edge is followed from its nearer end
        keep &= (end if reach.options.upstream else start) <= reach.options.depth
    if some.edges.forward:  # edges with a target on the page or in the origin are found at the target
        keep &= (end > 1) & ((end_rank < low) | (end_rank > high))
    return np.asarray(keep)


def _page_ranks(reach: Reach, page: Nodes, *, is_first_page: bool) -> tuple[int, int]:
    """The ranks of the first and the last column of a page. The origin is on the first page."""
    if not len(page):
        return 0, 3 * reach.arrays.meta["nodes"] - 1 if is_first_page else -1
    low, high = _rank(reach, page[[0, -1]], reach.level_of(page[[0, -1]])).tolist()
    return 0 if is_first_page else low, high


def _rank(reach: Reach, nodes: Nodes, level: Nodes) -> Nodes:
    """The position of columns in the order of the answer: by distance, direct before indirect, by name."""
    rank: Nodes = (level * 2 + ~reach.is_direct(nodes)) * reach.arrays.meta["nodes"] + nodes
    return rank


def _from_rows_nodes(reach: Reach, edges: Adjacency, shown: Nodes) -> EdgeSelection:
    """Edges into the `rows` node of a dataset, one for each column of the dataset, found at their sources."""
    arrays = reach.arrays
    rows, source = edges.rows(shown, reach.options.at)
    ends = edges.other[rows].astype(np.int64)
    to_rows = arrays["node.rows"][ends]
    target, place = columns_of_rows(arrays, ends[to_rows])
    columns = ~arrays["node.rows"][target]
    place = place[columns]
    return EdgeSelection(edges, rows[to_rows][place], source[to_rows][place], target[columns], "dataset")


def _to_rows_nodes(reach: Reach, edges: Adjacency, shown: Nodes) -> EdgeSelection:
    """The same edges, found at the columns of the dataset."""
    arrays = reach.arrays
    home = arrays["dataset.rows"][arrays["node.dataset"][shown]].astype(np.int64)
    columns, home = shown[home >= 0], home[home >= 0]
    rows, counts = expand(edges.start, home)
    found = EdgeSelection(edges, rows, edges.other[rows].astype(np.int64), np.repeat(columns, counts), "dataset")
    return found if reach.options.at is None else found.take(edges.valid_at(rows, reach.options.at))
