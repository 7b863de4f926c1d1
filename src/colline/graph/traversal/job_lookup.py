"""Finds jobs by the names people type."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from colline.errors import AmbiguousNameError, ColumnError
from colline.graph.traversal.records import View

MAX_CANDIDATES = 10  # names in an error message


def find_jobs(view: View, text: str, namespace: str | None = None) -> list[int]:
    """The jobs with exactly this name or `namespace/name`, else those whose name contains the text."""
    names, spaces = view.arrays.strings("job.name"), view.arrays.strings("job.namespace")
    jobs = [job for job in range(len(names)) if namespace in (None, spaces[job])]
    matches: tuple[Callable[[int], bool], ...] = (
        lambda job: text in (names[job], f"{spaces[job]}/{names[job]}"),
        lambda job: text.lower() in names[job].lower(),
    )
    return next((found for matches_job in matches if (found := list(filter(matches_job, jobs)))), [])


def job_named(view: View, text: str, namespace: str | None = None) -> int:
    """The one job with this name; an error with candidates if there are several, or no such job."""
    found = find_jobs(view, text, namespace)
    if len(found) == 1:
        return found[0]
    names, spaces = view.arrays.strings("job.name"), view.arrays.strings("job.namespace")
    if found:
        candidates = tuple(f"{spaces[job]}/{names[job]}" for job in found[:MAX_CANDIDATES])
        message = f"{text!r} matches {len(found)} jobs: {', '.join(candidates)}"
        raise AmbiguousNameError(message, hint="write the full name", candidates=candidates)
    similar = tuple(difflib.get_close_matches(text[:200], [names[job] for job in range(len(names))], 3))
    hint = f"did you mean {' or '.join(similar)}?" if similar else "`colline jobs` lists the jobs"
    raise ColumnError(f"no job is called {text!r}", hint=hint, candidates=similar)
