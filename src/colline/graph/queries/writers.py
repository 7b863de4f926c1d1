"""`writers`: the jobs that write a column, how each defines it, and whether the definitions agree."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from colline.flat.integer_arrays import distinct
from colline.graph.answer import Page, count_of
from colline.graph.queries.inventory.coverage_gaps import open_gaps, unknown_rows
from colline.graph.queries.reach_summary import column_names
from colline.graph.queries.values_without_inputs import describe_value
from colline.graph.reach_rows import WriterInput, WriterRow
from colline.graph.results import WritersAnswer
from colline.graph.traversal.csr import Nodes, adjacency
from colline.graph.traversal.records import View


def answer(view: View, columns: Nodes, page: Page, at: int | None) -> WritersAnswer:
    """One row for each column and job that writes it."""
    rows = [row for node in columns.tolist() for row in _writers_of(view, node, at)]
    jobs = len({row.job.name for row in rows})
    conflicts = sorted({row.label for row in rows if row.conflict})
    gaps = [] if rows else open_gaps(view, datasets=distinct(view.arrays["node.dataset"][columns]), at=at)
    if rows:
        verdict = f"{count_of(jobs, 'job')} {'writes' if jobs == 1 else 'write'} {column_names(view, columns)}"
        verdict += f"; conflicting definitions of {', '.join(conflicts[:3])}" if conflicts else ""
    else:
        verdict = "unknown which job writes it: lineage is missing" if gaps else "no known job writes it"
    return WritersAnswer(
        verdict=verdict,
        of=tuple(view.ref(node) for node in columns.tolist()),
        totals={"rows": len(rows), "jobs": jobs, "conflicts": len(conflicts)},
        rows=rows[page.rows],
        unknown=unknown_rows(view, gaps),
        holds=not conflicts,
        **page.answer_fields(len(rows), view.as_of(at)),
    )


def _inputs_by_job(view: View, node: int, at: int | None) -> dict[int, list[WriterInput]]:
    """The inputs of a column, by the job that writes it."""
    inputs: dict[int, list[WriterInput]] = defaultdict(list)
    for edges in adjacency(view.arrays, forward=False, indirect=True, past=at is not None):
        for row in edges.positions(np.array([node]), at).tolist():
            source = int(edges.other[row])
            edge = view.edge(edges, row, (source, node))
            found = WriterInput.extend(
                view.ref(source),
                type=edge.type,
                subtype=edge.subtype,
                masking=edge.masking,
                description=edge.description,
            )
            inputs[int(edges.job[row])].append(found)
    return inputs


def _writers_of(view: View, node: int, at: int | None) -> list[WriterRow]:
    inputs = _inputs_by_job(view, node, at)
    definitions = {job: _definition(found) for job, found in inputs.items()}
    if not any(found.type == "DIRECT" for sources in inputs.values() for found in sources):
        is_complete = not open_gaps(view, datasets=view.arrays["node.dataset"][[node]], at=at)
        for job in view.writing_jobs(int(view.arrays["node.dataset"][node]), at):
            inputs.setdefault(job, [])
            definitions[job] = describe_value(view, node, [job], at) if is_complete else "unknown: lineage is missing"
    has_conflict = len({definitions[job] for job, found in inputs.items() if found}) > 1
    return [
        WriterRow.extend(
            view.ref(node),
            job=view.job(job),
            last_success=view.job(job).last_success,
            last_state=view.job(job).last_state,
            definition=definitions[job],
            inputs=found,
            conflict=has_conflict,
        )
        for job, found in sorted(inputs.items())
    ]


def _definition(inputs: list[WriterInput]) -> str:
    """How a job derives a column: its expressions, or its inputs. Equal derivations have equal texts."""
    direct = [found for found in inputs if found.type == "DIRECT"] or inputs
    return "; ".join(sorted({found.description or f"{found.subtype.lower()} of {found.label}" for found in direct}))
