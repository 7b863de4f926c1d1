"""The paths by which values reach one column: what promises about sources and definitions are checked on."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from colline.graph.lineage import Lineage
from colline.graph.results import WalkAnswer
from colline.graph.rows import ColumnRow, EdgeRow


@dataclass(frozen=True)
class ValuePaths:
    """The columns that give a column its value, with the edges into each of them."""

    origin: int
    columns: dict[int, ColumnRow]
    edges: dict[int, list[EdgeRow]]
    gaps: tuple[str, ...]

    def search(
        self, stops: Callable[[ColumnRow], bool], breaks: Callable[[ColumnRow, bool], bool], *, through_masks: bool
    ) -> tuple[str, ...] | None:
        """The path from the nearest source that breaks a promise. The search ends at columns that it `stops` at.

        `breaks` is called with the column and whether it is a source of its own, without columns before it.
        """
        came_from: dict[int, int | None] = {self.origin: None}
        waiting = [self.origin]
        for node in waiting:
            for edge in self.edges.get(node, ()):
                if edge.from_ in came_from or (edge.masking and not through_masks):
                    continue
                came_from[edge.from_] = node
                column = self.columns[edge.from_]
                if stops(column):
                    continue
                if breaks(column, edge.from_ not in self.edges):
                    return self._path(came_from, edge.from_)
                waiting.append(edge.from_)
        return None

    def _path(self, came_from: dict[int, int | None], node: int) -> tuple[str, ...]:
        labels: list[str] = []
        place: int | None = node
        while place is not None:
            labels.append(self.columns[place].label)
            place = came_from[place]
        return tuple(labels)

    def definition(self) -> frozenset[str]:
        """What the column is made of, by digest: equal for columns with equal sources and equal transformations.

        Copies count as nothing, so a column and its copy have one definition.
        """
        known: dict[int, frozenset[str]] = {}
        waiting, on_path = [self.origin], set[int]()
        while waiting:
            node = waiting[-1]
            if node in on_path:  # all sources are known now, except those on a cycle through it
                known[node] = self._terms(node, known)
                on_path.discard(node)
            if node in known:
                waiting.pop()
                continue
            on_path.add(node)
            sources = (edge.from_ for edge in self.edges.get(node, ()))
            waiting += [source for source in sources if source not in known and source not in on_path]
        return known[self.origin]

    def _terms(self, node: int, known: dict[int, frozenset[str]]) -> frozenset[str]:
        edges = self.edges.get(node)
        if not edges:
            return frozenset([self.columns[node].label])
        terms: set[str] = set()
        for edge in edges:
            inner = known.get(edge.from_, frozenset())
            if edge.subtype == "IDENTITY" and not edge.masking:
                terms |= inner
            else:
                step = (edge.subtype, edge.masking, edge.description, sorted(inner))
                terms.add(hashlib.sha256(repr(step).encode()).hexdigest())
        return frozenset(terms)

    def first_step(self) -> str:
        """How the column itself is derived, in words for a message: the nearest step that is not a copy."""
        seen, waiting = {self.origin}, [self.origin]
        for node in waiting:
            for edge in self.edges.get(node, ()):
                if edge.subtype != "IDENTITY" or edge.masking:
                    how = edge.description or edge.subtype.lower()
                    return f"{how} of {self.columns[edge.from_].label}"
                waiting += [edge.from_] if edge.from_ not in seen else []
                seen.add(edge.from_)
        return f"a copy of {self.columns[waiting[-1]].label}" if len(waiting) > 1 else "without sources"


def read_value_paths(lineage: Lineage, column: str, as_of: str | None) -> ValuePaths:
    """The value paths of a column in a lake."""
    answer = lineage.upstream(column, as_of=as_of, limit=0)
    assert isinstance(answer, WalkAnswer)
    origin = answer.of[0]
    columns: dict[int, ColumnRow] = {row.id: row for row in answer.columns}
    of_column = (origin.id, origin.namespace, origin.name, origin.field, origin.label)
    columns.setdefault(origin.id, ColumnRow(*of_column, type=None, tags=[], layer=None, up=0, down=0))
    edges: dict[int, list[EdgeRow]] = defaultdict(list)
    for edge in answer.edges:
        if edge.type == "DIRECT" and edge.from_ in columns and edge.to in columns and edge.from_ != edge.to:
            edges[edge.to].append(edge)
    return ValuePaths(origin.id, columns, dict(edges), tuple(f"{gap.what}: {gap.why}" for gap in answer.unknown))
