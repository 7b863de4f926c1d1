"""`writers` and `compare`: who makes a column and how, and where two columns part."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from colline.graph.answer import Answer, Page, Row, counted
from colline.graph.queries.upstream_downstream import gaps_on
from colline.graph.traversal.bfs import Reach, TraversalOptions, traverse
from colline.graph.traversal.csr import Nodes, adjacency, distinct
from colline.graph.traversal.records import View


def writers(view: View, columns: Nodes, page: Page, at: int | None) -> Answer:
    """One row a column and job that writes it: last success, how it derives it, and whether another job disagrees."""
    rows = [row for node in columns.tolist() for row in _writers_of(view, node, at)]
    end = len(rows) if page.limit is None else page.offset + page.limit
    left_out, cursor = page.next(len(rows), view.version)
    clashing = {row["label"] for row in rows if row["conflict"]}
    gaps = [] if rows else view.gaps(datasets=distinct(view.arrays["node.dataset"][columns]), at=at)
    verdict = f"{counted(len({row['job']['name'] for row in rows}), 'job')} write{'s' if len(rows) == 1 else ''} " + (
        ", ".join(view.names.label(n) for n in columns[:3].tolist())
    )
    verdict += f"; conflicting definitions of {', '.join(sorted(clashing)[:3])}" if clashing else ""
    if not rows:
        verdict = "unknown who writes it: lineage is missing" if gaps else "no job is known to write it"
    return Answer(
        question="writers",
        verdict=verdict,
        as_of=view.as_of(at),
        of=tuple(view.ref(n) for n in columns.tolist()),
        totals={"rows": len(rows), "jobs": len({row["job"]["name"] for row in rows}), "conflicts": len(clashing)},
        sections={"rows": rows[page.offset : end]},
        unknown=view.unknown(gaps),
        left_out=left_out,
        cursor=cursor,
        snapshot=view.version,
        main="rows",
        holds=not clashing,
    )


def _writers_of(view: View, node: int, at: int | None) -> list[Row]:
    by_job: dict[int, list[Row]] = defaultdict(list)
    for edges in adjacency(view.arrays, forward=False, indirect=True, past=at is not None):
        for row in edges.positions(np.array([node]), at).tolist():
            source = int(edges.other[row])
            edge = view.edge(edges, row, (source, node))
            by_job[int(edges.job[row])].append({**view.ref(source), **_how(edge)})
    definitions = {job: _definition(inputs) for job, inputs in by_job.items()}
    conflict = len(set(definitions.values())) > 1
    out = []
    for job, inputs in sorted(by_job.items()):
        facts = view.job(job) if job >= 0 else {"namespace": "", "name": "?", "last_success": None, "last_state": None}
        row = {**view.ref(node), "job": facts, "last_success": facts["last_success"], "last_state": facts["last_state"]}
        out.append({**row, "definition": definitions[job], "inputs": inputs, "conflict": conflict})
    return out


def _how(edge: Row) -> Row:
    return {key: edge[key] for key in ("type", "subtype", "masking", "description")}


def _definition(inputs: list[Row]) -> str:
    """How a job derives a column, the same text for the same derivation: its expressions, else its inputs."""
    direct = [i for i in inputs if i["type"] == "DIRECT"] or inputs
    told = {i["description"] or f"{i['subtype'].lower()} of {i['label']}" for i in direct}
    return "; ".join(sorted(told))


def compare(view: View, a: Nodes, b: Nodes, question: TraversalOptions, page: Page) -> Answer:
    """What two columns share, what only one has, and where they part, nearest first."""
    reaches = traverse(view.arrays, a, question), traverse(view.arrays, b, question)
    sets = [np.union1d(reach.all_nodes(), start) for reach, start in zip(reaches, (a, b), strict=True)]
    common = np.intersect1d(sets[0], sets[1])
    order = common[np.lexsort((common, _far(reaches, common)))]
    only = [np.setdiff1d(mine, common) for mine in sets]
    only = [np.setdiff1d(mine, start) for mine, start in zip(only, (a, b), strict=True)]
    partings = _partings(view, order, reaches, [set(s.tolist()) for s in sets])
    end = len(order) if page.limit is None else page.offset + page.limit
    sources = common[view.neighbours(common, forward=False, at=question.at) == 0] if len(common) else common
    left_out, cursor = page.next(len(order), view.version)
    gaps = sorted({gap for reach in reaches for gap in gaps_on(view, reach)})
    totals = {"common": len(order), "only_a": len(only[0]), "only_b": len(only[1]), "common_sources": len(sources)}
    return Answer(
        question="compare",
        verdict=_compare_verdict(view, a, b, totals, partings, bool(gaps)),
        as_of=view.as_of(question.at),
        of=(view.ref(int(a[0])), view.ref(int(b[0]))),
        totals=totals,
        sections={
            "divergences": partings,
            "rows": _shared_rows(view, order[page.offset : end], reaches, question.at),
            "common": _shared_rows(view, order[page.offset : end], reaches, question.at),
            "only_a": view.columns(only[0][:1000], question.at),
            "only_b": view.columns(only[1][:1000], question.at),
        },
        unknown=view.unknown(gaps),
        left_out=left_out,
        cursor=cursor,
        snapshot=view.version,
        main="divergences",
    )


def _far(reaches: tuple[Reach, Reach], nodes: Nodes) -> Any:
    return np.maximum(reaches[0].level_of(nodes), reaches[1].level_of(nodes))


def _shared_rows(view: View, nodes: Nodes, reaches: tuple[Reach, Reach], at: int | None) -> list[Row]:
    ways = [(reach.level_of(nodes) - 1).tolist() for reach in reaches]
    rows = zip(view.columns(nodes, at), *ways, strict=True)
    return [{**row, "distance_a": near_a, "distance_b": near_b} for row, near_a, near_b in rows]


def _partings(view: View, common: Nodes, reaches: tuple[Reach, Reach], sets: list[set[int]]) -> list[Row]:
    """Shared columns with a next step that leads to one side only, or to both in different ways."""
    out: list[Row] = []
    for node in common.tolist():
        ways = [_onward(view, node, reach, mine) for reach, mine in zip(reaches, sets, strict=True)]
        targets = [{edge["to"] for edge in way} for way in ways]
        if targets[0] == targets[1]:
            continue
        how = [{(e["subtype"], e["description"], e["masking"]) for e in way} for way in ways]
        out.append({"column": view.ref(node), "a": ways[0], "b": ways[1], "differs": how[0] != how[1]})
        if len(out) == 50:
            break
    return out


def _onward(view: View, node: int, reach: Reach, mine: set[int]) -> list[Row]:
    out = []
    question = reach.options
    for edges in adjacency(view.arrays, forward=True, indirect=question.indirect, past=question.at is not None):
        for row in edges.positions(np.array([node]), question.at).tolist():
            target = int(edges.other[row])
            if target in mine and target != node:
                out.append({**view.edge(edges, row, (node, target)), "target": view.ref(target)})
    return out


def _compare_verdict(view: View, a: Nodes, b: Nodes, totals: dict[str, int], partings: list[Row], gaps: bool) -> str:
    names = [view.names.label(int(n[0])) for n in (a, b)]
    if not totals["common"]:
        return (
            f"unknown whether {names[0]} and {names[1]} share a source: lineage is missing"
            if gaps
            else (f"{names[0]} and {names[1]} share no source")
        )
    out = f"{names[0]} and {names[1]} share {counted(totals['common_sources'], 'source')}"
    same = not (totals["only_a"] or totals["only_b"])
    if partings:
        first = partings[0]
        out += f"; they part at {first['column']['label']}"
        out += ", in different ways" if first["differs"] else ", in the same way"
    elif same:
        out += " and nothing else"
    return out
