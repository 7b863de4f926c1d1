"""`paths`: how two columns are connected: the shortest paths, and how many more there are."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from colline.flat.integer_arrays import distinct, expand
from colline.graph.answer import count_of
from colline.graph.queries.inventory.coverage_gaps import gaps_reached, unknown_rows
from colline.graph.queries.reach_summary import column_names
from colline.graph.reach_rows import PathRow
from colline.graph.results import PathsAnswer
from colline.graph.rows import EdgeRow
from colline.graph.traversal.bfs import TraversalOptions, traverse
from colline.graph.traversal.csr import Nodes, adjacency, columns_of_rows
from colline.graph.traversal.records import View

MAX_PARTIAL_PATHS = 200_000  # tried where cycles make counting impossible
MAX_PATHS_IN_CYCLES = 1000
MAX_EXACT_COUNT = 2.0**53


@dataclass(frozen=True)
class Subgraph:
    """The columns and edges on paths from `first` to `last`, as CSR over positions in `nodes`."""

    nodes: Nodes
    first: set[int]
    last: set[int]
    start: Nodes
    other: Nodes
    distance: Nodes  # from each node to the nearest of `last`


class Paths(NamedTuple):
    """The shortest paths and their total number, which is a lower bound unless `is_exact`."""

    shortest: list[list[int]]
    total: int
    is_exact: bool


def answer(view: View, a: Nodes, b: Nodes, options: TraversalOptions, *, k: int) -> PathsAnswer:
    """The k shortest paths from the first column to the second or, if they are connected the other way round, back."""
    first, last, found = a, b, _find_paths(view, a, b, options, k=k)
    if found is None:
        reverse = _find_paths(view, b, a, options, k=k)
        if reverse is not None:
            first, last, found = b, a, reverse
    paths, count, is_exact = found or Paths([], 0, True)
    gaps = [] if paths else _gaps(view, a, b, options)
    names = column_names(view, first), column_names(view, last)
    return PathsAnswer(
        verdict=_verdict(names, paths, count_of(count, "path"), is_exact=is_exact, gaps=bool(gaps)),
        as_of=view.as_of(options.at),
        of=(view.ref(int(a[0])), view.ref(int(b[0]))),
        totals={"paths": count, "shown": len(paths), "exact": is_exact},
        paths=[_path_row(view, path, options) for path in paths],
        unknown=unknown_rows(view, gaps),
        left_out=max(0, count - len(paths)),
        snapshot=view.version,
    )


def _find_paths(view: View, first: Nodes, last: Nodes, options: TraversalOptions, *, k: int) -> Paths | None:
    found = subgraph_between(view, first, last, options)
    if found is None:
        return None
    count, is_exact = count_paths(found)
    paths = list(islice(shortest_paths(found), k if is_exact else MAX_PATHS_IN_CYCLES))
    return Paths(paths[:k], count if is_exact else len(paths), is_exact)


def subgraph_between(view: View, first: Nodes, last: Nodes, options: TraversalOptions) -> Subgraph | None:
    """Everything on paths between two sets of columns, None if they are not connected."""
    down = traverse(view.arrays, first, replace(options, upstream=False))
    if not (down.level_of(last) > 0).any() or (len(first) == 1 and np.isin(last, first).all()):
        return None
    up = traverse(view.arrays, last, replace(options, upstream=True))
    candidates = distinct(np.concatenate([down.nodes, first]))
    nodes = candidates[up.level_of(candidates) > 0]
    place = np.full(view.arrays.meta["nodes"], -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    pairs = np.concatenate(list(_steps(view, nodes, options)) or [np.empty((0, 2), np.int64)])
    one, two = place[pairs[:, 0]], place[pairs[:, 1]]
    # pairs as single numbers: ten times faster to sort
    pair = distinct((one * len(nodes) + two)[(one >= 0) & (two >= 0) & (one != two)])
    start = np.searchsorted(pair, np.arange(len(nodes) + 1) * len(nodes))
    firsts, lasts = ({int(place[n]) for n in some if place[n] >= 0} for some in (first, last))
    other = pair % max(len(nodes), 1)
    return Subgraph(nodes, firsts, lasts, start, other, _distances(start, other, lasts, len(nodes)))


def _steps(view: View, nodes: Nodes, options: TraversalOptions) -> Iterator[Nodes]:
    """All edges of the nodes as pairs. An edge into a dataset's rows leads to each of its columns."""
    arrays = view.arrays
    for edges in adjacency(arrays, forward=True, indirect=options.indirect, past=options.at is not None):
        rows, owner = edges.rows(nodes, options.at)
        other, place = columns_of_rows(arrays, edges.other[rows].astype(np.int64))
        yield np.stack([owner[place], other], axis=1)


def _distances(start: Nodes, other: Nodes, last: set[int], count: int) -> Nodes:
    """The number of steps from each node to the nearest of `last`, by breadth-first search backwards."""
    source = np.repeat(np.arange(count), np.diff(start))
    distances = np.full(count, count + 1, dtype=np.int64)
    distances[list(last)] = 0
    frontier, steps = np.array(sorted(last)), 0
    by_target = np.argsort(other, kind="stable")
    back_start = np.searchsorted(other[by_target], np.arange(count + 1))
    while len(frontier):
        steps += 1
        found = distinct(source[by_target[expand(back_start, frontier)[0]]])
        frontier = found[distances[found] > steps]
        distances[frontier] = steps
    return distances


