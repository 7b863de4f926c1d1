"""`droppable` and `unused`: who reads a column, who did, and what makes it impossible to be sure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colline.graph.answer import Answer, Page, Row, counted
from colline.graph.snapshot.array_file import SUBTYPES, UNKNOWN
from colline.graph.traversal.bfs import alive
from colline.graph.traversal.csr import Nodes, adjacency, distinct, expand
from colline.graph.traversal.records import WHY, View
from colline.graph.traversal.times import time_or_none

DAY = 86_400_000_000
IDLE_DAYS = 90
_OUTSIDE = {"JDBC": "a database whose other readers are not seen", "TOPIC": "a topic whose other readers are not seen"}
_MOST_READERS = 1000  # columns made of one that are named; beyond them one for each job and use, the rest is counted
_HIDING = ("no_column_lineage", "unknown_source", "unfinished_run", "dropped_events")


@dataclass(frozen=True)
class Since:
    """From when on a read counts as live, and as of when edges are taken."""

    moment: int
    at: int | None


def since(view: View, idle_days: int, at: int | None) -> Since:
    """Reads count for so many days before the newest moment the lake knows."""
    return Since((view.last_moment() if at is None else at) - idle_days * DAY, at)


def droppable(view: View, columns: Nodes, page: Page, when: Since) -> Answer:
    """One row a column: yes, no or unknown, and why."""
    end = len(columns) if page.limit is None else page.offset + page.limit
    homes = view.arrays["node.dataset"].take(columns).tolist()
    spots = {place: blind_spots(view, place, when.at) for place in set(homes)}
    judged = [_judge(view, node, when, spots[place]) for node, place in zip(columns.tolist(), homes, strict=True)]
    rows = [{**row, **facts} for row, facts in zip(view.columns(columns, when.at), judged, strict=True)]
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in ("yes", "no", "unknown")}
    left_out, cursor = page.next(len(rows), view.version)
    gaps = {(gap["what"], gap["why"]): gap for row in rows for gap in row["gaps"] if row["verdict"] == "unknown"}
    return Answer(
        question="droppable",
        verdict=_drop_verdict(rows, counts),
        as_of=view.as_of(when.at),
        of=tuple(view.ref(int(n)) for n in columns),
        totals={"columns": len(rows), **counts},
        sections={"rows": rows[page.offset : end]},
        unknown=tuple(list(gaps.values())[:20]),
        left_out=left_out,
        cursor=cursor,
        snapshot=view.version,
        main="rows",
        holds=counts["yes"] == len(rows),
    )


def _drop_verdict(rows: list[Row], counts: dict[str, int]) -> str:
    if len(rows) == 1:
        return f"{rows[0]['verdict']}: {rows[0]['label']} {rows[0]['why']}"
    return f"{counts['yes']} of {counted(len(rows), 'column')} may be dropped, {counts['no']} may not, " + (
        f"{counts['unknown']} unknown"
    )


def _judge(view: View, node: int, when: Since, gaps: list[Row]) -> Row:
    family = with_nested_fields(view, node)
    readers, left_out = edge_readers(view, family, when.at)
    known = {(row["job"]["name"] if row["job"] else None) for row in readers}
    asked = query_readers(view, family, when.at, when.moment)
    live = readers + [
        row for row in asked if row["live"] and (row["kind"] == "query" or row["job"]["name"] not in known)
    ]
    retired = [row for row in asked if not row["live"] and row["job"]["name"] not in known]
    retired += past_readers(view, family, known | {row["job"]["name"] for row in retired})
    verdict = "no" if live else "unknown" if gaps else "yes"
    reads = [row["last_read"] for row in asked + readers + retired if row["last_read"]]
    return {
        "verdict": verdict,
        "why": _why(live, retired, gaps, max(reads, default=None)),
        "readers": live,
        "readers_left_out": left_out,
        "retired": retired,
        "last_read": max(reads, default=None),
        "gaps": gaps,
    }


def _why(live: list[Row], retired: list[Row], gaps: list[Row], last: str | None) -> str:
    if live:
        jobs = list(dict.fromkeys(row["job"]["name"] if row["job"] else "?" for row in live))
        uses = ", ".join(sorted({row["use"] for row in live}))
        more = f" and {len(jobs) - 3} more" if len(jobs) > 3 else ""
        return f"is read by {', '.join(jobs[:3])}{more} ({uses})"
    if gaps:
        return f"has no known reader, but {gaps[0]['what']}: {gaps[0]['why']}"
    if retired:
        return f"has no live reader; {counted(len(retired), 'retired one')}, last read {last or 'at an unknown time'}"
    return "was never read"


def with_nested_fields(view: View, node: int) -> Nodes:
    """A column, its nested members, and the structs it lies in: reading one is reading the other."""
    nodes = [np.array([node], dtype=np.int64)]
    if view.arrays.meta["nested"]:
        for relation in ("structs", "members"):
            at, _ = expand(view.arrays[f"nested.{relation}.start"], nodes[0])
            nodes.append(view.arrays[f"nested.{relation}.node"][at].astype(np.int64))
    return np.concatenate(nodes)


def edge_readers(view: View, nodes: Nodes, at: int | None) -> tuple[list[Row], int]:
    """Jobs that make something of the columns, each use of each told, and how many further columns they make of them.

    A column that only feeds itself is not read by that.
    """
    out: dict[tuple[Any, ...], Row] = {}
    left_out = 0
    for edges in adjacency(view.arrays, forward=True, indirect=True, past=at is not None):
        rows, owner = edges.rows(nodes, at)
        rows = rows.compress(edges.other.take(rows) != owner)
        subtypes = view.arrays[f"{edges.group}.subtype"].take(edges.edges(rows))
        if len(rows) > _MOST_READERS:
            kinds = edges.job.take(rows).astype(np.int64) << 8 | subtypes
            telling = distinct(np.append(np.unique(kinds, return_index=True)[1], np.arange(_MOST_READERS)))
            left_out += len(rows) - len(telling)
            rows, subtypes = rows.take(telling), subtypes.take(telling)
        places, targets = edges.edges(rows), edges.other.take(rows)
        seen = view.arrays[f"{edges.group}.seen"].take(places)
        facts = zip(edges.job.take(rows).tolist(), subtypes.tolist(), targets.tolist(), seen.tolist(), strict=True)
        for job, subtype, target, last in facts:
            use = SUBTYPES[subtype].lower() if edges.bits & 2 else "value"
            fact = {"job": view.job_ref(job), "use": use, "kind": "write", "into": view.ref(target)}
            out.setdefault((job, use, target), {**fact, "last_read": time_or_none(last)})
    return list(out.values()), left_out


def past_readers(view: View, nodes: Nodes, known: set[str | None]) -> list[Row]:
    """Jobs that once made something of the columns and no longer do."""
    out: dict[tuple[int, str], Row] = {}
    for edges in adjacency(view.arrays, forward=True, indirect=True, past=True):
        if edges.until is None:
            continue
        for row in edges.positions(nodes, None).tolist():
            job, place = view.job_ref(int(edges.job[row])), int(edges.edges(np.array([row]))[0])
            use = SUBTYPES[int(view.arrays[f"{edges.group}.subtype"][place])].lower() if edges.bits & 2 else "value"
            if job and job["name"] not in known:
                last = time_or_none(int(view.arrays[f"{edges.group}.seen"][place]))
                retired = time_or_none(int(edges.until[row]))
                out[int(edges.job[row]), use] = {
                    "job": job, "use": use, "kind": "write", "last_read": last, "retired_at": retired,
                }  # fmt: skip
    return list(out.values())


def query_readers(view: View, nodes: Nodes, at: int | None, moment: int | None = None) -> list[Row]:
    """Recorded reads of the columns, with whether each still counts: a query by its age, a job by its last run."""
    arrays = view.arrays
    moment = since(view, IDLE_DAYS, at).moment if moment is None else moment
    rows, counts = expand(arrays["read.start"], nodes)
    owner = np.repeat(nodes, counts)
    uses, kinds = arrays.strings("read.uses"), arrays.strings("read.kinds")
    out = []
    for row, node in zip(rows.tolist(), owner.tolist(), strict=True):
        if at is not None and int(arrays["read.first"][row]) > at:
            continue
        kind = kinds[int(arrays["read.kind"][row])]
        out.append(
            {
                "column": view.names.label(node),
                "job": view.job_ref(int(arrays["read.job"][row])) or {"namespace": "", "name": "?"},
                "use": uses[int(arrays["read.use"][row])],
                "kind": kind,
                "last_read": time_or_none(int(arrays["read.last"][row])),
                "reads": int(arrays["read.reads"][row]),
                "live": bool(_is_live(arrays, np.array([row]), kind == "query", moment)[0]),
            }
        )
    return out


def _is_live(arrays: Any, rows: Nodes, query: Any, moment: int) -> NDArray[np.bool_]:
    """A query counts while it is young; a job's read counts if its last run still did it."""
    last, job = arrays["read.last"][rows], arrays["read.job"][rows]
    began = arrays["job.last_started"][job] if len(arrays["job.last_started"]) else np.full(len(rows), UNKNOWN)
    recent = last >= moment
    return np.asarray(np.where(query | (began == UNKNOWN) | (job < 0), recent, last >= began))


