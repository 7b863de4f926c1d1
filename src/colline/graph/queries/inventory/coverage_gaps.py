"""`coverage`: where lineage is missing; and the gaps that make another answer uncertain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from colline.errors import SettingError
from colline.flat.integer_arrays import NEVER, distinct, is_among
from colline.graph.answer import Page, count_of
from colline.graph.inventory_rows import CoverageGap
from colline.graph.queries.inventory.column_degrees import degrees
from colline.graph.results import CoverageAnswer
from colline.graph.rows import Unknown
from colline.graph.traversal.bfs import Reach
from colline.graph.traversal.csr import Nodes
from colline.graph.traversal.records import View

MAX_UNKNOWN_ROWS = 20
REASONS = {
    "no_column_lineage": "a run without column lineage",
    "opaque_step": "an opaque step",
    "unknown_source": "an unknown source",
    "unfinished_run": "a run without a final event",
    "dropped_events": "dropped events",
    "run_without_events": "a job ran without sending events",
}


def coverage(
    view: View, page: Page, at: int | None, kind: str | None = None, *, job: int | None = None
) -> CoverageAnswer:
    """Open gaps, with counts by kind, job, layer and owner."""
    places = [place for place in open_gaps(view, at=at) if job in (None, int(view.arrays["gap.job"][place]))]
    rows = [row for row in (gap_row(view, place) for place in places) if kind in (None, row.kind)]
    by = {
        "kind": _count(row.kind for row in rows),
        "job": _count(row.job.name if row.job else None for row in rows),
        "layer": _count(row.layer for row in rows),
        "owner": _count(row.owner for row in rows),
    }
    ups, downs, columns = degrees(view, at)
    with_lineage = int(np.count_nonzero(ups[columns] + downs[columns]))
    kinds = ", ".join(count_of(count, name.replace("_", " ")) for name, count in by["kind"].items())
    share = f"{with_lineage} of {count_of(len(columns), 'column')} have lineage"
    return CoverageAnswer(
        verdict=f"{count_of(len(rows), 'gap')}: {kinds}; {share}" if rows else f"no known gap; {share}",
        totals={
            "rows": len(rows),
            "gaps": len(rows),
            "jobs": view.arrays.meta["jobs"],
            "datasets": view.arrays.meta["datasets"],
            "columns": len(columns),
            "with_lineage": with_lineage,
        },
        rows=rows[page.rows],
        by=by,
        **page.answer_fields(len(rows), view.as_of(at)),
    )


def gap_kind(text: str) -> str:
    """The kind of gap with this name, in the spelling of the JSON or of the table: `opaque_step`, `opaque step`."""
    found = text.strip().lower().replace(" ", "_").replace("-", "_")
    if found not in REASONS:
        raise SettingError(f"{text!r} is not a kind of gap", hint=f"use {', '.join(REASONS)}")
    return found


def _count(values: Iterable[str | None]) -> dict[str, int]:
    return {name or "none": count for name, count in Counter(values).most_common()}


def open_gaps(
    view: View, *, datasets: Nodes | None = None, jobs: Nodes | None = None, at: int | None = None
) -> list[int]:
    """Gaps that are open, or were at a time; all of them, or those of some datasets or jobs."""
    since, until = view.arrays["gap.since"], view.arrays["gap.until"]
    is_open = until == NEVER if at is None else (since <= at) & (at < until)
    if datasets is not None or jobs is not None:
        dataset = view.arrays["gap.dataset"]
        touched = np.zeros(len(since), dtype=np.bool_)
        if datasets is not None:
            touched |= is_among(dataset, np.sort(datasets))
        if jobs is not None:
            touched |= is_among(view.arrays["gap.job"], np.sort(jobs)) & (dataset < 0)
        is_open &= touched
    return [int(place) for place in np.flatnonzero(is_open)]


def gaps_reached(view: View, reach: Reach) -> list[int]:
    """Open gaps of the datasets and jobs of a traversal."""
    if not len(view.arrays["gap.since"]):
        return []
    owners = view.arrays["node.dataset"]
    datasets = distinct(owners.take(np.concatenate([reach.origin, reach.nodes])))
    return open_gaps(view, datasets=datasets, jobs=reach.jobs, at=reach.options.at)


def gap_row(view: View, place: int) -> CoverageGap:
    """One gap."""
    dataset, job = int(view.arrays["gap.dataset"][place]), int(view.arrays["gap.job"][place])
    layer = view.text("dataset.layer", dataset)
    return CoverageGap(
        kind=view.text("gap.kind", place) or "",
        job=view.job_ref(job),
        dataset=view.dataset_ref(dataset) if dataset >= 0 else None,
        run_id=view.text("gap.run_id", place),
        detail=view.text("gap.detail", place),
        layer=layer,
        owner=view.text("job.owner", job) or view.text("dataset.owner", dataset),
        first_seen=view.time_of("gap.since", place),
        last_seen=view.time_of("gap.seen", place),
    )


def unknown_rows(view: View, gaps: Iterable[int]) -> tuple[Unknown, ...]:
    """What an answer cannot know because of gaps. The last row counts the gaps beyond a limit."""
    counts: Counter[tuple[str, str]] = Counter()
    for place in gaps:
        gap = gap_row(view, place)
        what = gap.dataset.label if gap.dataset else gap.job.name if gap.job else "the lake"
        why = REASONS.get(gap.kind, gap.kind or "?")
        why += f" by {gap.job.name}" if gap.job and gap.dataset else ""
        counts[what, why + (f": {gap.detail}" if gap.detail else "")] += 1
    rows = [Unknown(what, why, count) for (what, why), count in counts.items()]
    rest = sum(row.count for row in rows[MAX_UNKNOWN_ROWS:])
    more = (Unknown("more", "further gaps, see `colline coverage`", rest),) if rest else ()
    return (*rows[:MAX_UNKNOWN_ROWS], *more)
