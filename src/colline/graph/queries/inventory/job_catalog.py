"""`jobs` and `show JOB`: jobs by name, and one job with its code, inputs, outputs and last runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from colline.flat.integer_arrays import UNKNOWN, distinct
from colline.graph.answer import Page, count_of, show_duration
from colline.graph.inventory_rows import DescribedJob, RunRow
from colline.graph.queries.inventory.coverage_gaps import open_gaps, unknown_rows
from colline.graph.queries.inventory.run_history import RunFilter, read_runs
from colline.graph.queries.inventory.table_catalog import listed_datasets
from colline.graph.results import JobCard, JobsAnswer
from colline.graph.traversal.csr import Nodes, adjacency
from colline.graph.traversal.name_index import SEPARATOR
from colline.graph.traversal.records import View

MAX_RUNS = 20


def jobs(view: View, page: Page, text: str | None = None, state: str | None = None) -> JobsAnswer:
    """Jobs, last started first."""
    states = view.arrays.strings("job.last_state")
    found = [job for job in matching_jobs(view, text or "") if state in (None, states[job])]
    return JobsAnswer(
        verdict=count_of(len(found), "job") if found else "no job has such a name" if text else "no known job",
        totals={"rows": len(found)},
        rows=[view.job(job) for job in found[page.rows]],
        **page.answer_fields(len(found), view.as_of(None)),
    )


def matching_jobs(view: View, text: str) -> list[int]:
    """The jobs whose name contains the text, last started first."""
    names, wanted = view.arrays.strings("job.name"), text.lower()
    order = np.lexsort((np.arange(len(names)), -np.maximum(view.arrays["job.last_started"], UNKNOWN + 1)))
    return [job for job in order.tolist() if wanted in names[job].lower()]


def job_card(view: View, job: int, lake: Path, at: int | None) -> JobCard:
    """A job with its SQL or code location, the datasets it reads and writes, and its last runs."""
    row = view.job(job)
    inputs, outputs = _inputs_and_outputs(view, job, at)
    wanted = RunFilter(job=row.name, namespace=row.namespace)
    total, runs = read_runs(view, lake, Page(limit=MAX_RUNS), wanted)
    return JobCard(
        verdict=_verdict(row.name, (len(inputs), len(outputs)), runs),
        as_of=view.as_of(at),
        totals={"inputs": len(inputs), "outputs": len(outputs), "runs": total},
        job=DescribedJob.extend(
            row,
            tags=[tag for tag in (view.optional_text("job.tags", job) or "").split(SEPARATOR) if tag],
            **{name: view.optional_text(f"job.{name}", job) for name in ("description", "sql", "location")},
        ),
        inputs=listed_datasets(view, inputs),
        outputs=listed_datasets(view, outputs),
        runs=runs,
        unknown=unknown_rows(view, open_gaps(view, jobs=np.array([job]), at=at)),
        left_out=total - len(runs),
        snapshot=view.version,
    )


def _verdict(name: str, counts: tuple[int, int], runs: list[RunRow]) -> str:
    reads, writes = (count_of(count, "table") for count in counts)
    if not runs:
        return f"{name} reads {reads} and writes {writes}; no known run"
    last, seconds = runs[0], sorted(run.seconds for run in runs if run.seconds is not None)
    typical = f"; typically {show_duration(seconds[len(seconds) // 2])}" if seconds else ""
    return f"{name} reads {reads} and writes {writes}; last run {last.state} at {last.started}{typical}"


def _inputs_and_outputs(view: View, job: int, at: int | None) -> tuple[list[int], list[int]]:
    """The datasets that a job reads and writes, by its edges, its recorded reads and the outputs of its events."""
    arrays = view.arrays
    home = arrays["node.dataset"]
    sources: list[Nodes] = [home.take(_read_nodes(view, job))]
    targets: list[Nodes] = []
    for edges in adjacency(arrays, forward=True, indirect=True, past=at is not None):
        rows = np.flatnonzero(edges.job == job)
        rows = rows if at is None else rows[edges.valid_at(rows, at)]
        sources.append(home.take(np.searchsorted(edges.start, rows, "right") - 1))
        targets.append(home.take(edges.other.take(rows)))
    if "job.outputs" in arrays and at is None:
        targets.append(arrays["job.outputs"][slice(*arrays["job.outputs.start"][[job, job + 1]])])
    found = (distinct(np.concatenate([np.empty(0, np.int64), *side])).tolist() for side in (sources, targets))
    inputs, outputs = found
    return inputs, outputs


def _read_nodes(view: View, job: int) -> Nodes:
    rows = np.flatnonzero(view.arrays["read.job"] == job)
    nodes: Nodes = np.searchsorted(view.arrays["read.start"], rows, "right") - 1
    return nodes
