"""Plans written by hand, for what a live session does not produce in a test: very wide, very deep, or unknown nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class PlanWriter:
    """Writes a plan in the JSON format of the listener, node by node."""

    def __init__(self) -> None:
        self.classes: list[list[Any]] = []
        self.nodes: list[list[Any]] = []
        self._kinds: dict[tuple[str, tuple[str, ...]], int] = {}
        self._next = 0

    def node(self, kind: str, sort: str = "p", function: str | None = None, /, **arguments: Any) -> int:
        """Add a node of any kind; returns its index."""
        key = (kind + (function or ""), tuple(arguments))
        if key not in self._kinds:
            self._kinds[key] = len(self.classes)
            self.classes.append([kind, sort, list(arguments), function])
        self.nodes.append([self._kinds[key], *arguments.values()])
        return len(self.nodes) - 1

    def attribute(self, name: str) -> int:
        self._next += 1
        return self.node("AttributeReference", "e", name=name, id=str(self._next), type="int")

    def alias(self, child: int, name: str) -> tuple[int, int]:
        """The alias, and the attribute that refers to it from above."""
        self._next += 1
        key = str(self._next)
        alias = self.node("Alias", "e", child=child, name=name, id=key)
        return alias, self.node("AttributeReference", "e", name=name, id=key, type="int")

    def call(self, function: str, *children: int) -> int:
        return self.node(function.title(), "e", function, children=list(children))

    def files(self, path: str, output: Sequence[int]) -> int:
        held = self.node("HadoopFsRelation", "o", paths=[path], format="ParquetFileFormat", options=[], partitions=[])
        return self.node("LogicalRelation", relation=held, output=list(output))

    def plan(self, root: int) -> dict[str, Any]:
        return {"root": root, "classes": self.classes, "nodes": self.nodes}