def count_paths(found: Subgraph) -> tuple[int, bool]:
    """The number of paths, and whether it is exact: with cycles, or beyond 2^53 paths, it is a lower bound."""
    count = len(found.nodes)
    degree = np.bincount(found.other, minlength=count)
    paths = np.zeros(count)
    paths[list(found.first)] = 1.0
    ready, done = np.flatnonzero(degree == 0), 0
    while len(ready):
        done += len(ready)
        rows, counts = expand(found.start, ready)
        np.add.at(paths, found.other[rows], np.repeat(paths[ready], counts))
        np.subtract.at(degree, found.other[rows], 1)
        reached = distinct(found.other[rows])
        ready = reached[degree[reached] == 0]
    total = float(paths[list(found.last)].sum())
    return int(total), done == count and total < MAX_EXACT_COUNT


class _Partial(NamedTuple):
    """A partial path in the queue: its last node is `siblings[place]`, the best of the siblings not yet tried."""

    length: int  # of the shortest path that begins like this
    path: tuple[int, ...]
    place: int
    siblings: Nodes


def shortest_paths(found: Subgraph) -> Iterator[list[int]]:
    """Paths without a repeated column, shortest first, then by name (A* search with exact distances).

    The queue has one entry for all siblings of a node, because a column may have a million successors.
    """
    queue: list[_Partial] = []
    _push(found, queue, (), _nearest_first(found, np.array(sorted(found.first), dtype=np.int64)), place=0)
    for _ in range(MAX_PARTIAL_PATHS):
        if not queue:
            return
        _, path, place, siblings = heapq.heappop(queue)
        _push(found, queue, path[:-1], siblings, place=place + 1)
        node = path[-1]
        if node in found.last:
            yield [int(found.nodes[n]) for n in path]
        else:
            following = found.other[found.start[node] : found.start[node + 1]]
            _push(found, queue, path, _nearest_first(found, following), place=0)


def _nearest_first(found: Subgraph, nodes: Nodes) -> Nodes:
    """The nodes by distance to the end, then by name, which is the order of their numbers."""
    return nodes[np.argsort(found.distance[nodes], kind="stable")]


def _push(found: Subgraph, queue: list[_Partial], path: tuple[int, ...], siblings: Nodes, *, place: int) -> None:
    """Queue the path with the next sibling that it does not contain yet."""
    while place < len(siblings) and int(siblings[place]) in path:
        place += 1
    if place < len(siblings):
        node = int(siblings[place])
        heapq.heappush(queue, _Partial(len(path) + int(found.distance[node]), (*path, node), place, siblings))


def _path_row(view: View, path: list[int], options: TraversalOptions) -> PathRow:
    steps = [list(_step_edges(view, source, target, options)) for source, target in pairwise(path)]
    is_direct = all(any(edge.type == "DIRECT" for edge in step) for step in steps)
    counted = [[edge for edge in step if not is_direct or edge.type == "DIRECT"] for step in steps]
    return PathRow(
        length=len(steps),
        hops=len(steps),
        relation="direct" if is_direct else "indirect",
        masked=any(all(edge.masking for edge in step) for step in counted),
        columns=[view.ref(node) for node in path],
        edges=[edge for step in steps for edge in step],
    )


def _step_edges(view: View, source: int, target: int, options: TraversalOptions) -> Iterator[EdgeRow]:
    """The edges of one step of a path."""
    arrays = view.arrays
    rows_node = int(arrays["dataset.rows"][arrays["node.dataset"][target]])
    for edges in adjacency(arrays, forward=True, indirect=options.indirect, past=options.at is not None):
        rows = edges.positions(np.array([source]), options.at)
        other = edges.other[rows]
        for row in rows[other == target].tolist():
            yield view.edge(edges, row, (source, target))
        if rows_node >= 0:
            for row in rows[other == rows_node].tolist():
                yield view.edge(edges, row, (source, target), level="dataset")


def _gaps(view: View, a: Nodes, b: Nodes, options: TraversalOptions) -> list[int]:
    """Coverage gaps that could hide a path: downstream of the first column, and upstream of the second."""
    unlimited = replace(options, depth=None)
    down = traverse(view.arrays, a, replace(unlimited, upstream=False))
    up = traverse(view.arrays, b, replace(unlimited, upstream=True))
    return sorted({gap for reach in (down, up) for gap in gaps_reached(view, reach)})


def _verdict(names: tuple[str, str], paths: list[list[int]], count: str, *, is_exact: bool, gaps: bool) -> str:
    first, last = names
    if paths:
        steps = count_of(len(paths[0]) - 1, "step")
        return f"{'' if is_exact else 'at least '}{count} from {first} to {last}, the shortest has {steps}"
    if first == last:
        return f"no path: {first} was given twice"
    if gaps:
        return f"unknown whether {first} and {last} are connected: lineage is missing"
    return f"no path: {first} and {last} are not connected"
