"""`pii`: where a personal datum ends up (in the clear, masked, by influence only) and where it leaves the lake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from colline.errors import ColumnError
from colline.graph.answer import Answer, Page, Row, counted
from colline.graph.queries import upstream_downstream
from colline.graph.traversal.backtrack import Step, shortest_path, sources_reaching
from colline.graph.traversal.bfs import Reach, TraversalOptions, alive, traverse
from colline.graph.traversal.csr import Nodes, distinct
from colline.graph.traversal.name_index import SEPARATOR
from colline.graph.traversal.records import View

EXITS = ("FILE", "JDBC", "TOPIC")
VERDICTS = ("clear", "masked", "indirect")


@dataclass(frozen=True)
class Landings:
    """Every column the datum reaches, worst first: verdict, whether it is a violation, and the order of the rows."""

    reach: Reach
    nodes: Nodes
    verdicts: Any  # 0 clear, 1 masked, 2 indirect
    violations: Any


def tagged(view: View, tag: str, at: int | None) -> Nodes:
    """The columns that carry a tag, or whose dataset does, whatever its case."""
    wanted = tag.lower()
    own = _holders(view, "node.tags", wanted)
    homes = _holders(view, "dataset.tags", wanted)
    start = view.arrays["dataset.start"]
    inside = [np.arange(start[home], start[home + 1]) for home in homes]
    nodes: Nodes = distinct(np.concatenate([np.array(own, dtype=np.int64), *inside]))
    nodes = nodes[~view.arrays["node.rows"][nodes] & alive(view.arrays, nodes, at)]
    if not len(nodes):
        raise ColumnError(f"no column is tagged {tag!r}", hint="tags come from events and from the metadata table")
    return nodes


def _holders(view: View, name: str, wanted: str) -> list[int]:
    """Rows whose tags hold one; rows without tags are skipped without reading them."""
    texts = view.arrays.strings(name)
    some = np.flatnonzero(np.diff(texts.offsets))
    return [int(i) for i in some if wanted in texts[int(i)].lower().split(SEPARATOR)]


def landings(view: View, origin: Nodes, question: TraversalOptions, zones: Sequence[str]) -> Landings:
    """Everything reached with its verdict, in the order of the answer."""
    reach = traverse(view.arrays, origin, question)
    nodes = reach.all_nodes()
    verdicts = np.where(~reach.is_direct(nodes), 2, np.where(reach.is_masked(nodes), 1, 0))
    violations = (verdicts == 0) & ~allowed(view, nodes, zones) if zones else np.zeros(len(nodes), dtype=np.bool_)
    key = ((verdicts * 2 + ~violations) * (1 << 24) + reach.level_of(nodes)) * (1 << 34) + nodes
    order = np.argsort(key, kind="stable")
    return Landings(reach, nodes[order], verdicts[order], violations[order])


def allowed(view: View, nodes: Nodes, zones: Sequence[str]) -> Any:
    """Which columns lie where the datum may be in the clear: a layer, a dataset's name, or a pattern of one."""
    owners = view.arrays["node.dataset"][nodes]
    distinct, back = np.unique(owners, return_inverse=True)
    return np.array([_in_zone(view, int(place), zones) for place in distinct], dtype=np.bool_)[back]


def _in_zone(view: View, place: int, zones: Sequence[str]) -> bool:
    names = view.names
    texts = [view.text("dataset.layer", place) or "", names.labels[place], names.paths[place], names.spaces[place]]
    texts += [view.text("dataset.domain", place) or ""]
    lower = [text.lower() for text in texts if text]
    home = names.labels[place].lower()
    wanted = [zone.lower() for zone in zones]
    # `silver` is a layer, and every dataset called silver.something
    return any(home.startswith(f"{zone}.") or any(fnmatchcase(text, zone) for text in lower) for zone in wanted)


def answer(view: View, origin: Nodes, question: TraversalOptions, page: Page, zones: Sequence[str] = ()) -> Answer:
    """Landings worst first, the exits, and the violations."""
    found = landings(view, origin, question, zones)
    end = len(found.nodes) if page.limit is None else page.offset + page.limit
    shown = slice(page.offset, end)
    rows, edges, passed = _rows(view, found, shown, zones)
    exits = exit_rows(view, found)
    left_out, cursor = page.next(len(found.nodes), view.version)
    totals = _totals(found, exits)
    gaps = upstream_downstream.gaps_on(view, found.reach)
    return Answer(
        question="pii",
        verdict=_verdict(totals, len(gaps), bool(zones)),
        as_of=view.as_of(question.at),
        of=view.of(origin, question.at),
        totals=totals,
        sections={
            "landings": rows,
            "exits": exits,
            "violations": totals["violations"],
            "columns": view.columns(passed, question.at),
            "edges": edges,
        },
        unknown=view.unknown(gaps),
        left_out=left_out,
        cursor=cursor,
        snapshot=view.version,
        main="landings",
        holds=totals["violations"] == 0,
    )


