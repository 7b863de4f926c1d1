"""`compare`: what the lineage of two columns has in common, and where it diverges."""

from __future__ import annotations

import numpy as np

from colline.graph.answer import Page, count_of
from colline.graph.difference_rows import Divergence, OutgoingEdge, SharedColumn
from colline.graph.queries.inventory.coverage_gaps import gaps_reached, unknown_rows
from colline.graph.queries.reach_summary import column_names
from colline.graph.results import CompareAnswer
from colline.graph.traversal.bfs import Reach, TraversalOptions, traverse
from colline.graph.traversal.csr import Nodes, adjacency
from colline.graph.traversal.records import View

MAX_DIVERGENCES = 50
MAX_UNSHARED_COLUMNS = 1000  # of each side


def answer(view: View, a: Nodes, b: Nodes, options: TraversalOptions, *, page: Page) -> CompareAnswer:
    """What two columns share and what only one of them has, nearest first."""
    reaches = traverse(view.arrays, a, options), traverse(view.arrays, b, options)
    upstream_a, upstream_b = (np.union1d(reach.nodes, reach.origin) for reach in reaches)
    common = np.intersect1d(upstream_a, upstream_b)
    order = common[np.lexsort((common, np.maximum(*(reach.level_of(common) for reach in reaches))))]
    only_a = np.setdiff1d(np.setdiff1d(upstream_a, common), a)
    only_b = np.setdiff1d(np.setdiff1d(upstream_b, common), b)
    divergences = _divergences(view, order, options, (set(upstream_a.tolist()), set(upstream_b.tolist())))
    sources = common[view.neighbours(common, forward=False, at=options.at) == 0] if len(common) else common
    gaps = sorted({gap for reach in reaches for gap in gaps_reached(view, reach)})
    totals = {"common": len(order), "only_a": len(only_a), "only_b": len(only_b), "common_sources": len(sources)}
    shared = _shared_columns(view, order[page.rows], reaches, options.at)
    return CompareAnswer(
        verdict=_verdict((column_names(view, a), column_names(view, b)), totals, divergences, bool(gaps)),
        of=(view.ref(int(a[0])), view.ref(int(b[0]))),
        totals=totals,
        divergences=divergences,
        rows=shared,
        common=shared,
        only_a=view.columns(only_a[:MAX_UNSHARED_COLUMNS], options.at),
        only_b=view.columns(only_b[:MAX_UNSHARED_COLUMNS], options.at),
        unknown=unknown_rows(view, gaps),
        **page.answer_fields(len(order), view.as_of(options.at)),
    )


def _shared_columns(view: View, nodes: Nodes, reaches: tuple[Reach, Reach], at: int | None) -> list[SharedColumn]:
    to_a, to_b = ((reach.level_of(nodes) - 1).tolist() for reach in reaches)
    rows = zip(view.columns(nodes, at), to_a, to_b, strict=True)
    return [
        SharedColumn.extend(row, distance_a=distance_a, distance_b=distance_b) for row, distance_a, distance_b in rows
    ]


def _divergences(
    view: View, common: Nodes, options: TraversalOptions, upstream: tuple[set[int], set[int]]
) -> list[Divergence]:
    """Shared columns with an edge that leads to only one of the two columns."""
    out: list[Divergence] = []
    for node in common.tolist():
        to_a, to_b = (_outgoing_edges(view, node, options, side) for side in upstream)
        if {edge.to for edge in to_a} != {edge.to for edge in to_b}:
            differs = _transformations(to_a) != _transformations(to_b)
            out.append(Divergence(view.ref(node), to_a, to_b, differs))
            if len(out) == MAX_DIVERGENCES:
                break
    return out


def _transformations(edges: list[OutgoingEdge]) -> set[tuple[str, str, bool]]:
    return {(edge.subtype, edge.description, edge.masking) for edge in edges}


def _outgoing_edges(view: View, node: int, options: TraversalOptions, side: set[int]) -> list[OutgoingEdge]:
    """The edges from a column to columns of one side."""
    out = []
    for edges in adjacency(view.arrays, forward=True, indirect=options.indirect, past=options.at is not None):
        for row in edges.positions(np.array([node]), options.at).tolist():
            target = int(edges.other[row])
            if target in side and target != node:
                out.append(OutgoingEdge.extend(view.edge(edges, row, (node, target)), target=view.ref(target)))
    return out


def _verdict(names: tuple[str, str], totals: dict[str, int], divergences: list[Divergence], gaps: bool) -> str:
    a, b = names
    if not totals["common"]:
        if gaps:
            return f"unknown whether {a} and {b} share a source: lineage is missing"
        return f"{a} and {b} share no source"
    shared = f"{a} and {b} share {count_of(totals['common_sources'], 'source')}"
    if divergences:
        how = "different transformations" if divergences[0].differs else "the same transformation"
        return f"{shared}; they diverge at {divergences[0].column.label}, with {how}"
    return shared if totals["only_a"] or totals["only_b"] else f"{shared} and nothing else"