def blind_spots(view: View, place: int, at: int | None) -> list[Row]:
    """What could hide a reader of a dataset: gaps on it, gaps of jobs that read it, readers outside the lake."""
    rows = list(view.unknown(_hiding(view, [place], at)))
    kind = view.text("dataset.kind", place)
    if kind in _OUTSIDE:
        rows.append({"what": view.names.labels[place], "why": _OUTSIDE[kind], "count": 1})
    return rows


def _hiding(view: View, places: Any, at: int | None) -> list[int]:
    kinds = view.arrays.strings("gap.kind")
    everywhere = [g for g in view.gaps(at=at) if kinds[g] in _HIDING and _is_everywhere(view, g)]
    touched = view.gaps(datasets=np.asarray(places), jobs=_jobs_reading(view, places), at=at)
    return sorted({*everywhere, *(g for g in touched if kinds[g] in _HIDING)})


def _is_everywhere(view: View, gap: int) -> bool:
    return int(view.arrays["gap.job"][gap]) < 0 and int(view.arrays["gap.dataset"][gap]) < 0


def _jobs_reading(view: View, places: Any) -> NDArray[Any]:
    """Jobs that read or write some column of the datasets, now or once."""
    nodes = expand(view.arrays["dataset.start"], np.asarray(places, dtype=np.int64))[0]
    found = []
    for forward in (True, False):
        for edges in adjacency(view.arrays, forward=forward, indirect=True, past=True):
            found.append(edges.job[edges.positions(nodes, None)])
    found.append(view.arrays["read.job"][expand(view.arrays["read.start"], nodes)[0]])
    return distinct(np.concatenate(found))


