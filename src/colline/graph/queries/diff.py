"""`diff`: what changed between two times, two jobs or two lakes; what was only seen again is no change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from colline.errors import AmbiguousNameError, ColumnError
from colline.graph.answer import Answer, Page, Row, counted
from colline.graph.traversal.bfs import alive
from colline.graph.traversal.csr import Adjacency, adjacency, distinct
from colline.graph.traversal.records import View
from colline.graph.traversal.times import show_time

Key = tuple[Any, ...]
_KINDS = ("edges", "columns", "datasets")


def between_times(view: View, first: int, last: int, page: Page, dataset: int | None = None) -> Answer:
    """What was true at the second time and not at the first, the other way round, and what became something else."""
    before: dict[Key, Row] = {}
    after: dict[Key, Row] = {}
    for edges in adjacency(view.arrays, forward=True, indirect=True, past=True):
        rows = np.arange(len(edges.other))
        then, now = edges.valid_at(rows, first), edges.valid_at(rows, last)
        for found, moved in ((before, then & ~now), (after, now & ~then)):
            found.update(_edge_rows(view, edges, rows[moved], dataset))
    # an edge that was retired and came back the same is in both: it was only seen again
    told = {"from": show_time(first), "to": show_time(last)}
    return _answer(view, before, after, page, told, _named(view, first, last, dataset))


def _edge_rows(view: View, edges: Adjacency, rows: Any, dataset: int | None = None) -> Iterable[tuple[Key, Row]]:
    """The edges that somebody told; what follows from them for members would tell each change twice."""
    rows = rows[~view.arrays[f"{edges.group}.implied"][edges.edges(rows)]]
    sources = np.searchsorted(edges.start, rows, "right") - 1
    for row, source in zip(rows.tolist(), sources.tolist(), strict=True):
        target = int(edges.other[row])
        homes = view.arrays["node.dataset"][[source, target]]
        if dataset is None or dataset in homes:
            yield _edge(view, edges, row, source, target)


def _edge(view: View, edges: Adjacency, row: int, source: int, target: int) -> tuple[Key, Row]:
    edge = view.edge(edges, row, (source, target))
    ends = view.names.full(source), view.names.full(target)
    job = edge["job"] or {}
    key = (
        *ends,
        job.get("namespace"),
        job.get("name"),
        edge["type"],
        edge["subtype"],
        edge["masking"],
        edge["description"],
    )
    return key, {"kind": "edge", **edge, "source": view.ref(source), "target": view.ref(target)}


def between_jobs(view: View, one: int, other: int, page: Page, at: int | None) -> Answer:
    """What the second job derives otherwise than the first, whatever their targets' datasets are called."""
    found: list[dict[Key, Row]] = []
    for job in (one, other):
        mine: dict[Key, Row] = {}
        for edges in adjacency(view.arrays, forward=True, indirect=True, past=at is not None):
            rows = np.flatnonzero(edges.job == job)
            rows = rows if at is None else rows[edges.valid_at(rows, at)]
            for key, row in _edge_rows(view, edges, rows):
                mine[_across(key, row)] = row
        found.append(mine)
    names = [(view.job_ref(job) or {})["name"] for job in (one, other)]
    return _answer(view, found[0], found[1], page, {"from": names[0], "to": names[1]})


def _across(key: Key, row: Row) -> Key:
    """An edge's identity without its job and the dataset it writes."""
    return (key[0], row["target"]["field"], None, None, *key[4:])


def between_lakes(view: View, other: View, page: Page, at: int | None) -> Answer:
    """What another lake has that this one has not, and the other way round, compared by names."""
    found = [dict(_everything(one, at)) for one in (view, other)]
    extra = [dict(_all_named(one, at)) for one in (view, other)]
    told = {"from": str(view.arrays.folder.parent.parent), "to": str(other.arrays.folder.parent.parent)}
    return _answer(view, found[0], found[1], page, told, (extra[0], extra[1]))


def _everything(view: View, at: int | None) -> Iterable[tuple[Key, Row]]:
    for edges in adjacency(view.arrays, forward=True, indirect=True, past=at is not None):
        rows = np.arange(len(edges.other))
        yield from _edge_rows(view, edges, rows if at is None else rows[edges.valid_at(rows, at)])


def _all_named(view: View, at: int | None) -> Iterable[tuple[Key, Row]]:
    nodes = np.arange(view.arrays.meta["nodes"])
    nodes = nodes[~view.arrays["node.rows"][nodes] & alive(view.arrays, nodes, at)]
    homes = distinct(view.arrays["node.dataset"][nodes])
    yield from ((("column", view.names.full(n)), {"kind": "column", **view.ref(n)}) for n in nodes.tolist())
    for place in homes.tolist():
        row = view.dataset(place)
        yield ("dataset", row["namespace"], row["name"]), {"kind": "dataset", **row}


