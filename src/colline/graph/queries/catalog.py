"""Lists and the overview: coverage, roots, leaves, hubs, datasets, jobs, one dataset, and what the page opens with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colline.errors import SettingError
from colline.graph.answer import Answer, Page, Row, counted
from colline.graph.snapshot.array_file import NEVER, UNKNOWN
from colline.graph.traversal.bfs import alive
from colline.graph.traversal.csr import Nodes, adjacency, distinct
from colline.graph.traversal.records import WHY, View
from colline.graph.traversal.times import show_time, time_or_none

_LAYERS = ("bronze", "silver", "gold", "platinum")


def listed(view: View, question: str, rows: list[Row], page: Page, verdict: str, **more: Any) -> Answer:
    """An answer that is a list of rows, one page of it."""
    end = len(rows) if page.limit is None else page.offset + page.limit
    left_out, cursor = page.next(len(rows), view.version)
    at = more.pop("at", None)
    totals = {"rows": len(rows), **more.pop("totals", {})}
    return Answer(
        question=question,
        verdict=verdict,
        as_of=view.as_of(at),
        totals=totals,
        sections={"rows": rows[page.offset : end], **more},
        left_out=left_out,
        cursor=cursor,
        snapshot=view.version,
        main="rows",
    )


def coverage(view: View, page: Page, at: int | None, kind: str | None = None, job: int | None = None) -> Answer:
    """Open gaps, newest kinds grouped, with counts by kind, job, layer and owner."""
    rows = [view.gap(place) for place in view.gaps(at=at, jobs=None)]
    places = view.gaps(at=at)
    rows = [
        row
        for row, place in zip(rows, places, strict=True)
        if (kind is None or row["kind"] == kind) and (job is None or int(view.arrays["gap.job"][place]) == job)
    ]
    by = {
        "kind": _counts(row["kind"] for row in rows),
        "job": _counts((row["job"] or {}).get("name") for row in rows),
        "layer": _counts(row["layer"] for row in rows),
        "owner": _counts(row["owner"] for row in rows),
    }
    totals = {"gaps": len(rows), "jobs": view.arrays.meta["jobs"], **_lineage_share(view, at)}
    told = ", ".join(counted(count, name.replace("_", " ")) for name, count in by["kind"].items())
    share = f"{totals['with_lineage']} of {counted(totals['columns'], 'column')} have lineage"
    verdict = f"{counted(len(rows), 'gap')}: {told}; {share}" if rows else f"no gap is known; {share}"
    return listed(view, "coverage", rows, page, verdict, by=by, totals=totals, at=at)


def gap_kind(text: str) -> str:
    """The kind of gap that was typed, also as a table shows it: `opaque step`."""
    found = text.strip().lower().replace(" ", "_").replace("-", "_")
    if found not in WHY:
        raise SettingError(f"{text!r} is no kind of gap", hint=", ".join(WHY))
    return found


def _counts(values: Iterable[str | None]) -> dict[str, int]:
    return {name or "none": count for name, count in Counter(values).most_common()}


def _lineage_share(view: View, at: int | None) -> dict[str, int]:
    ups, downs, columns = degrees(view, at)
    return {
        "datasets": view.arrays.meta["datasets"],
        "columns": len(columns),
        "with_lineage": int(np.count_nonzero(ups[columns] + downs[columns])),
    }


def degrees(view: View, at: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64], Nodes]:
    """Other columns one direct step up and down of every node, and which nodes are columns that are there."""
    nodes = np.arange(view.arrays.meta["nodes"], dtype=np.int64)
    ups, downs = (view.neighbours(nodes, forward=forward, at=at) for forward in (False, True))
    columns: Nodes = nodes[~view.arrays["node.rows"][nodes] & alive(view.arrays, nodes, at)]
    return ups, downs, columns


def ends(view: View, question: str, page: Page, at: int | None, within: Nodes | None = None) -> Answer:
    """`roots`: columns nothing feeds, that feed something; `leaves`: the other way round; `hubs`: by neighbours."""
    ups, downs, columns = degrees(view, at)
    columns = columns if within is None else np.intersect1d(columns, within)
    into, out = ups[columns], downs[columns]
    if question == "hubs":
        chosen = columns[into + out > 0]
        nodes = chosen[np.lexsort((chosen, -(ups + downs)[chosen]))]
    else:
        nodes = columns[(into == 0) & (out > 0)] if question == "roots" else columns[(out == 0) & (into > 0)]
    end = len(nodes) if page.limit is None else page.offset + page.limit
    rows = view.columns(nodes[page.offset : end], at)
    left_out, cursor = page.next(len(nodes), view.version)
    words = {"roots": "nothing feeds", "leaves": "nothing is built on", "hubs": "are connected, most neighbours first"}
    told = (
        f"{counted(len(nodes), 'column')} {words[question]}"
        if question == "hubs"
        else (f"{words[question]} {counted(len(nodes), 'column')}")
    )
    return Answer(
        question=question,
        verdict=told,
        as_of=view.as_of(at),
        totals={"columns": len(nodes)},
        sections={"rows": rows},
        left_out=left_out,
        cursor=cursor,
        snapshot=view.version,
        main="rows",
    )


def overview(view: View, lake: Path) -> Answer:
    """Layers with counts and flows, what changed lately, three columns to try, and the state of things."""
    layers, flows = _layers(view)
    ups, downs, columns = degrees(view, None)
    health = _health(view, lake, len(columns))
    failed = health["failed_jobs"]
    told = f"{counted(len(columns), 'column')} in {counted(health['datasets'], 'dataset')}"
    told += f", {counted(health['jobs'], 'job')}"
    told += f"; {counted(failed, 'job')} failed" if failed else ""
    told += f"; {counted(health['gaps'], 'gap')} in coverage" if health["gaps"] else ""
    return Answer(
        question="overview",
        verdict=told,
        as_of=view.as_of(None),
        totals={key: health[key] for key in ("columns", "datasets", "jobs", "edges")},
        sections={
            "layers": layers,
            "flows": flows,
            "recent": recent(view),
            "examples": view.columns(_examples(view, ups, downs, columns)),
            "health": health,
        },
        snapshot=view.version,
        main="layers",
    )


def _health(view: View, lake: Path, columns: int) -> Row:
    """How many there are of everything, since when, and what needs a look."""
    meta = view.arrays.meta
    return {
        "published": show_time(meta["published"]),
        "first": None if meta["first"] is None else show_time(meta["first"]),
        "last": None if meta["last"] is None else show_time(meta["last"]),
        "columns": columns,
        "datasets": meta["datasets"],
        "jobs": meta["jobs"],
        "edges": sum(n for name, n in meta["observed"].items() if not name.endswith(".past")),
        "retired": sum(n for name, n in meta["observed"].items() if name.endswith(".past")),
        "gaps": len(view.gaps()),
        "failed_jobs": _failed(view),
        "quarantined": quarantined(lake),
        "tables": meta["tables"],
    }


def _failed(view: View) -> int:
    return int(view.arrays["job.failed"].sum())


def _layers(view: View) -> tuple[list[Row], list[Row]]:
    names = view.arrays.strings("dataset.layer")
    distinct = sorted({names[i] for i in range(len(names))}, key=_layer_order)
    code = {name: place for place, name in enumerate(distinct)}
    of = np.array([code[names[i]] for i in range(len(names))], dtype=np.int64)
    live = view.arrays["dataset.until"] == NEVER
    nodes = np.arange(view.arrays.meta["nodes"])
    columns = nodes[~view.arrays["node.rows"][nodes] & alive(view.arrays, nodes, None)]
    owner = view.arrays["node.dataset"]
    tags = np.diff(view.arrays["node.tags.offsets"]) > 0
    count = len(distinct)
    tables = np.bincount(of[live], minlength=count)
    many = np.bincount(of[owner[columns]], minlength=count)
    tagged = np.bincount(of[owner[columns[tags[columns]]]], minlength=count)
    rows = zip(distinct, tables.tolist(), many.tolist(), tagged.tolist(), strict=True)
    layers = [{"layer": n or None, "datasets": d, "columns": c, "tagged": t} for n, d, c, t in rows if d or c]
    flows = np.zeros((count, count), dtype=np.int64)
    for edges in adjacency(view.arrays, forward=True, indirect=False, past=False):
        source = np.repeat(nodes, np.diff(edges.start))
        np.add.at(flows, (of[owner[source]], of[owner[edges.other]]), 1)
    pairs = [(int(a), int(b)) for a, b in np.argwhere(flows)]
    return layers, [
        {"from": distinct[a] or None, "to": distinct[b] or None, "edges": int(flows[a, b])} for a, b in pairs
    ]


def _layer_order(name: str) -> tuple[int, str]:
    return (_LAYERS.index(name) if name in _LAYERS else len(_LAYERS) + (not name), name)


def recent(view: View, most: int = 20) -> list[Row]:
    """The last changes of the graph, newest first; what was there from the first day on is not news."""
    found: list[tuple[int, str, Any, int]] = []
    first = view.arrays.meta["first"] or 0
    for edges in adjacency(view.arrays, forward=True, indirect=True, past=True):
        for change, times in (("added", edges.since), ("removed", edges.until)):
            if times is None or not len(times):
                continue
            implied = view.arrays[f"{edges.group}.implied"]
            moments = np.where(implied, UNKNOWN, times) if view.arrays.meta["nested"] else times
            newest = (
                np.argsort(moments, kind="stable")[-most:]
                if len(moments) <= 100_000
                else np.argpartition(moments, len(moments) - most)[-most:]
            )
            found += [(int(moments[r]), change, edges, int(r)) for r in newest if moments[r] > first]
    found.sort(key=lambda item: (-item[0], item[1], item[3]))
    out = []
    for moment, change, edges, row in found[:most]:
        source = int(np.searchsorted(edges.start, row, "right")) - 1
        told = view.edge(edges, row, (source, int(edges.other[row])))
        ends_of = {"source": view.ref(source), "target": view.ref(int(edges.other[row]))}
        how = {key: told[key] for key in ("type", "subtype", "masking", "description", "job")}
        out.append({"when": show_time(moment), "change": change, **ends_of, **how})
    return out


def _examples(view: View, ups: Any, downs: Any, columns: Nodes) -> Nodes:
    """Three columns worth a look: a tagged one, one far down with many sources, one that feeds the most."""
    if not len(columns):
        return columns
    tagged = columns[np.diff(view.arrays["node.tags.offsets"])[columns] > 0]
    by_use = tagged[np.argsort(-downs[tagged], kind="stable")][:1]
    level = view.arrays["node.level"]
    deep = columns[np.lexsort((columns, -ups[columns], -level[columns]))]
    deep = deep[ups[deep] > 0][:2]
    hub = columns[np.lexsort((columns, -downs[columns]))][:3]
    picked = list(dict.fromkeys([*by_use.tolist(), *deep[:1].tolist(), *hub.tolist(), *deep.tolist()]))
    return np.array(picked[:3], dtype=np.int64)


def dataset(view: View, place: int, at: int | None) -> Answer:
    """A dataset with its columns in the order of its schema, its neighbours, and the jobs that touch it."""
    nodes = view.names.dataset_columns(place, at)
    rows = [
        {**row, "ordinal": int(view.arrays["node.ordinal"][node])}
        for row, node in zip(view.columns(nodes, at), nodes.tolist(), strict=True)
    ]
    near: dict[bool, Any] = {}
    jobs: list[Any] = []
    everything = np.arange(*view.arrays["dataset.start"][[place, place + 1]])
    for forward in (True, False):
        homes = []
        for edges in adjacency(view.arrays, forward=forward, indirect=True, past=at is not None):
            at_rows = edges.positions(everything, at)
            homes.append(view.arrays["node.dataset"][edges.other[at_rows]])
            jobs.append(edges.job[at_rows])
        near[forward] = distinct(np.concatenate(homes)) if homes else []
    about = view.dataset(place)
    used: Any = distinct(np.concatenate(jobs)) if jobs else []
    sides = {way: [view.dataset(int(d)) for d in near[forward] if d != place][:200] for way, forward in _SIDES.items()}
    gaps = view.gaps(datasets=np.array([place]), at=at)
    told = (
        f"{about['label']} has {counted(len(rows), 'column')}; {counted(len(sides['upstream']), 'dataset')} feed it, "
    )
    return Answer(
        question="dataset",
        verdict=told + f"{len(sides['downstream'])} are built on it",
        as_of=view.as_of(at),
        totals={"columns": len(rows), "upstream": len(sides["upstream"]), "downstream": len(sides["downstream"])},
        sections={"dataset": about, "columns": rows, **sides, "jobs": [view.job(int(j)) for j in used if j >= 0]},
        unknown=view.unknown(gaps),
        snapshot=view.version,
    )


_SIDES = {"upstream": False, "downstream": True}


def datasets(view: View, page: Page, text: str | None, layer: str | None = None) -> Answer:
    """All datasets, or those whose name holds a text."""
    places = range(view.arrays.meta["datasets"])
    names = view.names
    wanted = (text or "").lower()
    found = [p for p in places if wanted in names.labels[p].lower() or wanted in names.paths[p].lower()]
    found = [p for p in found if layer is None or view.text("dataset.layer", p) == layer]
    counts = np.diff(view.arrays["dataset.start"])
    end = len(found) if page.limit is None else page.offset + page.limit
    rows: list[Row] = [{}] * len(found)
    for i, p in enumerate(found[page.offset : end], page.offset):
        has_rows = int(view.arrays["dataset.rows"][p]) >= 0
        rows[i] = {**view.dataset(p), "columns": int(counts[p]) - has_rows}
    return listed(view, "datasets", rows, page, counted(len(found), "dataset"))


def jobs(view: View, page: Page, text: str | None = None, state: str | None = None) -> Answer:
    """Jobs with their last state and times, the one that ran last first."""
    count = view.arrays.meta["jobs"]
    names, states = view.arrays.strings("job.name"), view.arrays.strings("job.last_state")
    order = np.argsort(-np.maximum(view.arrays["job.last_started"], -(2**62)), kind="stable").tolist() if count else []
    found = [j for j in order if (not text or text.lower() in names[j].lower()) and state in (None, states[j])]
    end = len(found) if page.limit is None else page.offset + page.limit
    rows: list[Row] = [{}] * len(found)
    for i, j in enumerate(found[page.offset : end], page.offset):
        rows[i] = view.job(j)
    return listed(view, "jobs", rows, page, counted(len(found), "job"))


def quarantined(lake: Path) -> int:
    """How many events are set aside; 0 where there is no such table."""
    from colline.lake import table_reader
    from colline.lake.tables import QUARANTINE

    found = table_reader.scan(lake, QUARANTINE, columns=["reason", "replayed_at"])
    if found is None:
        return 0
    if "replayed_at" not in found.schema.names:
        return int(found.num_rows)
    return int(found.column("replayed_at").null_count)


def plain_rows(table: Any) -> list[Row]:
    """An Arrow table as rows with times as text."""
    rows: list[Row] = table.to_pylist()
    return [{key: _plain(value) for key, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    from datetime import date, datetime

    from colline.graph.traversal.times import parse_time

    if isinstance(value, datetime):
        return time_or_none(parse_time(value) or 0)
    return value.isoformat() if isinstance(value, date) else value
