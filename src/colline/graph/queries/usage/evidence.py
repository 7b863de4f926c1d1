"""What "nobody reads it" is based on: since when reads are recorded, from which jobs, and what cannot be seen."""

from __future__ import annotations

import numpy as np

from colline.graph.answer import count_of, show_duration
from colline.graph.queries.usage.readers import DAY_MICROSECONDS, ReadWindow
from colline.graph.traversal.csr import Nodes
from colline.graph.traversal.records import View
from colline.graph.traversal.times import show_time
from colline.graph.usage_rows import Confidence, Evidence

MIN_DAYS_FOR_MEDIUM = 7
MAX_SOURCES = 5
NOT_VISIBLE = ("BI tools that read the files or a JDBC endpoint", "jobs that are not watched")


def collect_evidence(view: View, window: ReadWindow) -> Evidence:
    """Since when and from where reads have been recorded."""
    arrays = view.arrays
    start, end = _history(view, window.at)
    spaces, integrations = arrays.strings("job.namespace"), arrays.strings("job.integration")
    places = range(arrays.meta["jobs"])
    sources = sorted({f"{spaces[job]} ({integrations[job] or 'unknown integration'})" for job in places})
    kinds = arrays.strings("read.kinds")
    is_query = np.array([kinds[place] == "query" for place in range(len(kinds))], dtype=np.bool_)
    queries = np.unique(arrays["read.job"][is_query[arrays["read.kind"]]]) if len(is_query) else ()
    return Evidence(
        since=show_time(start),
        until=show_time(end),
        seconds=(end - start) / 1e6,
        jobs=len(places),
        queries=len(queries),
        sources=sources[:MAX_SOURCES],
        sources_left_out=max(0, len(sources) - MAX_SOURCES),
        not_visible=list(NOT_VISIBLE),
    )


def recorded_seconds(view: View, at: int | None) -> float:
    """For how long reads have been recorded, up to a time or the newest event."""
    start, end = _history(view, at)
    return (end - start) / 1e6


def evidence_text(found: Evidence) -> str:
    """The evidence as a sentence."""
    period = f"reads are recorded for {show_duration(found.seconds)} ({found.since} to {found.until})"
    more = f" and {found.sources_left_out} more" if found.sources_left_out else ""
    where = f" in {', '.join(found.sources)}{more}" if found.sources else ""
    queries = f", {found.queries:,} of them with queries that write nothing" if found.queries else ""
    return f"{period} from {count_of(found.jobs, 'job')}{where}{queries}; not visible: {', '.join(found.not_visible)}"


def confidences(view: View, nodes: Nodes, window: ReadWindow) -> list[Confidence]:
    """How sure it is that nobody reads each column: high if it was observed for as long as a reader may be idle."""
    start, end = _history(view, window.at)
    observed = end - np.maximum(view.arrays["node.since"].take(nodes), start)
    needed = np.int64(end) - window.start
    return [_confidence(int(time), int(needed)) for time in observed.tolist()]


def _confidence(observed: int, needed: int) -> Confidence:
    if observed < MIN_DAYS_FOR_MEDIUM * DAY_MICROSECONDS:
        return "low"
    return "high" if observed >= needed else "medium"


def _history(view: View, at: int | None) -> tuple[int, int]:
    """The first recorded time, and the time of the answer or of the newest event."""
    end = view.last_moment() if at is None else at
    first = view.arrays.meta["first"]
    return (end if first is None else min(first, end)), end