def unused(view: View, nodes: Nodes, page: Page, when: Since) -> Answer:
    """Columns that nothing live reads, with when they were last written and read, and how sure that is."""
    idle = nodes[~is_read(view, nodes, when)]
    end = len(idle) if page.limit is None else page.offset + page.limit
    shown = idle[page.offset : end]
    blind = _blind_datasets(view, shown, when.at)
    last = _last_reads(view, shown)
    rows = []
    for row, node, read in zip(view.columns(shown, when.at), shown.tolist(), last.tolist(), strict=True):
        home = int(view.arrays["node.dataset"][node])
        why = blind.get(home)
        rows.append(
            {
                **row,
                "last_write": view.time_of("dataset.last_written", home),
                "last_read": time_or_none(read),
                "never": read == UNKNOWN,
                "confidence": "low" if why else "high",
                "why": why or "no reader is known, and no gap in coverage could hide one",
            }
        )
    left_out, cursor = page.next(len(idle), view.version)
    unsure = sum(row["confidence"] == "low" for row in rows)
    told = f"nobody reads {len(idle):,} of {counted(len(nodes), 'column')}"
    return Answer(
        question="unused",
        verdict=told + (f"; {unsure:,} of those shown could have readers that are not seen" if unsure else ""),
        as_of=view.as_of(when.at),
        totals={"columns": len(idle), "of": len(nodes)},
        sections={"rows": rows},
        left_out=left_out,
        cursor=cursor,
        snapshot=view.version,
        main="rows",
    )


def is_read(view: View, nodes: Nodes, when: Since) -> NDArray[np.bool_]:
    """Which columns have a live reader, their members' and structs' readers included."""
    used = np.zeros(view.arrays.meta["nodes"], dtype=np.bool_)
    for edges in adjacency(view.arrays, forward=True, indirect=True, past=when.at is not None):
        rows, owner = edges.rows(nodes, when.at)
        used[owner[edges.other[rows] != owner]] = True
    arrays = view.arrays
    rows, counts = expand(arrays["read.start"], nodes)
    if len(rows):
        names = arrays.strings("read.kinds")
        query = np.array([names[i] == "query" for i in range(len(names))])[arrays["read.kind"][rows]]
        used[np.repeat(nodes, counts)[_is_live(arrays, rows, query, when.moment)]] = True
    if arrays.meta["nested"]:
        marked = used.copy()
        for relation in ("structs", "members"):
            at, counts = expand(arrays[f"nested.{relation}.start"], nodes)
            held = used[arrays[f"nested.{relation}.node"][at]]
            marked[np.repeat(nodes, counts)[held]] = True
        used = marked
    return np.asarray(used[nodes])


def _last_reads(view: View, nodes: Nodes) -> NDArray[np.int64]:
    arrays = view.arrays
    rows, counts = expand(arrays["read.start"], nodes)
    out = np.full(len(nodes), UNKNOWN, dtype=np.int64)
    np.maximum.at(out, np.repeat(np.arange(len(nodes)), counts), arrays["read.last"][rows])
    for edges in adjacency(arrays, forward=True, indirect=True, past=True):
        found, owner = edges.rows(nodes, None)
        seen = arrays[f"{edges.group}.seen"][edges.edges(found)]
        keep = edges.other[found] != owner
        place = np.searchsorted(nodes, owner[keep], sorter=np.argsort(nodes, kind="stable"))
        np.maximum.at(out, np.argsort(nodes, kind="stable")[place], seen[keep])
    return out


def _blind_datasets(view: View, nodes: Nodes, at: int | None) -> dict[int, str]:
    """Datasets on which something could hide a reader, and what."""
    out = {}
    for place in distinct(view.arrays["node.dataset"][nodes]).tolist():
        hiding = _hiding(view, [place], at)
        kind = view.text("dataset.kind", place) or ""
        if hiding:
            out[place] = WHY.get(view.text("gap.kind", hiding[0]) or "", "a gap in coverage")
        elif kind in _OUTSIDE:
            out[place] = _OUTSIDE[kind]
    return out


def all_columns(view: View, at: int | None) -> Nodes:
    """Every column there is, or was then."""
    nodes = np.arange(view.arrays.meta["nodes"], dtype=np.int64)
    found: Nodes = nodes[~view.arrays["node.rows"][nodes] & alive(view.arrays, nodes, at)]
    return found
