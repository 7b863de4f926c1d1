"""Who reads a column: jobs that derive other columns from it, recorded queries, and readers that may be hidden."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colline.flat.integer_arrays import UNKNOWN, distinct, expand, is_among
from colline.graph.queries.inventory.coverage_gaps import open_gaps
from colline.graph.rows import JobIdentity
from colline.graph.snapshot.array_file import SUBTYPES, Arrays
from colline.graph.traversal.csr import Adjacency, Nodes, adjacency
from colline.graph.traversal.records import View
from colline.graph.traversal.times import time_or_none
from colline.graph.usage_rows import Reader

DAY_MICROSECONDS = 86_400_000_000
DEFAULT_IDLE_DAYS = 90
MAX_DERIVED_COLUMNS = 1000  # listed of one column; beyond that, one for each job and use
# kinds of datasets with readers outside the lake
OUTSIDE_READERS = {
    "JDBC": "a database may have readers that are not recorded",
    "TOPIC": "a topic may have readers that are not recorded",
}
_HIDING_GAPS = ("no_column_lineage", "unknown_source", "unfinished_run", "dropped_events", "run_without_events")


@dataclass(frozen=True)
class ReadWindow:
    """Queries count as readers if they ran after `start`; edges are those of time `at`."""

    start: int
    at: int | None


def read_window(view: View, idle_days: int, at: int | None) -> ReadWindow:
    """The last days before a time, or before the newest event of the lake."""
    return ReadWindow((view.last_moment() if at is None else at) - idle_days * DAY_MICROSECONDS, at)


def with_nested_fields(view: View, node: int) -> Nodes:
    """A column, its nested fields, and the structs that contain it: reading one is reading the other."""
    nodes = [np.array([node], dtype=np.int64)]
    if view.arrays.meta["nested"]:
        for relation in ("structs", "members"):
            at, _ = expand(view.arrays[f"nested.{relation}.start"], nodes[0])
            nodes.append(view.arrays[f"nested.{relation}.node"][at].astype(np.int64))
    return np.concatenate(nodes)


def deriving_jobs(view: View, nodes: Nodes, at: int | None) -> tuple[list[Reader], int]:
    """Jobs that derive other columns from these, one row for each use and column; and how many are left out."""
    out: dict[tuple[int, str, int], Reader] = {}
    left_out = 0
    for edges in adjacency(view.arrays, forward=True, indirect=True, past=at is not None):
        rows, owner = edges.rows(nodes, at)
        rows = rows.compress(edges.other.take(rows) != owner)  # a column that only feeds itself is not read
        if len(rows) > MAX_DERIVED_COLUMNS:
            subtypes = view.arrays[f"{edges.group}.subtype"].take(edges.edges(rows))
            uses = edges.job.take(rows).astype(np.int64) << 8 | subtypes
            listed = distinct(np.append(np.unique(uses, return_index=True)[1], np.arange(MAX_DERIVED_COLUMNS)))
            left_out += len(rows) - len(listed)
            rows = rows.take(listed)
        for row in rows.tolist():
            job, use, last_read = _use(view, edges, row)
            target = int(edges.other[row])
            if (job, use, target) not in out:
                into = view.ref(target)
                job_owner = view.text("job.owner", job)
                out[job, use, target] = Reader(view.job_ref(job), job_owner, use, "write", last_read, into=into)
    return list(out.values()), left_out


class ColumnUse(NamedTuple):
    """One use of a column by a job or query of another table."""

    job: int
    kind: str
    use: str
    column: int
    last_read: int
    is_live: bool


def column_uses(view: View, nodes: Nodes, window: ReadWindow) -> list[ColumnUse]:
    """Who reads the columns of one table: jobs that write other tables from them, and recorded queries."""
    arrays = view.arrays
    homes = distinct(arrays["node.dataset"].take(nodes))
    out: list[ColumnUse] = []
    for edges in adjacency(arrays, forward=True, indirect=True, past=window.at is not None):
        rows, owner = edges.rows(nodes, window.at)
        is_other = ~is_among(arrays["node.dataset"].take(edges.other.take(rows)), homes)
        for row, column in zip(rows[is_other].tolist(), owner[is_other].tolist(), strict=True):
            place = row if edges.edge is None else int(edges.edge[row])
            subtype = SUBTYPES[int(arrays[f"{edges.group}.subtype"][place])].lower()
            use, seen = subtype if edges.bits & 2 else "value", int(arrays[f"{edges.group}.seen"][place])
            out.append(ColumnUse(int(edges.job[row]), "write", use, column, seen, True))
    writing = {use.job for use in out} | {job for home in homes.tolist() for job in view.writing_jobs(home, window.at)}
    rows, counts = expand(arrays["read.start"], nodes)
    uses, kinds = arrays.strings("read.uses"), arrays.strings("read.kinds")
    live = _is_live(arrays, rows, window.start).tolist()
    for row, column, is_live in zip(rows.tolist(), np.repeat(nodes, counts).tolist(), live, strict=True):
        job, kind = int(arrays["read.job"][row]), kinds[int(arrays["read.kind"][row])]
        is_known = window.at is None or int(arrays["read.first"][row]) <= window.at
        if is_known and (kind == "query" or job not in writing):
            last = int(arrays["read.last"][row])
            out.append(ColumnUse(job, kind, uses[int(arrays["read.use"][row])], column, last, is_live))
    return out


def _use(view: View, edges: Adjacency, row: int) -> tuple[int, str, str | None]:
    """The job of an edge, how it uses the source column, and when it last did."""
    place = row if edges.edge is None else int(edges.edge[row])
    subtype = SUBTYPES[int(view.arrays[f"{edges.group}.subtype"][place])]
    last_read = time_or_none(int(view.arrays[f"{edges.group}.seen"][place]))
    return int(edges.job[row]), subtype.lower() if edges.bits & 2 else "value", last_read


def retired_jobs(view: View, nodes: Nodes, known: set[str | None]) -> list[Reader]:
    """Jobs that derived columns from these in the past, except the known ones."""
    out: dict[tuple[int, str], Reader] = {}
    for edges in adjacency(view.arrays, forward=True, indirect=True, past=True):
        if edges.until is None:
            continue
        for row in edges.positions(nodes, None).tolist():
            job, use, last_read = _use(view, edges, row)
            ref = view.job_ref(job)
            if ref and ref.name not in known:
                retired = time_or_none(int(edges.until[row]))
                out[job, use] = Reader(ref, view.text("job.owner", job), use, "write", last_read, retired_at=retired)
    return list(out.values())


def query_readers(view: View, nodes: Nodes, at: int | None, start: int | None = None) -> list[Reader]:
    """Recorded reads of the columns. A query is live if it is recent, a job if its last run read the column."""
    arrays = view.arrays
    start = read_window(view, DEFAULT_IDLE_DAYS, at).start if start is None else start
    rows, counts = expand(arrays["read.start"], nodes)
    live = _is_live(arrays, rows, start).tolist()
    uses, kinds = arrays.strings("read.uses"), arrays.strings("read.kinds")
    out = []
    for row, node, is_live in zip(rows.tolist(), np.repeat(nodes, counts).tolist(), live, strict=True):
        if at is None or int(arrays["read.first"][row]) <= at:
            out.append(
                Reader(
                    job=view.job_ref(int(arrays["read.job"][row])) or JobIdentity("", "?"),
                    owner=view.text("job.owner", int(arrays["read.job"][row])),
                    use=uses[int(arrays["read.use"][row])],
                    kind=kinds[int(arrays["read.kind"][row])],
                    last_read=view.time_of("read.last", row),
                    column=view.names.label(node),
                    reads=int(arrays["read.reads"][row]),
                    live=is_live,
                )
            )
    return out


def _is_live(arrays: Arrays, rows: Nodes, start: int) -> NDArray[np.bool_]:
    last, job = arrays["read.last"][rows], arrays["read.job"][rows]
    names = arrays.strings("read.kinds")
    is_query = np.array([names[place] == "query" for place in range(len(names))], dtype=np.bool_)
    started = arrays["job.last_started"][job] if len(arrays["job.last_started"]) else np.full(len(rows), UNKNOWN)
    by_age = is_query[arrays["read.kind"][rows]] | (started == UNKNOWN) | (job < 0)
    return np.asarray(np.where(by_age, last >= start, last >= started))


def is_read(view: View, nodes: Nodes, window: ReadWindow) -> NDArray[np.bool_]:
    """Whether each column has a live reader; readers of nested fields and of enclosing structs count."""
    arrays = view.arrays
    used = np.zeros(arrays.meta["nodes"], dtype=np.bool_)
    for edges in adjacency(arrays, forward=True, indirect=True, past=window.at is not None):
        rows, owner = edges.rows(nodes, window.at)
        used[owner[edges.other[rows] != owner]] = True
    rows, counts = expand(arrays["read.start"], nodes)
    used[np.repeat(nodes, counts)[_is_live(arrays, rows, window.start)]] = True
    if not arrays.meta["nested"]:
        return np.asarray(used[nodes])
    marked = used.copy()
    for relation in ("structs", "members"):
        at, counts = expand(arrays[f"nested.{relation}.start"], nodes)
        marked[np.repeat(nodes, counts)[used[arrays[f"nested.{relation}.node"][at]]]] = True
    return np.asarray(marked[nodes])


def last_reads(view: View, nodes: Nodes) -> NDArray[np.int64]:
    """When each column was last read, UNKNOWN if never."""
    arrays = view.arrays
    out = np.full(arrays.meta["nodes"], UNKNOWN, dtype=np.int64)
    rows, counts = expand(arrays["read.start"], nodes)
    np.maximum.at(out, np.repeat(nodes, counts), arrays["read.last"][rows])
    for edges in adjacency(arrays, forward=True, indirect=True, past=True):
        found, owner = edges.rows(nodes, None)
        keep = edges.other[found] != owner
        np.maximum.at(out, owner[keep], arrays[f"{edges.group}.seen"][edges.edges(found)][keep])
    return out[nodes]


def hiding_gaps(view: View, dataset: int, at: int | None) -> list[int]:
    """Coverage gaps that could hide a reader of a dataset: of the lake, the dataset, or a job that uses it."""
    kinds = view.arrays.strings("gap.kind")
    touched = open_gaps(view, datasets=np.array([dataset]), jobs=_jobs_using(view, dataset), at=at)
    anywhere = (gap for gap in open_gaps(view, at=at) if hides_any_reader(view, gap))
    return sorted({gap for gap in (*touched, *anywhere) if kinds[gap] in _HIDING_GAPS})


def hides_any_reader(view: View, gap: int) -> bool:
    """Whether a gap is not about one dataset or job; nobody knows what a job read that ran without events."""
    if view.text("gap.kind", gap) == "run_without_events":
        return True
    return int(view.arrays["gap.job"][gap]) < 0 and int(view.arrays["gap.dataset"][gap]) < 0


def _jobs_using(view: View, dataset: int) -> Nodes:
    """Jobs that read or write columns of a dataset, or did in the past."""
    nodes, _ = expand(view.arrays["dataset.start"], np.array([dataset], dtype=np.int64))
    jobs: Iterable[Nodes] = (
        edges.job[edges.positions(nodes, None)]
        for forward in (True, False)
        for edges in adjacency(view.arrays, forward=forward, indirect=True, past=True)
    )
    return distinct(np.concatenate([*jobs, view.arrays["read.job"][expand(view.arrays["read.start"], nodes)[0]]]))
