"""Lists of datasets and jobs, one dataset, and the overview that the web page opens with."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colline.graph.answer import Page, count_of
from colline.graph.queries.inventory.column_degrees import Degrees, degrees
from colline.graph.queries.inventory.coverage_gaps import open_gaps, unknown_rows
from colline.graph.queries.inventory.run_history import count_quarantined
from colline.graph.results import DatasetAnswer, DatasetsAnswer, JobsAnswer, OverviewAnswer
from colline.graph.rows import LakeHealth, LayerFlow, LayerRow, ListedDataset, RecentChange, SchemaColumn
from colline.graph.snapshot.array_file import NEVER, UNKNOWN
from colline.graph.traversal.csr import Adjacency, Nodes, adjacency, distinct
from colline.graph.traversal.records import View
from colline.graph.traversal.times import show_time

MAX_NEIGHBOUR_DATASETS = 200
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
                rows = _newest(times, np.flatnonzero((times > first) & ~is_implied), limit).tolist()
                found += [_EdgeEvent(int(times[row]), is_removed, edges, row) for row in rows]
    found.sort(key=lambda event: (-event.moment, event.is_removed, event.row))
    return [_recent_change(view, event) for event in found[:limit]]


def _newest(times: NDArray[np.int64], rows: Nodes, limit: int) -> Nodes:
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


def dataset(view: View, place: int, at: int | None) -> DatasetAnswer:
    """A dataset with its columns in the order of its schema, its neighbours, and the jobs that use it."""
    nodes = view.names.dataset_columns(place, at)
    ordinals = view.arrays["node.ordinal"].take(nodes).tolist()
    columns = [
        SchemaColumn.extend(row, ordinal=ordinal)
        for row, ordinal in zip(view.columns(nodes, at), ordinals, strict=True)
    ]
    upstream, jobs_up = _neighbours(view, place, at, forward=False)
    downstream, jobs_down = _neighbours(view, place, at, forward=True)
    sides = [[view.dataset(other) for other in found[:MAX_NEIGHBOUR_DATASETS]] for found in (upstream, downstream)]
    row = view.dataset(place)
    verdict = f"{row.label} has {count_of(len(columns), 'column')}; {count_of(len(sides[0]), 'dataset')} feed it, "
    return DatasetAnswer(
        verdict=verdict + f"{len(sides[1])} are built on it",
        as_of=view.as_of(at),
        totals={"columns": len(columns), "upstream": len(sides[0]), "downstream": len(sides[1])},
        dataset=row,
        columns=columns,
        upstream=sides[0],
        downstream=sides[1],
        jobs=[view.job(job) for job in sorted(jobs_up | jobs_down) if job >= 0],
        unknown=unknown_rows(view, open_gaps(view, datasets=np.array([place]), at=at)),
        snapshot=view.version,
    )


def _neighbours(view: View, place: int, at: int | None, *, forward: bool) -> tuple[list[int], set[int]]:
    """The datasets next to a dataset, and the jobs of the edges between them."""
    nodes = np.arange(*view.arrays["dataset.start"][[place, place + 1]])
    homes: set[int] = set()
    jobs: set[int] = set()
    for edges in adjacency(view.arrays, forward=forward, indirect=True, past=at is not None):
        rows = edges.positions(nodes, at)
        homes.update(distinct(view.arrays["node.dataset"][edges.other[rows]]).tolist())
        jobs.update(distinct(edges.job[rows]).tolist())
    return sorted(homes - {place}), jobs


def datasets(view: View, page: Page, text: str | None, layer: str | None = None) -> DatasetsAnswer:
    """All datasets, or those with a name that contains the text."""
    names, wanted = view.names, (text or "").lower()
    places = range(view.arrays.meta["datasets"])
    found = [p for p in places if wanted in names.labels[p].lower() or wanted in names.paths[p].lower()]
    found = [p for p in found if layer is None or view.text("dataset.layer", p) == layer]
    widths = np.diff(view.arrays["dataset.start"]) - (view.arrays["dataset.rows"] >= 0)
    return DatasetsAnswer(
        verdict=count_of(len(found), "dataset"),
        totals={"rows": len(found)},
        rows=[ListedDataset.extend(view.dataset(p), columns=int(widths[p])) for p in found[page.rows]],
        **page.answer_fields(len(found), view.as_of(None)),
    )


def jobs(view: View, page: Page, text: str | None = None, state: str | None = None) -> JobsAnswer:
    """Jobs, last started first."""
    names, states = view.arrays.strings("job.name"), view.arrays.strings("job.last_state")
    order = np.lexsort((np.arange(len(names)), -np.maximum(view.arrays["job.last_started"], UNKNOWN + 1)))
    wanted = (text or "").lower()
    found = [job for job in order.tolist() if wanted in names[job].lower() and state in (None, states[job])]
    return JobsAnswer(
        verdict=count_of(len(found), "job"),
        totals={"rows": len(found)},
        rows=[view.job(job) for job in found[page.rows]],
        **page.answer_fields(len(found), view.as_of(None)),
    )
