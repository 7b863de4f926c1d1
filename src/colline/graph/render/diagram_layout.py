"""Where the tables of a picture stand: layers by the longest way, order by the middle of the neighbours.

Only tables are laid out; columns are rows inside them. That keeps a picture of thousands of columns a matter of
milliseconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from colline.graph.answer import Answer, Row

WIDTH, HEAD, LINE = 240, 40, 22
GAP_X, GAP_Y, MARGIN = 96, 24, 32
_SWEEPS = 4
_MOST_COLUMNS = 400


@dataclass(frozen=True)
class Box:
    """A table: its place on the picture, its title, the columns that are shown."""

    key: tuple[str, str]
    title: str
    layer: str | None
    columns: tuple[Row, ...]
    x: int
    y: int

    @property
    def height(self) -> int:
        """How tall the table is drawn."""
        return HEAD + LINE * len(self.columns) + 8

    def line(self, column: int) -> int:
        """The middle of a column's row; of the head for a column that is not there."""
        for place, row in enumerate(self.columns):
            if row["id"] == column:
                return self.y + HEAD + LINE * place + LINE // 2
        return self.y + HEAD // 2


@dataclass(frozen=True)
class Arrow:
    """An edge of the picture: between two columns, or to a table's head where it decides the rows."""

    source: int
    target: int
    from_box: int
    to_box: int
    indirect: bool
    masking: bool
    to_head: bool
    text: str


@dataclass(frozen=True)
class Picture:
    """Boxes and arrows, ready to be drawn."""

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    focus: frozenset[int]
    left_out: int

    @property
    def width(self) -> int:
        """How wide the picture is."""
        return max((box.x + WIDTH for box in self.boxes), default=0) + MARGIN

    @property
    def height(self) -> int:
        """How tall the picture is."""
        return max((box.y + box.height for box in self.boxes), default=0) + MARGIN


def picture(answers: Sequence[Answer]) -> Picture:
    """One picture of one or more walks (upstream and downstream of the same column). What does not fit is counted."""
    columns: dict[int, Row] = {}
    edges: dict[tuple[int, int, str, bool], Row] = {}
    focus = frozenset(row["id"] for answer in answers for row in answer.of)
    for answer in answers:
        for row in (*answer.of, *answer.sections["columns"]):
            columns.setdefault(row["id"], row)
    nearest = sorted(columns.values(), key=lambda row: row.get("distance", 0))
    shown = {row["id"]: row for row in nearest[:_MOST_COLUMNS]}
    for answer in answers:
        for edge in answer.sections["edges"]:
            if edge["from"] in shown and edge["to"] in shown and edge["from"] != edge["to"]:
                edges.setdefault((edge["from"], edge["to"], edge["type"], edge["masking"]), edge)
    hidden = len(columns) - len(shown) + sum(answer.left_out for answer in answers)
    boxes = _boxes(shown, list(edges.values()))
    home = {row["id"]: place for place, box in enumerate(boxes) for row in box.columns}
    arrows = _arrows(edges.values(), home)
    verdict = "; ".join(answer.verdict for answer in answers)
    return Picture(verdict, tuple(boxes), arrows, focus, hidden)


def _arrows(edges: Iterable[Row], home: Mapping[int, int]) -> tuple[Arrow, ...]:
    out: dict[tuple[object, ...], Arrow] = {}
    for edge in edges:
        to_head = edge["level"] == "dataset"
        text = edge["description"] or edge["subtype"].lower()
        arrow = Arrow(
            edge["from"], edge["to"], home[edge["from"]], home[edge["to"]],
            edge["type"] == "INDIRECT", edge["masking"], to_head, text,
        )  # fmt: skip
        key = (arrow.source, arrow.to_box if to_head else arrow.target, to_head, arrow.indirect, arrow.masking)
        out.setdefault(key, arrow)
    return tuple(out.values())


def _boxes(columns: Mapping[int, Row], edges: list[Row]) -> list[Box]:
    tables: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in columns.values():
        tables[row["namespace"], row["name"]].append(row)
    keys = sorted(tables)
    place = {key: number for number, key in enumerate(keys)}
    home = {row["id"]: place[key] for key, rows in tables.items() for row in rows}
    steps = {(home[e["from"]], home[e["to"]]) for e in edges if home[e["from"]] != home[e["to"]]}
    layers = _layers(len(keys), steps)
    ordered = _ordered(layers, steps)
    out: list[Box] = []
    for depth, members in enumerate(ordered):
        y = MARGIN
        for number in members:
            rows = tuple(sorted(tables[keys[number]], key=lambda row: str(row["field"])))
            title = str(rows[0]["label"]).removesuffix("." + str(rows[0]["field"]))
            layer = next((row["layer"] for row in rows if row.get("layer")), None)
            box = Box(keys[number], title, layer, rows, MARGIN + depth * (WIDTH + GAP_X), y)
            out.append(box)
            y += box.height + GAP_Y
    return out


def _layers(count: int, steps: set[tuple[int, int]]) -> list[int]:
    """The longest way to each table; a step that closes a cycle is not counted."""
    after: dict[int, list[int]] = defaultdict(list)
    for one, two in sorted(steps):
        after[one].append(two)
    order, state = [], [0] * count
    for root in range(count):
        stack = [(root, iter(after[root]))] if not state[root] else []
        state[root] = state[root] or 1
        while stack:
            node, onward = stack[-1]
            child = next((c for c in onward if not state[c]), None)
            if child is None:
                stack.pop()
                order.append(node)
                state[node] = 2
            else:
                state[child] = 1
                stack.append((child, iter(after[child])))
    rank = {node: place for place, node in enumerate(reversed(order))}
    depth = [0] * count
    for node in reversed(order):
        for child in after[node]:
            if rank[child] > rank[node]:
                depth[child] = max(depth[child], depth[node] + 1)
    return depth


def _ordered(layers: list[int], steps: set[tuple[int, int]]) -> list[list[int]]:
    """The tables of each layer, moved toward the middle of their neighbours so that fewer arrows cross."""
    rows: list[list[int]] = [[] for _ in range(max(layers, default=-1) + 1)]
    for node, layer in enumerate(layers):
        rows[layer].append(node)
    near: dict[int, list[int]] = defaultdict(list)
    for one, two in steps:
        near[one].append(two)
        near[two].append(one)
    for sweep in range(_SWEEPS):
        place = {node: number / max(len(row), 1) for row in rows for number, node in enumerate(row)}
        for row in rows if sweep % 2 == 0 else reversed(rows):
            row.sort(key=lambda node: (_middle(near[node], place, place[node]), node))
            place.update({node: number / max(len(row), 1) for number, node in enumerate(row)})
    return rows


def _middle(near: list[int], place: Mapping[int, float], otherwise: float) -> float:
    return sum(place[node] for node in near) / len(near) if near else otherwise
