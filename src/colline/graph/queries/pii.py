"""`pii`: where personal data ends up (in clear, masked, or only by influence), and where it leaves the lake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from colline.errors import ColumnError
from colline.flat.integer_arrays import distinct, expand
from colline.graph.answer import Page, count_of
from colline.graph.queries.inventory.coverage_gaps import gaps_reached, unknown_rows
from colline.graph.queries.reach_summary import depth_note, gap_note, reach_totals
from colline.graph.queries.upstream_downstream import reached_columns
from colline.graph.results import PiiAnswer, PiiTablesAnswer
from colline.graph.rows import EdgeRow, ExitRow, Landing, PiiVerdict
from colline.graph.traversal.backtrack import Step, shortest_path, sources_reaching
from colline.graph.traversal.bfs import MASKED, Reach, TraversalOptions, exist_at, traverse
from colline.graph.traversal.csr import Nodes
from colline.graph.traversal.name_index import SEPARATOR
from colline.graph.traversal.records import Level, View

EXIT_KINDS = ("FILE", "JDBC", "TOPIC")
VERDICTS: tuple[PiiVerdict, ...] = ("clear", "masked", "indirect")
_CLEAR, _MASKED, _INDIRECT = range(3)  # positions in VERDICTS
_VERDICT_WORDS = {"clear": "in clear", "masked": "masked", "indirect": "by influence only"}


@dataclass(frozen=True)
class Landings:
    """The columns that personal data reaches, in the order of the answer: violations first, then by verdict."""

    reach: Reach
    nodes: Nodes
    verdicts: NDArray[np.int64]
    violations: NDArray[np.bool_]


def columns_with_tag(view: View, tag: str, at: int | None) -> Nodes:
    """The columns with a tag, or whose dataset has it. Case is ignored."""
    wanted = tag.lower()
    homes = np.array(_positions_with_tag(view, "dataset.tags", wanted), dtype=np.int64)
    own = np.array(_positions_with_tag(view, "node.tags", wanted), dtype=np.int64)
    nodes = distinct(np.concatenate([own, expand(view.arrays["dataset.start"], homes)[0]]))
    nodes = nodes.compress(~view.arrays["node.rows"][nodes] & exist_at(view.arrays, nodes, at))
    if not len(nodes):
        raise ColumnError(f"no column is tagged {tag!r}", hint="tags come from events and from the metadata table")
    return nodes


def _positions_with_tag(view: View, name: str, wanted: str) -> list[int]:
    texts = view.arrays.strings(name)
    with_tags = np.flatnonzero(np.diff(texts.offsets)).tolist()
    return [place for place in with_tags if wanted in texts[place].lower().split(SEPARATOR)]


def find_landings(view: View, origin: Nodes, options: TraversalOptions, zones: Sequence[str]) -> Landings:
    """Every column that is reached, with its verdict."""
    reach = traverse(view.arrays, origin, options)
    nodes = reach.all_nodes()
    verdicts = np.where(~reach.is_direct(nodes), _INDIRECT, np.where(reach.is_masked(nodes), _MASKED, _CLEAR))
    violations = (verdicts == _CLEAR) & ~is_allowed(view, nodes, zones)
    order = np.lexsort((nodes, reach.level_of(nodes), ~violations, verdicts))
    return Landings(reach, nodes[order], verdicts[order], violations[order])


def is_allowed(view: View, nodes: Nodes, zones: Sequence[str]) -> NDArray[np.bool_]:
    """Whether each column may have the data in clear. A zone is a layer, a domain, a dataset, or a pattern of those."""
    if not zones:
        return np.ones(len(nodes), dtype=np.bool_)
    homes, position = np.unique(view.arrays["node.dataset"][nodes], return_inverse=True)
    return np.array([_is_in_zone(view, int(home), zones) for home in homes], dtype=np.bool_)[position]


def _is_in_zone(view: View, dataset: int, zones: Sequence[str]) -> bool:
    names = view.names
    label = names.labels[dataset].lower()
    texts = [view.text("dataset.layer", dataset), names.labels[dataset], names.paths[dataset], names.spaces[dataset]]
    lower = [text.lower() for text in (*texts, view.text("dataset.domain", dataset)) if text]
    wanted = [zone.lower() for zone in zones]
    # `silver` is a layer, and every dataset called silver.something
    return any(label.startswith(f"{zone}.") or any(fnmatchcase(text, zone) for text in lower) for zone in wanted)


def answer(view: View, origin: Nodes, options: TraversalOptions, page: Page, zones: Sequence[str] = ()) -> PiiAnswer:
    """The columns that are reached, the exits from the lake, and the violations of the allowed zones."""
    found = find_landings(view, origin, options, zones)
    rows, edges, passed = _rows(view, found, page.rows, zones)
    exits = _exit_rows(view, found)
    totals = _totals(found, len(exits))
    gaps = gaps_reached(view, found.reach)
    return PiiAnswer(
        verdict=_verdict(totals, len(gaps), has_zones=bool(zones)),
        of=view.origin_rows(origin, options.at),
        totals=totals,
        landings=rows,
        exits=exits,
        violations=totals["violations"],
        columns=view.columns(passed, options.at),
        edges=edges,
        unknown=unknown_rows(view, gaps),
        holds=totals["violations"] == 0,
        **page.answer_fields(len(found.nodes), view.as_of(options.at)),
    )


def _rows(
    view: View, found: Landings, shown: slice, zones: Sequence[str]
) -> tuple[list[Landing], list[EdgeRow], Nodes]:
    """The rows of a page, the edges of their paths, and the columns on those paths."""
    nodes, reach = found.nodes[shown], found.reach
    sources = sources_reaching(reach, nodes).tolist() if len(reach.origin) > 1 else [1] * len(nodes)
    edges: dict[tuple[str, int, int, int], EdgeRow] = {}
    passed: set[int] = set(nodes.tolist())
    out = []
    facts = zip(
        reached_columns(view, reach, nodes),
        nodes.tolist(),
        found.verdicts[shown].tolist(),
        found.violations[shown].tolist(),
        is_allowed(view, nodes, zones).tolist(),
        sources,
        strict=True,
    )
    for row, node, verdict, is_violation, allowed, source_count in facts:
        path = shortest_path(reach, node)
        passed.update(step.nearer for step in path)
        for step in path:
            ends = step.nearer, step.farther
            key = (step.edges.group, int(step.row), *ends)
            level: Level = "dataset" if step.level == "dataset" else "column"
            edges.setdefault(key, view.edge(step.edges, step.row, ends, level=level))
        kind = view.text("dataset.kind", int(view.arrays["node.dataset"][node]))
        mask = _masking_step(path) if verdict != _CLEAR else None
        last = path[mask - 1] if mask else path[-1]
        out.append(
            Landing.extend(
                row,
                verdict=VERDICTS[verdict],
                hop=mask,
                job=view.job_ref(int(last.edges.job[last.row])),
                source=view.ref(path[0].nearer),
                path=[int(view.arrays["node.id"][n]) for n in [path[0].nearer, *(step.farther for step in path)]],
                through=[view.names.label(step.farther) for step in path[:-1]],
                sources=max(source_count, 1),
                exit=kind if kind in EXIT_KINDS else None,
                allowed=allowed,
                violation=is_violation,
                final=row.down == 0,
            )
        )
    return out, list(edges.values()), np.array(sorted(passed), dtype=np.int64)


def _masking_step(path: list[Step]) -> int | None:
    """The number of the first step of a path that masks."""
    return next((hop for hop, step in enumerate(path, 1) if step.edges.bits & MASKED), None)


def by_table(
    view: View, origin: Nodes, options: TraversalOptions, page: Page, zones: Sequence[str] = ()
) -> PiiTablesAnswer:
    """The tables that are reached, with the number of columns by verdict."""
    found = find_landings(view, origin, options, zones)
    tables = _table_rows(view, found)
    exits = [row for row in tables if row.kind in EXIT_KINDS]
    totals = _totals(found, len(exits))
    gaps = gaps_reached(view, found.reach)
    return PiiTablesAnswer(
        verdict=_verdict(totals, len(gaps), has_zones=bool(zones)),
        of=view.origin_rows(origin, options.at),
        totals=totals,
        tables=tables[page.rows],
        landings=[],
        columns=[],
        edges=[],
        exits=exits,
        violations=totals["violations"],
        unknown=unknown_rows(view, gaps),
        holds=totals["violations"] == 0,
        **page.answer_fields(len(tables), view.as_of(options.at)),
    )


def _table_rows(view: View, found: Landings) -> list[ExitRow]:
    """Datasets that are reached, with the number of columns by verdict."""
    owners = view.arrays["node.dataset"][found.nodes]
    out = []
    for place in distinct(owners).tolist():
        counts = np.bincount(found.verdicts[owners == place], minlength=len(VERDICTS)).tolist()
        out.append(ExitRow.extend(view.dataset(place), **dict(zip(VERDICTS, counts, strict=True))))
    return sorted(out, key=lambda row: (-row.clear, -row.masked, row.label))


def _exit_rows(view: View, found: Landings) -> list[ExitRow]:
    """Datasets outside the lake that are reached."""
    return [row for row in _table_rows(view, found) if row.kind in EXIT_KINDS]


def _totals(found: Landings, exits: int) -> dict[str, int]:
    return {
        "columns": len(found.nodes),
        **{name: int((found.verdicts == place).sum()) for place, name in enumerate(VERDICTS)},
        **{name: count for name, count in reach_totals(found.reach).items() if name in ("datasets", "depth", "hops")},
        "exits": exits,
        "violations": int(found.violations.sum()),
        "sources": len(found.reach.origin),
    }


def _verdict(totals: dict[str, int], gaps: int, *, has_zones: bool) -> str:
    if not totals["columns"]:
        return "unknown where it ends up: lineage is missing" if gaps else "no downstream columns"
    parts = ", ".join(f"{totals[name]:,} {words}" for name, words in _VERDICT_WORDS.items() if totals[name])
    out = f"{count_of(totals['columns'], 'column')} in {count_of(totals['datasets'], 'dataset')}: {parts}"
    out += f"; {count_of(totals['exits'], 'exit')} from the lake" if totals["exits"] else ""
    out += f"; {count_of(totals['violations'], 'violation')} of the allowed zones" if has_zones else ""
    return out + depth_note(totals) + gap_note(gaps)