def _rows(view: View, found: Landings, shown: slice, zones: Sequence[str]) -> tuple[list[Row], list[Row], Nodes]:
    """The rows of the page, the edges of their paths, and the columns those paths pass."""
    nodes, reach = found.nodes[shown], found.reach
    several = sources_reaching(reach, nodes).tolist() if len(reach.origin) > 1 else [1] * len(nodes)
    homes = allowed(view, nodes, zones).tolist() if zones else [True] * len(nodes)
    out: list[Row] = []
    edges: dict[tuple[str, int, int, int], Row] = {}
    passed: set[int] = set(nodes.tolist())
    facts = zip(
        upstream_downstream.column_rows(view, reach, nodes),
        nodes.tolist(),
        found.verdicts[shown].tolist(),
        found.violations[shown].tolist(),
        strict=True,
    )
    for place, (row, node, verdict, violation) in enumerate(facts):
        way = shortest_path(reach, node)
        kind = view.text("dataset.kind", int(view.arrays["node.dataset"][node]))
        passed.update(step.nearer for step in way)
        for step in way:
            key = (step.edges.group, int(step.row), step.nearer, step.farther)
            edges.setdefault(key, view.edge(step.edges, step.row, (step.nearer, step.farther), level=step.level))
        out.append(
            {
                **row,
                **_told(view, way, verdict),
                "sources": max(int(several[place]), 1),
                "exit": kind if kind in EXITS else None,
                "allowed": homes[place],
                "violation": violation,
                "final": row["down"] == 0,
            }
        )
    return out, list(edges.values()), np.array(sorted(passed), dtype=np.int64)


def _told(view: View, way: list[Step], verdict: int) -> Row:
    """What a path tells: the step that masks with its job, or the job that wrote the landing; what it passes."""
    masks = next((hop for hop, step in enumerate(way, 1) if step.edges.bits & 1), None) if verdict else None
    told = way[masks - 1] if masks else way[-1]
    return {
        "verdict": VERDICTS[verdict],
        "hop": masks,
        "job": view.job_ref(int(told.edges.job[told.row])),
        "source": view.ref(way[0].nearer),
        "path": [int(view.arrays["node.id"][n]) for n in [way[0].nearer, *(step.farther for step in way)]],
        "through": [view.names.label(step.farther) for step in way[:-1]],
    }


def exit_rows(view: View, found: Landings) -> list[Row]:
    """Datasets outside the lake's tables that the datum reaches, with counts by verdict."""
    owners = view.arrays["node.dataset"][found.nodes]
    out = []
    for place in distinct(owners).tolist():
        if view.text("dataset.kind", place) in EXITS:
            mine = found.verdicts[owners == place]
            out.append({**view.dataset(place), **{name: int((mine == v).sum()) for v, name in enumerate(VERDICTS)}})
    return sorted(out, key=lambda row: (-row["clear"], -row["masked"], row["label"]))


def _totals(found: Landings, exits: list[Row]) -> dict[str, int]:
    out = {"columns": len(found.nodes)}
    out |= {name: int((found.verdicts == v).sum()) for v, name in enumerate(VERDICTS)}
    out["datasets"] = upstream_downstream.totals(found.reach)["datasets"]
    out["depth"] = found.reach.depth
    return out | {"exits": len(exits), "violations": int(found.violations.sum()), "sources": len(found.reach.origin)}


def _verdict(totals: dict[str, int], gaps: int, zoned: bool) -> str:
    if not totals["columns"]:
        return "unknown where it ends up: lineage is missing" if gaps else "it ends up nowhere else"
    parts = [f"{totals[name]:,} {word}" for name, word in _WORDS.items() if totals[name]]
    out = f"{counted(totals['columns'], 'column')} in {counted(totals['datasets'], 'dataset')}: {', '.join(parts)}"
    out += f"; {counted(totals['exits'], 'exit')} from the lake" if totals["exits"] else ""
    out += f"; {counted(totals['violations'], 'violation')} of the allowed zones" if zoned else ""
    return out + (f"; {counted(gaps, 'gap')} in coverage on the way" if gaps else "")


_WORDS = {"clear": "in clear", "masked": "masked", "indirect": "by influence only"}
