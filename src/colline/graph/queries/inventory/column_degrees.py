"""`columns`: the roots, the leaves, or the most connected columns of the graph; and counts of neighbours."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from colline.errors import SettingError
from colline.flat.integer_arrays import distinct, expand
from colline.graph.answer import Page, count_of
from colline.graph.results import ColumnsAnswer
from colline.graph.rows import CountedColumn
from colline.graph.traversal.bfs import INDIRECT, exist_at
from colline.graph.traversal.csr import Nodes, adjacency, columns_of_rows
from colline.graph.traversal.records import View

Selection = Literal["roots", "leaves", "top"]
Degrees = tuple[NDArray[np.int64], NDArray[np.int64], Nodes]


def all_columns(view: View, at: int | None) -> Nodes:
    """Every column that exists, or existed at a time."""
    nodes = np.arange(view.arrays.meta["nodes"], dtype=np.int64)
    found: Nodes = nodes[~view.arrays["node.rows"][nodes] & exist_at(view.arrays, nodes, at)]
    return found


def degrees(view: View, at: int | None) -> Degrees:
    """The number of direct neighbours upstream and downstream of every node, and the nodes that are columns."""
    nodes = np.arange(view.arrays.meta["nodes"], dtype=np.int64)
    ups, downs = (view.neighbours(nodes, forward=forward, at=at) for forward in (False, True))
    return ups, downs, all_columns(view, at)


def counted_columns(view: View, nodes: Nodes, at: int | None) -> list[CountedColumn]:
    """Columns with the numbers of columns that decide them, and that they decide."""
    ups, downs = (condition_counts(view, nodes, forward=forward, at=at).tolist() for forward in (False, True))
    return [
        CountedColumn.extend(row, up_conditions=up, down_conditions=down)
        for row, up, down in zip(view.columns(nodes, at), ups, downs, strict=True)
    ]


def condition_counts(view: View, nodes: Nodes, *, forward: bool, at: int | None) -> NDArray[np.int64]:
    """The number of other columns that each column decides by a filter, a join key, …, or that decide it."""
    arrays = view.arrays
    place = np.arange(len(nodes), dtype=np.int64)
    starts, owner = nodes, place
    if not forward:  # what decides the rows of a dataset decides each of its columns
        rows_nodes = arrays["dataset.rows"].take(arrays["node.dataset"].take(nodes)).astype(np.int64)
        starts = np.concatenate([nodes, rows_nodes[rows_nodes >= 0]])
        owner = np.concatenate([place, place[rows_nodes >= 0]])
    pairs = [np.empty((2, 0), dtype=np.int64)]
    for edges in adjacency(arrays, forward=forward, indirect=True, past=at is not None):
        if edges.bits & INDIRECT:
            found, counts = expand(edges.start, starts)
            keep = slice(None) if at is None else edges.valid_at(found, at)
            one, other = np.repeat(owner, counts)[keep], edges.other[found][keep].astype(np.int64)
            columns, place = columns_of_rows(arrays, other)
            pairs.append(np.stack([one[place], columns]))
    one, other = np.concatenate(pairs, axis=1)
    counted = (other != nodes[one]) & ~arrays["node.rows"][other] & exist_at(arrays, other, at)
    distinct_pairs = distinct((one << 32 | other)[counted]) >> 32
    return np.bincount(distinct_pairs, minlength=len(nodes))


def selection(*, roots: bool, leaves: bool, top: int | None) -> Selection:
    """The selection asked for. Exactly one must be given."""
    if roots + leaves + (top is not None) != 1:
        raise SettingError("give exactly one of roots, leaves and top", hint="use --roots, --leaves or --top N")
    if top is not None and top < 1:
        raise SettingError(f"top is {top}", hint="use at least 1")
    return "roots" if roots else "leaves" if leaves else "top"


def answer(
    view: View, page: Page, at: int | None, within: Nodes | None, *, which: Selection, top: int = 0
) -> ColumnsAnswer:
    """Columns with lineage: those without upstream columns, those without downstream columns, or the most connected."""
    ups, downs, columns = degrees(view, at)
    columns = columns if within is None else np.intersect1d(columns, within)
    up, down = ups[columns], downs[columns]
    if which == "top":
        connected = columns[up + down > 0]
        nodes = connected[np.lexsort((connected, -(ups + downs)[connected]))][:top]
        verdict = f"{len(nodes):,} of {count_of(len(connected), 'connected column')}, most neighbours first"
    else:
        nodes = columns[(up == 0) & (down > 0)] if which == "roots" else columns[(down == 0) & (up > 0)]
        amount = count_of(len(nodes), "column")
        verdict = f"no column feeds {amount}" if which == "roots" else f"no column takes the value of {amount}"
    return ColumnsAnswer(
        verdict=verdict,
        totals={"columns": len(nodes)},
        rows=view.columns(nodes[page.rows], at),
        **page.answer_fields(len(nodes), view.as_of(at)),
    )
