"""`overview`: what the web page opens with."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colline.flat.integer_arrays import NEVER
from colline.graph.answer import count_of
from colline.graph.inventory_rows import LakeHealth, LayerFlow, LayerRow, RecentChange
from colline.graph.queries.inventory.column_degrees import Degrees, degrees
from colline.graph.queries.inventory.coverage_gaps import open_gaps
from colline.graph.queries.inventory.run_history import count_quarantined
from colline.graph.results import OverviewAnswer
from colline.graph.traversal.csr import Adjacency, Nodes, adjacency
from colline.graph.traversal.records import View
from colline.graph.traversal.times import show_time

MAX_RECENT_CHANGES = 20
_LAYER_ORDER = ("bronze", "silver", "gold", "platinum")


def overview(view: View, lake: Path) -> OverviewAnswer:
    """Layers and the flow between them, recent changes, three example columns, and the health of the lake."""
    found = degrees(view, None)
    health = _health(view, lake, len(found[2]))
    layers, flows = _layers(view, found[2])
    verdict = f"{count_of(health.columns, 'column')} in {count_of(health.datasets, 'dataset')}"
    verdict += f", {count_of(health.jobs, 'job')}"
    verdict += f"; {count_of(health.failed_jobs, 'job')} failed" if health.failed_jobs else ""
    verdict += f"; {count_of(health.gaps, 'gap')} in coverage" if health.gaps else ""
    totals = {"columns": health.columns, "datasets": health.datasets, "jobs": health.jobs, "edges": health.edges}
    return OverviewAnswer(
        verdict=verdict,
        as_of=view.as_of(None),
        totals=totals,
        layers=layers,
        flows=flows,
        recent=recent_changes(view),
        examples=view.columns(_examples(view, found)),
        health=health,
        snapshot=view.version,
    )


def _health(view: View, lake: Path, columns: int) -> LakeHealth:
    meta = view.arrays.meta
    return LakeHealth(
        published=show_time(meta["published"]),
        first=None if meta["first"] is None else show_time(meta["first"]),
        last=None if meta["last"] is None else show_time(meta["last"]),
        columns=columns,
        datasets=meta["datasets"],
        jobs=meta["jobs"],
        edges=sum(count for name, count in meta["observed"].items() if not name.endswith(".past")),
        retired=sum(count for name, count in meta["observed"].items() if name.endswith(".past")),
        gaps=len(open_gaps(view)),
        failed_jobs=int(view.arrays["job.failed"].sum()),
        quarantined=count_quarantined(lake),
        tables=meta["tables"],
    )


def _layers(view: View, columns: Nodes) -> tuple[list[LayerRow], list[LayerFlow]]:
    texts = view.arrays.strings("dataset.layer")
    names = [texts[place] for place in range(len(texts))]
    layers = sorted(set(names), key=_layer_order)
    code = {name: place for place, name in enumerate(layers)}
    layer_of = np.array([code[name] for name in names], dtype=np.int64)
    home = view.arrays["node.dataset"]
    is_tagged = np.diff(view.arrays["node.tags.offsets"]) > 0
    counts = (
        np.bincount(layer_of[found], minlength=len(layers)).tolist()
        for found in (view.arrays["dataset.until"] == NEVER, home[columns], home[columns[is_tagged[columns]]])
    )
    rows = [
        LayerRow(name or None, tables, width, tagged)
        for name, tables, width, tagged in zip(layers, *counts, strict=True)
        if tables or width
    ]
    return rows, _flows(view, layers, layer_of[home] if len(home) else home)


def _flows(view: View, layers: list[str], layer_of_node: Nodes) -> list[LayerFlow]:
    flows = np.zeros((len(layers), len(layers)), dtype=np.int64)
    for edges in adjacency(view.arrays, forward=True, indirect=False, past=False):
        sources = np.repeat(layer_of_node, np.diff(edges.start))
        np.add.at(flows, (sources, layer_of_node[edges.other]), 1)
    pairs = np.argwhere(flows).tolist()
    return [LayerFlow(layers[one] or None, layers[two] or None, int(flows[one, two])) for one, two in pairs]


def _layer_order(name: str) -> tuple[int, str]:
    """Known layers in their order, then other layers by name, then datasets without a layer."""
    return (_LAYER_ORDER.index(name) if name in _LAYER_ORDER else len(_LAYER_ORDER) + (not name), name)


class _EdgeEvent(NamedTuple):
    """An edge that was added or removed at a time."""

    moment: int
    is_removed: bool
    edges: Adjacency
    row: int


def recent_changes(view: View, limit: int = MAX_RECENT_CHANGES) -> list[RecentChange]:
    """The newest edges that were added or removed, except those of the first event."""
    found: list[_EdgeEvent] = []
    first = view.arrays.meta["first"] or 0
    for edges in adjacency(view.arrays, forward=True, indirect=True, past=True):
        is_implied = view.arrays[f"{edges.group}.implied"]
        for is_removed, times in ((False, edges.since), (True, edges.until)):
            if times is not None:
                rows = _newest_rows(times, np.flatnonzero((times > first) & ~is_implied), limit).tolist()
                found += [_EdgeEvent(int(times[row]), is_removed, edges, row) for row in rows]
    found.sort(key=lambda event: (-event.moment, event.is_removed, event.row))
    return [_recent_change(view, event) for event in found[:limit]]


def _newest_rows(times: NDArray[np.int64], rows: Nodes, limit: int) -> Nodes:
    """The rows with the newest times; of equal times, the first rows."""
    if len(rows) > limit:
        oldest = np.partition(times[rows], -limit)[-limit]
        rows = rows[times[rows] >= oldest]
    return rows[np.lexsort((rows, -times[rows]))][:limit]


def _recent_change(view: View, event: _EdgeEvent) -> RecentChange:
    source = int(np.searchsorted(event.edges.start, event.row, "right")) - 1
    target = int(event.edges.other[event.row])
    edge = view.edge(event.edges, event.row, (source, target))
    return RecentChange(
        show_time(event.moment), "removed" if event.is_removed else "added", view.ref(source), view.ref(target),
        edge.type, edge.subtype, edge.masking, edge.description, edge.job,
    )  # fmt: skip


def _examples(view: View, found: Degrees) -> Nodes:
    """Three columns to start from: a tagged one, one far downstream with many sources, one that feeds the most."""
    ups, downs, columns = found
    if not len(columns):
        return columns
    tagged = columns[np.diff(view.arrays["node.tags.offsets"])[columns] > 0]
    most_used = tagged[np.argsort(-downs[tagged], kind="stable")][:1]
    deepest = columns[np.lexsort((columns, -ups[columns], -view.arrays["node.level"][columns]))]
    deepest = deepest[ups[deepest] > 0][:2]
    hubs = columns[np.lexsort((columns, -downs[columns]))][:3]
    picked = dict.fromkeys([*most_used.tolist(), *deepest[:1].tolist(), *hubs.tolist(), *deepest.tolist()])
    return np.array(list(picked)[:3], dtype=np.int64)
