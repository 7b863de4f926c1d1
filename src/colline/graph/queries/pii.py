"""`pii`: where personal data ends up (in clear, masked, or only indirectly), and where it leaves the lake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from colline.errors import ColumnError
from colline.flat.integer_arrays import distinct, expand
from colline.graph.answer import Page, count_of
from colline.graph.queries.inventory.coverage_gaps import gaps_reached, unknown_rows
from colline.graph.queries.reach_summary import depth_note, gap_note, reach_totals
from colline.graph.queries.upstream_downstream import reached_columns
from colline.graph.reach_rows import ExitRow, Landing, PiiVerdict
from colline.graph.results import PiiAnswer, PiiTablesAnswer
from colline.graph.rows import ColumnIdentity, EdgeRow, JobIdentity
from colline.graph.traversal.backtrack import Step, shortest_paths, sources_reaching
from colline.graph.traversal.bfs import MASKED, Reach, TraversalOptions, exist_at, traverse
from colline.graph.traversal.csr import Nodes
from colline.graph.traversal.name_index import SEPARATOR
from colline.graph.traversal.records import View

EXIT_KINDS = ("FILE", "JDBC", "TOPIC")
VERDICTS: tuple[PiiVerdict, ...] = ("clear", "masked", "indirect")
_CLEAR, _MASKED, _INDIRECT = range(3)  # positions in VERDICTS
_VERDICT_WORDS = {"clear": "in clear", "masked": "masked", "indirect": "indirect only"}


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
    nodes = reach.nodes
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


def answer(view: View, origin: Nodes, options: TraversalOptions, page: Page, *, zones: Sequence[str] = ()) -> PiiAnswer:
    """The columns that are reached, the exits from the lake, and the violations of the allowed zones."""
    found = find_landings(view, origin, options, zones)
    paths = list(shortest_paths(found.reach, found.nodes[page.rows]))
    passed = {node for path in paths for step in path for node in (step.nearer, step.farther)}
    exits = [row for row in _table_rows(view, found) if row.kind in EXIT_KINDS]
    totals = _totals(found, len(exits))
    gaps = gaps_reached(view, found.reach)
    return PiiAnswer(
        verdict=_verdict(totals, len(gaps), has_zones=bool(zones)),
        of=view.origin_rows(origin, options.at),
        totals=totals,
        landings=_landing_rows(view, found, page.rows, paths, zones=zones),
        exits=exits,
        violations=totals["violations"],
        columns=view.columns(np.array(sorted(passed), dtype=np.int64), options.at),
        edges=_edges_of_paths(view, paths),
        unknown=unknown_rows(view, gaps),
        holds=totals["violations"] == 0,
        **page.answer_fields(len(found.nodes), view.as_of(options.at)),
    )


def _landing_rows(
    view: View, found: Landings, shown: slice, paths: list[list[Step]], *, zones: Sequence[str]
) -> list[Landing]:
    """The rows of a page; each column is reached over one of the paths."""
    nodes, reach = found.nodes[shown], found.reach
    sources = sources_reaching(reach, nodes).tolist() if len(reach.origin) > 1 else [1] * len(nodes)
    facts = zip(
        reached_columns(view, reach, nodes),
        found.verdicts[shown].tolist(),
        found.violations[shown].tolist(),
        is_allowed(view, nodes, zones).tolist(),
        sources,
        strict=True,
    )
    return [
        Landing.extend(
            row,
            verdict=VERDICTS[verdict],
            **_path_fields(view, path, is_clear=verdict == _CLEAR),
            sources=max(source_count, 1),
            exit=_exit_kind(view, path[-1].farther),
            allowed=allowed,
            violation=is_violation,
            final=row.down == 0,
        )
        for (row, verdict, is_violation, allowed, source_count), path in zip(facts, paths, strict=True)
    ]


class _PathFields(TypedDict):
    """The fields of a `Landing` that describe the path to it."""

    hop: int | None
    job: JobIdentity | None
    source: ColumnIdentity
    path: list[int]
    through: list[str]


def _path_fields(view: View, path: list[Step], *, is_clear: bool) -> _PathFields:
    mask = None if is_clear else _masking_step(path)
    last = path[mask - 1] if mask else path[-1]
    nodes = [path[0].nearer, *(step.farther for step in path)]
    return {
        "hop": mask,
        "job": view.job_ref(int(last.edges.job[last.row])),
        "source": view.ref(path[0].nearer),
        "path": view.arrays["node.id"][nodes].tolist(),
        "through": [view.names.label(node) for node in nodes[1:-1]],
    }


def _exit_kind(view: View, node: int) -> str | None:
    """The kind of a column's dataset if it is outside the lake."""
    kind = view.text("dataset.kind", int(view.arrays["node.dataset"][node]))
    return kind if kind in EXIT_KINDS else None


def _edges_of_paths(view: View, paths: list[list[Step]]) -> list[EdgeRow]:
    """The edges of some paths, each once."""
    steps: dict[tuple[str, int, int, int], Step] = {}
    for step in chain.from_iterable(paths):
        steps.setdefault((step.edges.group, step.row, step.nearer, step.farther), step)
    return [view.edge(each.edges, each.row, (each.nearer, each.farther), level=each.level) for each in steps.values()]


def _masking_step(path: list[Step]) -> int | None:
    """The number of the first step of a path that masks."""
    return next((hop for hop, step in enumerate(path, 1) if step.edges.bits & MASKED), None)


def by_table(
    view: View, origin: Nodes, options: TraversalOptions, page: Page, *, zones: Sequence[str] = ()
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
