"""Compares traversals, paths, source counts and diffs with a simple implementation, on random graphs."""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict, deque
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from colline.graph import Lineage, open_lake
from colline.graph.snapshot.array_file import write
from colline.graph.snapshot.publish import compose
from colline.graph.traversal.backtrack import sources_reaching
from colline.graph.traversal.bfs import TraversalOptions, traverse
from tests.graph.graph_lakes import LakeWriter, day

COLUMNS = [f"{layer}.t{t}.c{c}" for layer in ("bronze", "gold") for t in range(2) for c in range(3)]
ROWS = sorted({name.rsplit(".", 1)[0] + ".*" for name in COLUMNS})


class Edge(NamedTuple):
    source: str
    target: str
    how: str
    masking: bool
    since: int
    until: int | None

    def holds(self, at: int | None) -> bool:
        return self.until is None if at is None else self.since <= at and (self.until is None or at < self.until)


edges = st.builds(
    Edge,
    source=st.sampled_from(COLUMNS),
    target=st.sampled_from(COLUMNS + ROWS),
    how=st.sampled_from(["IDENTITY", "TRANSFORMATION", "CONDITIONAL"]),
    masking=st.booleans(),
    since=st.integers(0, 4),
    until=st.one_of(st.none(), st.integers(5, 8)),
).map(lambda e: e._replace(how="FILTER") if e.target.endswith("*") else e)


def simple_traversal(
    found: list[Edge], starts: set[str], *, upstream: bool, indirect: bool, depth: int | None, at: int | None
) -> dict[str, tuple[int, str, bool]]:
    """Column → (distance, relation, masked), with a queue of single states."""
    steps: dict[str, set[tuple[str, bool, bool]]] = defaultdict(set)
    for edge in found:
        is_indirect = edge.how in ("CONDITIONAL", "FILTER")
        if not edge.holds(at) or (is_indirect and not indirect):
            continue
        home = edge.target.rsplit(".", 1)[0]
        targets = [c for c in COLUMNS if c.rsplit(".", 1)[0] == home] if edge.target.endswith("*") else [edge.target]
        for target in targets:
            one, two = (target, edge.source) if upstream else (edge.source, target)
            steps[one].add((two, is_indirect, edge.masking))
    level: dict[tuple[str, bool, bool], int] = {(start, False, False): 0 for start in starts}
    _visit_all(steps, level, depth)
    out = {}
    for column in {node for node, _, _ in level} - starts:
        states = {(i, m): level[column, i, m] for i in (False, True) for m in (False, True) if (column, i, m) in level}
        direct = {m: d for (i, m), d in states.items() if not i}
        counting = direct or {m: d for (i, m), d in states.items() if i}
        out[column] = (min(counting.values()), "direct" if direct else "indirect", False not in counting)
    return out


def _visit_all(steps: Any, level: dict[tuple[str, bool, bool], int], depth: int | None) -> None:
    queue = deque(level)
    while queue:
        node, was_indirect, was_masked = state = queue.popleft()
        if depth is not None and level[state] == depth:
            continue
        for other, is_indirect, masks in steps[node]:
            after = (other, was_indirect or is_indirect, was_masked or masks)
            if after not in level:
                level[after] = level[state] + 1
                queue.append(after)


def lake_of(found: list[Edge], folder: Path) -> Path:
    writer = LakeWriter()
    for name in COLUMNS + ROWS:
        writer.column(name)
    for number, edge in enumerate(found):
        until = None if edge.until is None else day(edge.until)
        writer.edge(
            edge.source, edge.target, f"job{number % 3}", edge.how, masking=edge.masking,
            first_seen=day(edge.since), retired_at=until, description=str(number),
        )  # fmt: skip
    # without Delta tables, which take a second per lake and are covered by other tests
    arrays, meta = compose(writer.flat_tables())
    write(folder / "snapshot" / "1", arrays, meta)
    (folder / "snapshot" / "CURRENT").write_text("1")
    return folder


def open_temporary_lake(found: list[Edge]) -> tuple[Lineage, Path]:
    folder = Path(tempfile.mkdtemp(prefix="colline-random-graphs-"))
    return open_lake(lake_of(found, folder)), folder


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(edges, max_size=25), st.sets(st.sampled_from(COLUMNS), min_size=1, max_size=3), st.data())
def test_traversal_equals_the_simple_one(found: list[Edge], starts: set[str], data: st.DataObject) -> None:
    lineage, folder = open_temporary_lake(found)
    try:
        for upstream in (False, True):
            for indirect in (False, True):
                depth = data.draw(st.one_of(st.none(), st.integers(1, 3)))
                at = data.draw(st.one_of(st.none(), st.integers(0, 8)))
                how: dict[str, Any] = {"indirect": indirect, "depth": depth}
                expected = simple_traversal(found, starts, upstream=upstream, at=at, **how)
                query = lineage.upstream if upstream else lineage.downstream
                answer = query(sorted(starts), as_of=None if at is None else day(at), **how)
                assert answer.to_json() == msgspec.json.encode(answer.to_dict())
                found_rows = {c["label"]: (c["distance"], c["relation"], c["masked"]) for c in answer.columns}
                assert found_rows == expected
                assert [c["distance"] for c in answer.columns] == sorted(c["distance"] for c in answer.columns)
    finally:
        lineage.close()
        shutil.rmtree(folder)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(edges, max_size=25), st.sets(st.sampled_from(COLUMNS), min_size=2, max_size=5))
