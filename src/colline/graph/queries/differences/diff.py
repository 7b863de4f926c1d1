"""`diff`: what changed between two times, two jobs or two lakes. An edge that was only seen again has not changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from msgspec.structs import astuple, replace
from numpy.typing import NDArray

from colline.flat.integer_arrays import NEVER, UNKNOWN, distinct
from colline.graph.answer import Page, count_of
from colline.graph.difference_rows import ColumnChange, DatasetChange, EdgeChange, EdgeRevision
from colline.graph.queries.inventory.column_degrees import all_columns
from colline.graph.results import DiffAnswer
from colline.graph.rows import EdgeRow
from colline.graph.traversal.csr import Adjacency, Nodes, adjacency
from colline.graph.traversal.records import View
from colline.graph.traversal.times import show_time

Key = tuple[object, ...]
NamedChange = DatasetChange | ColumnChange
AnyChange = DatasetChange | ColumnChange | EdgeChange | EdgeRevision
_ENDS_AND_JOB = 4  # values at the start of the key of an edge: source, target, namespace and name of the job


@dataclass(frozen=True)
class _Side:
    """What exists on one side of a comparison, by identity."""

    label: str
    edges: dict[Key, EdgeChange] = field(default_factory=dict)
    named: dict[Key, NamedChange] = field(default_factory=dict)


def between_times(view: View, first: int, last: int, page: Page, *, dataset: int | None = None) -> DiffAnswer:
    """What exists at only one of two times, and what changed in between."""
    sides = []
    for at, other in ((first, last), (last, first)):
        columns = np.setdiff1d(_columns_at(view, at, dataset), _columns_at(view, other, dataset))
        datasets = np.setdiff1d(_datasets_at(view, at, dataset), _datasets_at(view, other, dataset))
        sides.append(_Side(show_time(at), named=_changes_by_name(view, columns, datasets)))
    before, after = sides
    for edges in adjacency(view.arrays, forward=True, indirect=True, past=True):
        rows = np.arange(len(edges.other))
        then, now = edges.valid_at(rows, first), edges.valid_at(rows, last)
        before.edges.update(_edge_changes(view, edges, rows[then & ~now], dataset))
        after.edges.update(_edge_changes(view, edges, rows[now & ~then], dataset))
    return _answer(view, before, after, page)


def last_change(view: View, until: int, page: Page, dataset: int | None = None) -> DiffAnswer:
    """What changed when something last changed, not later than a time."""
    moments = [found for found in _change_moments(view, dataset) if len(found)]
    times = np.concatenate([np.empty(0, np.int64), *moments])
    times = times[(times <= until) & (times != UNKNOWN) & (times != NEVER)]
    if not len(times):
        return between_times(view, until, until, page, dataset=dataset)
    newest = int(times.max())
    found = between_times(view, newest - 1, newest, page, dataset=dataset)
    return replace(found, verdict=f"last change at {show_time(newest)}: {found.verdict}")


def _change_moments(view: View, dataset: int | None) -> Iterator[NDArray[np.int64]]:
    """The times at which datasets, columns and edges appeared or disappeared."""
    arrays = view.arrays
    nodes = np.arange(arrays.meta["nodes"], dtype=np.int64)
    nodes = nodes[~arrays["node.rows"]]
    if dataset is None:
        yield from (arrays["dataset.first_seen"], arrays["dataset.until"])
    else:
        nodes = nodes[arrays["node.dataset"].take(nodes) == dataset]
        yield from (arrays[f"dataset.{name}"][dataset : dataset + 1] for name in ("first_seen", "until"))
    yield from (arrays["node.since"].take(nodes), arrays["node.until"].take(nodes))
    for edges in adjacency(arrays, forward=True, indirect=True, past=True):
        rows = np.arange(len(edges.other))
        if dataset is not None:
            sources = np.searchsorted(edges.start, rows, "right") - 1
            homes = arrays["node.dataset"]
            rows = rows[(homes.take(sources) == dataset) | (homes.take(edges.other) == dataset)]
        yield edges.since.take(rows)
        if edges.until is not None:
            yield edges.until.take(rows)


def between_jobs(view: View, one: int, other: int, page: Page, *, at: int | None) -> DiffAnswer:
    """How the second job's lineage differs from the first one's. The names of the written datasets may differ."""
    sides = []
    for job in (one, other):
        ref = view.job_ref(job)
        side = _Side(ref.name if ref else "?")
        for edges in adjacency(view.arrays, forward=True, indirect=True, past=at is not None):
            rows = np.flatnonzero(edges.job == job)
            rows = rows if at is None else rows[edges.valid_at(rows, at)]
            for key, row in _edge_changes(view, edges, rows):
                without_job = (key[0], row.target.field, None, None, *key[_ENDS_AND_JOB:])
                side.edges[without_job] = row
        sides.append(side)
    return _answer(view, sides[0], sides[1], page)


def between_lakes(view: View, other: View, page: Page, at: int | None) -> DiffAnswer:
    """What only one of two lakes has, compared by names."""
    sides = []
    for lake in (view, other):
        columns = _columns_at(lake, at)
        datasets = distinct(lake.arrays["node.dataset"].take(columns))
        side = _Side(str(lake.arrays.folder.parent.parent), named=_changes_by_name(lake, columns, datasets))
        for edges in adjacency(lake.arrays, forward=True, indirect=True, past=at is not None):
            rows = np.arange(len(edges.other))
            side.edges.update(_edge_changes(lake, edges, rows if at is None else rows[edges.valid_at(rows, at)]))
        sides.append(side)
    return _answer(view, sides[0], sides[1], page)


def _edge_changes(
    view: View, edges: Adjacency, rows: Nodes, dataset: int | None = None
) -> Iterable[tuple[Key, EdgeChange]]:
    """Edges by identity, without those implied by nested fields, which would repeat each change."""
    rows = rows[~view.arrays[f"{edges.group}.implied"][edges.edges(rows)]]
    sources = np.searchsorted(edges.start, rows, "right") - 1
    for row, source in zip(rows.tolist(), sources.tolist(), strict=True):
        target = int(edges.other[row])
        if dataset is None or dataset in view.arrays["node.dataset"][[source, target]]:
            edge = view.edge(edges, row, (source, target))
            job = (edge.job.namespace, edge.job.name) if edge.job else (None, None)
            how = (edge.type, edge.subtype, edge.masking, edge.description)
            key = (view.names.full_name(source), view.names.full_name(target), *job, *how)
            yield key, EdgeChange.extend(edge, source=view.ref(source), target=view.ref(target))


def _columns_at(view: View, at: int | None, dataset: int | None = None) -> Nodes:
    nodes = all_columns(view, at)
    return nodes if dataset is None else nodes[view.arrays["node.dataset"].take(nodes) == dataset]


def _datasets_at(view: View, at: int, dataset: int | None) -> Nodes:
    since, until = view.arrays["dataset.first_seen"], view.arrays["dataset.until"]
    places = np.flatnonzero((since <= at) & (at < until))
    return places if dataset is None else places[places == dataset]


def _changes_by_name(view: View, columns: Nodes, datasets: Nodes) -> dict[Key, NamedChange]:
    """Columns and datasets by identity."""
    out: dict[Key, NamedChange] = {}
    for node in columns.tolist():
        out["column", view.names.full_name(node)] = ColumnChange.extend(view.ref(node))
    for row in map(view.dataset, datasets.tolist()):
        out["dataset", row.namespace, row.name] = DatasetChange.extend(row)
    return out


def _answer(view: View, before: _Side, after: _Side, page: Page) -> DiffAnswer:
    removed_edges = {key: row for key, row in before.edges.items() if key not in after.edges}
    added_edges = {key: row for key, row in after.edges.items() if key not in before.edges}
    changed = sorted(_pair_changed(removed_edges, added_edges), key=_order)
    removed = _sorted_changes(before, after, removed_edges, "removed")
    added = _sorted_changes(after, before, added_edges, "added")
    rows: list[AnyChange] = [*added, *removed, *changed]
    shown = set(map(id, rows[page.rows]))
    totals = {"added": len(added), "removed": len(removed), "changed": len(changed)}
    kinds = {
        "edges": sum(isinstance(row, EdgeChange | EdgeRevision) for row in rows),
        "columns": sum(isinstance(row, ColumnChange) for row in rows),
        "datasets": sum(isinstance(row, DatasetChange) for row in rows),
    }
    return DiffAnswer(
        verdict=_verdict(totals, kinds),
        totals=totals | kinds,
        from_=before.label,
        to=after.label,
        added=[row for row in added if id(row) in shown],
        removed=[row for row in removed if id(row) in shown],
        changed=[row for row in changed if id(row) in shown],
        rows=list(rows[page.rows]),
        **page.answer_fields(len(rows), view.as_of(None)),
    )


def _sorted_changes(
    side: _Side, other: _Side, edges: dict[Key, EdgeChange], change: str
) -> list[NamedChange | EdgeChange]:
    """What only one side has: datasets, columns, then edges."""
    named = (row for key, row in side.named.items() if key not in other.named)
    return [replace(row, change=change) for row in sorted(chain(named, edges.values()), key=_order)]


def _pair_changed(removed: dict[Key, EdgeChange], added: dict[Key, EdgeChange]) -> list[EdgeRevision]:
    """Edges between the same columns by the same job; they are taken out of `removed` and `added`."""
    candidates: dict[Key, list[Key]] = {}
    for key in removed:
        candidates.setdefault(key[:_ENDS_AND_JOB], []).append(key)
    out = []
    for key in list(added):
        if candidates.get(key[:_ENDS_AND_JOB]):
            old, new = removed.pop(candidates[key[:_ENDS_AND_JOB]].pop(0)), added.pop(key)
            out.append(EdgeRevision(new.source, new.target, new.job, new.from_, new.to, _edge(old), _edge(new)))
    return out


def _edge(row: EdgeChange) -> EdgeRow:
    return EdgeRow(*astuple(row)[: len(EdgeRow.__struct_fields__)])


def _order(row: AnyChange) -> tuple[int, str, str, str, str]:
    """Datasets, columns, then edges by job and target."""
    if isinstance(row, DatasetChange | ColumnChange):
        return (0 if isinstance(row, DatasetChange) else 1, row.label, "", "", "")
    subtype = row.after.subtype if isinstance(row, EdgeRevision) else row.subtype
    return (2, row.job.name if row.job else "", row.target.label, row.source.label, subtype)


def _verdict(totals: dict[str, int], kinds: dict[str, int]) -> str:
    if not any(totals.values()):
        return "nothing changed"
    changes = ", ".join(f"{count:,} {change}" for change, count in totals.items() if count)
    return f"{changes}: " + ", ".join(count_of(count, kind[:-1]) for kind, count in kinds.items() if count)
