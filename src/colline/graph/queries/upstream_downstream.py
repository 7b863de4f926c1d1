"""`upstream` and `downstream`: what feeds a column, what is built on it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colline.graph.answer import Answer, LateRows, Page, Row, counted
from colline.graph.traversal.bfs import Reach, TraversalOptions, traverse
from colline.graph.traversal.csr import Nodes, distinct
from colline.graph.traversal.edge_selection import EDGES_A_ROW, Told, at_most, edge_rows, told_edges
from colline.graph.traversal.records import FEW_ASKED, ColumnFacts, View

Marks = dict[str, NDArray[np.bool_]]  # what may be wrong with a job → which of the jobs it is
Reached = tuple[int, bool, bool]  # how far, whether by direct steps only, whether only through a mask


def answer(view: View, origin: Nodes, question: TraversalOptions, page: Page, since: int | None = None) -> Answer:
    """The answer at column grain."""
    reach = traverse(view.arrays, origin, question)
    nodes = reach.page(page.offset, page.limit)
    most = EDGES_A_ROW * max(len(nodes), 1) if page.limit else None
    edges, edges_left_out = at_most(told_edges(reach, nodes, first=page.offset == 0), most)
    left_out, cursor = page.next(reach.total, view.version)
    gaps, found, marks = gaps_on(view, reach), totals(reach), flags(view, reach.jobs, since)
    name = "upstream" if question.upstream else "downstream"
    # one look for the columns asked about and those reached; of very many the former only say who they are
    asked = origin if len(origin) <= FEW_ASKED else origin[:0]
    facts = view.column_facts(np.concatenate([asked, nodes]), question.at)
    of, told = facts[: len(asked)], facts[len(asked) :]
    reached = reached_how(reach, nodes, reach.level_of(nodes))
    return Answer(
        question=name,
        verdict=verdict(view, reach, marks, found, len(gaps)),
        as_of=view.as_of(question.at),
        of=tuple(view.column_rows(of)) if len(of) == len(origin) else view.of(origin, question.at),
        totals=found,
        sections={
            "columns": _late_columns(view, told, reached),
            "edges": _late_edges(view, edges),
            "edges_left_out": edges_left_out,
            "jobs": job_rows(view, reach, marks),
        },
        unknown=view.unknown(gaps),
        left_out=left_out,
        cursor=cursor,
        snapshot=view.version,
    )


def _late_columns(view: View, facts: list[ColumnFacts], reached: list[Reached]) -> LateRows:
    def write() -> list[str]:
        from colline.graph.traversal.json_rows import writing

        return writing(view).columns(facts, reached)

    return LateRows(lambda: with_reach(view.column_rows(facts), reached), write)


def _late_edges(view: View, told: list[Told]) -> LateRows:
    def write() -> list[str]:
        from colline.graph.traversal.json_rows import writing

        return writing(view).edges(told)

    return LateRows(lambda: edge_rows(view, told), write)


def column_rows(view: View, reach: Reach, nodes: Nodes) -> list[Row]:
    """Reached columns with how far, how, and whether only through a mask."""
    return with_reach(view.columns(nodes, reach.options.at), reached_how(reach, nodes, reach.level_of(nodes)))


def reached_how(reach: Reach, nodes: Nodes, away: Nodes) -> list[Reached]:
    """How far each column is, whether by direct steps only, and whether only through a mask; `away` is one more."""
    direct = reach.is_direct(nodes).tolist() if reach.options.indirect else [True] * len(nodes)
    return list(zip((away - 1).tolist(), direct, reach.is_masked(nodes).tolist(), strict=True))


def with_reach(rows: list[Row], reached: list[Reached]) -> list[Row]:
    """The rows of reached columns, completed."""
    for row, (distance, is_direct, is_masked) in zip(rows, reached, strict=True):
        row["distance"], row["relation"], row["masked"] = distance, "direct" if is_direct else "indirect", is_masked
    return rows


def totals(reach: Reach) -> dict[str, int]:
    """How much was reached."""
    owners = np.zeros(reach.arrays.meta["datasets"], dtype=np.bool_)
    owners[reach.arrays["node.dataset"].take(reach.all_nodes())] = True
    return {
        "columns": reach.total,
        "datasets": int(np.count_nonzero(owners)),
        "jobs": len(reach.jobs),
        "depth": reach.depth,
    }


def datasets_of(reach: Reach) -> Any:
    """The datasets reached and those the walk began in."""
    owners = reach.arrays["node.dataset"]
    return distinct(np.concatenate([owners[reach.origin], *(owners[n] for level in reach.layers for n in level)]))


def gaps_on(view: View, reach: Reach) -> list[int]:
    """Open gaps in coverage on the datasets and jobs that were walked."""
    if not len(view.arrays["gap.since"]):
        return []
    return view.gaps(datasets=datasets_of(reach), jobs=reach.jobs, at=reach.options.at)


def job_rows(view: View, reach: Reach, marks: Marks, most: int = 100) -> list[Row]:
    """The jobs on the way, those that need a look first: failed, changed, not run since a time."""
    places = reach.jobs
    if not any(marked.any() for marked in marks.values()):
        return list(view.jobs(places[:most].tolist()))
    flagged = np.logical_or.reduce(list(marks.values()))
    order = np.lexsort((places, ~flagged))[:most]
    return [view.job(int(places[i]), flags=[name for name, found in marks.items() if found[i]]) for i in order.tolist()]


def flags(view: View, jobs: Nodes, since: int | None) -> Marks:
    """`failed`: its last run did, or one did since; `changed`: its lineage did since; `stale`: no success since."""
    arrays = view.arrays
    failed = arrays["job.failed"][jobs]
    if since is None:
        never = np.zeros(len(jobs), dtype=np.bool_)
        return {"failed": failed, "changed": never, "stale": never}
    changed, first = arrays["job.changed_at"][jobs], arrays["job.first_seen"][jobs]
    return {
        "failed": failed | (arrays["job.last_failure"][jobs] >= since),
        "changed": (changed >= since) & (first < since),  # a job that is new has not changed
        "stale": arrays["job.last_success"][jobs] < since,
    }


def verdict(view: View, reach: Reach, marks: Marks, found: dict[str, int], gaps: int) -> str:
    """One sentence: how much, how far, what is wrong on the way, what is not known."""
    names = ", ".join(view.names.label(n) for n in reach.origin[:3].tolist())
    names += f" and {len(reach.origin) - 3} more" if len(reach.origin) > 3 else ""
    if not found["columns"]:
        word = "nothing feeds" if reach.options.upstream else "nothing is built on"
        return (
            f"unknown what {'feeds' if reach.options.upstream else 'is built on'} {names}: lineage is missing"
            if (gaps)
            else f"{word} {names}"
        )
    word = ("feed" if found["columns"] > 1 else "feeds") if reach.options.upstream else "built on"
    reached = f"{counted(found['columns'], 'column')} in {counted(found['datasets'], 'dataset')}"
    linked = (
        f"{reached} {word} {names}" if reach.options.upstream else f"{reached} {_are(found['columns'])} {word} {names}"
    )
    notes = [f"{counted(n, 'job')} {flag}" for flag, marked in marks.items() if (n := int(np.count_nonzero(marked)))]
    notes += [f"{counted(gaps, 'gap')} in coverage on the way"] if gaps else []
    return "; ".join([linked, *notes])


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