def test_sources_counted_as_bits_equal_sources_counted_one_by_one(found: list[Edge], starts: set[str]) -> None:
    lineage, folder = open_temporary_lake(found)
    try:
        view = lineage.view()
        reach = traverse(view.arrays, view.names.resolve(sorted(starts)), TraversalOptions(False))
        wanted = reach.nodes
        expected = [
            sum(
                view.names.label(int(node))
                in simple_traversal(found, {start}, upstream=False, indirect=False, depth=None, at=None)
                for start in starts
            )
            for node in wanted
        ]
        assert sources_reaching(reach, wanted).tolist() == expected
    finally:
        lineage.close()
        shutil.rmtree(folder)


def simple_paths(found: list[Edge], first: str, last: str) -> list[list[str]]:
    steps = defaultdict(set)
    for edge in found:
        if edge.holds(None) and edge.how in ("IDENTITY", "TRANSFORMATION"):
            steps[edge.source].add(edge.target)
    out, queue = [], deque([[first]])
    while queue:
        path = queue.popleft()
        if path[-1] == last:
            out.append(path)
            continue
        queue.extend([*path, onward] for onward in sorted(steps[path[-1]]) if onward not in path)
    return out


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(edges, max_size=25), st.permutations(COLUMNS))
def test_paths_are_all_simple_paths_shortest_first(found: list[Edge], order: list[str]) -> None:
    first, last = order[:2]
    lineage, folder = open_temporary_lake(found)
    try:
        expected = simple_paths(found, first, last) or simple_paths(found, last, first)
        answer = lineage.paths(first, last, k=1000)
        found_rows = [[c["label"] for c in path["columns"]] for path in answer.paths]
        assert sorted(found_rows) == sorted(expected)
        assert [len(path) for path in found_rows] == sorted(len(path) for path in expected)
        assert answer.totals["paths"] == len(expected)
        for path in answer.paths:
            ends = [(e["from"], e["to"]) for e in path["edges"]]
            ids = [c["id"] for c in path["columns"]]
            assert set(ends) == set(pairwise(ids))
    finally:
        lineage.close()
        shutil.rmtree(folder)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(edges, max_size=25), st.sampled_from(COLUMNS))
def test_every_landing_has_a_path_that_explains_its_verdict(found: list[Edge], start: str) -> None:
    lineage, folder = open_temporary_lake(found)
    try:
        answer = lineage.pii(start)
        by_ends: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
        for edge in answer.edges:
            by_ends[edge["from"], edge["to"]].append(edge)
        for row in answer.landings:
            steps = [by_ends[pair] for pair in pairwise(row["path"])]
            assert all(steps) and row["path"][-1] == row["id"]
            # a path in the clear decides the verdict; a masked one may be shorter and decides the distance
            assert len(steps) == row["distance"] or (len(steps) > row["distance"] and not row["masked"])
            direct = [[e for e in step if e["type"] == "DIRECT"] for step in steps]
            if row["verdict"] == "clear":
                assert all(any(not e["masking"] for e in step) for step in direct)
            elif row["verdict"] == "masked":
                assert all(direct) and any(e["masking"] for e in steps[row["hop"] - 1])
            else:
                assert any(e["type"] == "INDIRECT" for step in steps for e in step)
    finally:
        lineage.close()
        shutil.rmtree(folder)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(edges, max_size=25), st.integers(0, 8), st.integers(0, 8))
def test_diff_has_the_edges_that_hold_at_one_of_the_two_times(found: list[Edge], one: int, two: int) -> None:
    first, last = sorted((one, two))
    lineage, folder = open_temporary_lake(found)
    try:
        answer = lineage.diff(day(first), day(last), limit=0)
        gained = sum(e.holds(last) and not e.holds(first) for e in found)
        lost = sum(e.holds(first) and not e.holds(last) for e in found)
        added = sum(r["kind"] == "edge" for r in answer.added) + len(answer.changed)
        removed = sum(r["kind"] == "edge" for r in answer.removed) + len(answer.changed)
        assert (added, removed) == (gained, lost)
    finally:
        lineage.close()
        shutil.rmtree(folder)


def test_levels_are_a_topological_order_without_cycles(tmp_path: Path) -> None:
    names = [f"bronze.t0.c{n}" for n in range(3)] + ["gold.t0.c0"]
    chain = [Edge(a, b, "IDENTITY", False, 0, None) for a, b in pairwise(names)]
    view = open_lake(lake_of(chain, tmp_path / "lake")).view()
    level = view.arrays["node.level"][view.names.resolve(names)]
    assert not view.arrays.meta["cyclic"] and np.array_equal(level, [0, 1, 2, 3])
