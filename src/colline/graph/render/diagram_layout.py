"""Places the tables of a diagram: layers by the longest path, order within a layer by the position of neighbours.

Only tables are placed; columns are lines inside them. This keeps the layout of thousands of columns fast.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from colline.graph.results import WalkAnswer
from colline.graph.rows import ColumnIdentity, ColumnRow, EdgeRow

WIDTH, HEAD, LINE = 240, 40, 22  # pixels, like all sizes here
GAP_X, GAP_Y, MARGIN = 280, 36, 36
MAX_COLUMNS = 400
_SWEEPS = 4


@dataclass(frozen=True)
class Box:
    """A table with its position, title and columns."""

    key: tuple[str, str]
    title: str
    layer: str | None
    columns: tuple[ColumnIdentity, ...]
    x: int
    y: int

    @property
    def height(self) -> int:
        """The height of the table."""
        return HEAD + LINE * len(self.columns) + 8

    def line(self, column: int) -> int:
        """The y coordinate of a column; of the title if the table does not have the column."""
        for place, row in enumerate(self.columns):
            if row.id == column:
                return self.y + HEAD + LINE * place + LINE // 2
        return self.y + HEAD // 2


@dataclass(frozen=True)
class Arrow:
    """An edge between two columns, or from a column to a table whose rows it decides (`to_head`)."""

    source: int
    target: int
    from_box: int
    to_box: int
    indirect: bool
    masking: bool
    to_head: bool
    text: str
    job: str


@dataclass(frozen=True)
class Picture:
    """Tables and arrows, ready to be drawn."""

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    focus: frozenset[int]
    left_out: int

    @property
    def width(self) -> int:
        """The width of the picture."""
        return max((box.x + WIDTH for box in self.boxes), default=0) + MARGIN

    @property
    def height(self) -> int:
        """The height of the picture."""
        return max((box.y + box.height for box in self.boxes), default=0) + MARGIN


def picture(answers: Sequence[WalkAnswer]) -> Picture:
    """One picture of upstream and downstream answers. Columns beyond a limit are counted in `left_out`."""
    columns: dict[int, tuple[int, ColumnIdentity]] = {}  # by id, with the distance
    for answer in answers:
        for column in answer.of:
            columns.setdefault(column.id, (0, column))
    focus = frozenset(columns)
    for answer in answers:
        for row in answer.columns:
            columns.setdefault(row.id, (row.distance, row))
    nearest = sorted(columns.values(), key=lambda found: found[0])[:MAX_COLUMNS]
    shown = {row.id: row for _, row in nearest}
    edges: dict[tuple[int, int, str, bool], EdgeRow] = {}
    for answer in answers:
        for edge in answer.edges:
            if edge.from_ in shown and edge.to in shown and edge.from_ != edge.to:
                edges.setdefault((edge.from_, edge.to, edge.type, edge.masking), edge)
    boxes = _boxes(shown, list(edges.values()))
    home = {row.id: place for place, box in enumerate(boxes) for row in box.columns}
    hidden = len(columns) - len(shown) + sum(answer.left_out for answer in answers)
    title = "; ".join(answer.verdict for answer in answers)
    return Picture(title, tuple(boxes), _arrows(edges.values(), home), focus, hidden)


def _arrows(edges: Iterable[EdgeRow], home: Mapping[int, int]) -> tuple[Arrow, ...]:
    out: dict[tuple[object, ...], Arrow] = {}
    for edge in edges:
        arrow = Arrow(
            source=edge.from_,
            target=edge.to,
            from_box=home[edge.from_],
            to_box=home[edge.to],
            indirect=edge.type == "INDIRECT",
            masking=edge.masking,
            to_head=edge.level == "dataset",
            text=edge.description or edge.subtype.lower().replace("_", " "),
            job=edge.job.name if edge.job else "",
        )
        end = arrow.to_box if arrow.to_head else arrow.target
        out.setdefault((arrow.source, end, arrow.to_head, arrow.indirect, arrow.masking), arrow)
    return tuple(out.values())


def _boxes(columns: Mapping[int, ColumnIdentity], edges: list[EdgeRow]) -> list[Box]:
    tables: dict[tuple[str, str], list[ColumnIdentity]] = defaultdict(list)
    for row in columns.values():
        tables[row.namespace, row.name].append(row)
    keys = sorted(tables)
    place = {key: number for number, key in enumerate(keys)}
    home = {row.id: place[key] for key, rows in tables.items() for row in rows}
    steps = {(home[edge.from_], home[edge.to]) for edge in edges if home[edge.from_] != home[edge.to]}
    out: list[Box] = []
    for depth, members in enumerate(_order_in_layers(_layers(len(keys), steps), steps)):
        y = MARGIN
        for number in members:
            rows = tuple(sorted(tables[keys[number]], key=lambda row: row.field))
            title = rows[0].label.removesuffix("." + rows[0].field)
            layer = next((row.layer for row in rows if isinstance(row, ColumnRow) and row.layer), None)
            box = Box(keys[number], title, layer, rows, MARGIN + depth * (WIDTH + GAP_X), y)
            out.append(box)
            y += box.height + GAP_Y
    return out


def _layers(count: int, steps: set[tuple[int, int]]) -> list[int]:
    """The length of the longest path to each table. Edges that close a cycle do not count."""
    after: dict[int, list[int]] = defaultdict(list)
    for one, two in sorted(steps):
        after[one].append(two)
    order, state = [], [0] * count
    for root in range(count):
        stack = [(root, iter(after[root]))] if not state[root] else []
        state[root] = state[root] or 1
        while stack:
            node, following = stack[-1]
            child = next((c for c in following if not state[c]), None)
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


def _order_in_layers(layers: list[int], steps: set[tuple[int, int]]) -> list[list[int]]:
    """The tables of each layer, close to the average position of their neighbours, so that fewer arrows cross."""
    rows: list[list[int]] = [[] for _ in range(max(layers, default=-1) + 1)]
    for node, layer in enumerate(layers):
        rows[layer].append(node)
    neighbours: dict[int, list[int]] = defaultdict(list)
    for one, two in steps:
        neighbours[one].append(two)
        neighbours[two].append(one)
    for sweep in range(_SWEEPS):
        place = {node: number / max(len(row), 1) for row in rows for number, node in enumerate(row)}
        for row in rows if sweep % 2 == 0 else reversed(rows):
            row.sort(key=lambda node: (_average(neighbours[node], place, place[node]), node))
            place.update({node: number / max(len(row), 1) for number, node in enumerate(row)})
    return rows


def _average(neighbours: list[int], place: Mapping[int, float], otherwise: float) -> float:
    return sum(place[node] for node in neighbours) / len(neighbours) if neighbours else otherwise