def _named(view: View, first: int, last: int, only: int | None) -> tuple[dict[Key, Row], dict[Key, Row]]:
    """Columns and datasets that were there at one of two times only."""
    nodes = np.arange(view.arrays.meta["nodes"])
    then, now = alive(view.arrays, nodes, first), alive(view.arrays, nodes, last)
    plain = ~view.arrays["node.rows"][nodes]
    if only is not None:
        plain &= view.arrays["node.dataset"][nodes] == only
    since, until = view.arrays["dataset.first_seen"], view.arrays["dataset.until"]
    out = []
    for mine, other, at, elsewhere in ((then, now, first, last), (now, then, last, first)):
        moved = nodes[mine & ~other & plain]
        rows: dict[Key, Row] = {
            ("column", view.names.full(n)): {"kind": "column", **view.ref(n)} for n in moved.tolist()
        }
        there, gone = (since <= at) & (at < until), ~((since <= elsewhere) & (elsewhere < until))
        for place in (p for p in np.flatnonzero(there & gone).tolist() if only in (None, p)):
            known = view.dataset(place)
            rows["dataset", place] = {**known, "kind": "dataset", "dataset_kind": known["kind"]}
        out.append(rows)
    return out[0], out[1]


def _answer(
    view: View,
    before: dict[Key, Row],
    after: dict[Key, Row],
    page: Page,
    told: Row,
    named: tuple[dict[Key, Row], dict[Key, Row]] = ({}, {}),
) -> Answer:
    removed = {key: row for key, row in before.items() if key not in after}
    added = {key: row for key, row in after.items() if key not in before}
    changed = _paired(removed, added)
    lost = [row for key, row in named[0].items() if key not in named[1]]
    gained = [row for key, row in named[1].items() if key not in named[0]]
    parts = {
        "added": sorted(gained, key=_order) + sorted(added.values(), key=_order),
        "removed": sorted(lost, key=_order) + sorted(removed.values(), key=_order),
        "changed": sorted(changed, key=_order),
    }
    totals: Row = {name: len(rows) for name, rows in parts.items()}
    for kind in _KINDS:
        totals[kind] = sum(row["kind"] == kind[:-1] for rows in parts.values() for row in rows)
    shown, left_out, cursor = _page(parts, page, view.version)
    return Answer(
        question="diff",
        verdict=_verdict(totals),
        as_of=view.as_of(None),
        totals=totals,
        sections={**told, **shown, "rows": [{"change": name, **row} for name, rows in shown.items() for row in rows]},
        left_out=left_out,
        cursor=cursor,
        snapshot=view.version,
        main="rows",
    )


def _page(parts: dict[str, list[Row]], page: Page, version: str) -> tuple[dict[str, list[Row]], int, str | None]:
    """The page of the three lists, one after the other."""
    flat = [(name, row) for name, rows in parts.items() for row in rows]
    end = len(flat) if page.limit is None else page.offset + page.limit
    shown: dict[str, list[Row]] = {name: [] for name in parts}
    for name, row in flat[page.offset : end]:
        shown[name].append(row)
    return shown, *page.next(len(flat), version)


def _paired(removed: dict[Key, Row], added: dict[Key, Row]) -> list[Row]:
    """Edges between the same columns by the same job that became something else, taken out of both lists."""
    gone: dict[Key, list[Key]] = {}
    for key in removed:
        gone.setdefault(key[:4], []).append(key)
    out = []
    for key in list(added):
        if gone.get(key[:4]):
            old, new = removed.pop(gone[key[:4]].pop(0)), added.pop(key)
            facts = {name: new[name] for name in ("source", "target", "job", "from", "to")}
            out.append({"kind": "edge", **facts, "before": _bare(old), "after": _bare(new)})
    return out


def _bare(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in ("kind", "source", "target")}


def _order(row: Row) -> tuple[Any, ...]:
    """Grouped: datasets, columns, then edges by job and target."""
    if row["kind"] != "edge":
        return (0 if row["kind"] == "dataset" else 1, row["label"], "", "", "")
    how = row.get("after") or row
    return (2, (row["job"] or {}).get("name") or "", row["target"]["label"], row["source"]["label"], how["subtype"])


def _verdict(totals: Row) -> str:
    if not any(totals[name] for name in ("added", "removed", "changed")):
        return "nothing changed"
    told = [f"{totals[name]:,} {name}" for name in ("added", "removed", "changed") if totals[name]]
    return ", ".join(told) + ": " + ", ".join(counted(totals[kind], kind[:-1]) for kind in _KINDS if totals[kind])


def job_named(view: View, text: str) -> int:
    """The one job called like that: its name, or namespace/name."""
    names, spaces = view.arrays.strings("job.name"), view.arrays.strings("job.namespace")
    every = range(len(names))
    tries: tuple[Callable[[int], bool], ...] = (
        lambda j: text in (names[j], f"{spaces[j]}/{names[j]}"),
        lambda j: text.lower() in names[j].lower(),
    )
    for fits in tries:
        found = [j for j in every if fits(j)]
        if len(found) == 1:
            return found[0]
        if found:
            told = tuple(f"{spaces[j]}/{names[j]}" for j in found[:10])
            raise AmbiguousNameError(
                f"{text!r} fits {len(found)} jobs: {', '.join(told)}", hint="write all of it", candidates=told
            )
    raise ColumnError(f"no job is called {text!r}", hint="`colline coverage` and the page list the jobs")
