"""Draws tables as cards with lines between their columns, as one SVG for notebooks.

The SVG has no script, style sheet, font or link. Its colors follow the text color of the page (`currentColor`), so
it is readable on light and on dark pages, in JupyterLab, VS Code and nbconvert.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Literal

from colline.terminal_text import escape_control_characters

LineKind = Literal["direct", "indirect", "masked"]

# pixels
_WIDTH, _HEAD, _ROW, _FOOT, _GAP_X, _GAP_Y, _MARGIN, _LANE = 208, 28, 20, 6, 84, 16, 4, 10
_MAX_TITLE_CHARS, _MAX_ROW_CHARS = 27, 25
_SWEEPS = 4
_STROKES: Mapping[LineKind, str] = {
    "direct": 'stroke="#14918a" stroke-width="1.6"',
    "indirect": 'stroke="currentColor" stroke-opacity=".55" stroke-width="1.1" stroke-dasharray="2 4"',
    "masked": 'stroke="#b7791f" stroke-width="1.6" stroke-dasharray="7 3"',
}
_MEANINGS: Mapping[LineKind, str] = {"direct": "value", "indirect": "decides", "masked": "masked"}


@dataclass(frozen=True, slots=True)
class Card:
    """A table. `name` is shown in full as a tooltip; `marked` rows are emphasized."""

    title: str
    name: str
    rows: tuple[str, ...]
    marked: frozenset[str] = frozenset()
    more: int = 0  # columns that are not shown


@dataclass(frozen=True, slots=True)
class Line:
    """A line between two columns, each given as the number of its card and its name; no name is the card's title."""

    source: tuple[int, str | None]
    target: tuple[int, str | None]
    kind: LineKind = "direct"
    text: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    """The position of a card, or of a lane: the gap through which a line passes between the cards of a layer."""

    layer: int
    y: int
    height: int


def card_picture(cards: Sequence[Card], lines: Iterable[Line]) -> str:
    """The picture as an SVG element; empty without cards."""
    drawn = list(dict.fromkeys(lines))
    if not cards:
        return ""
    steps = {(line.source[0], line.target[0]) for line in drawn if line.source[0] != line.target[0]}
    layers = _layers(len(cards), steps)
    places, lanes = _places(cards, layers, steps)
    width = max(layers) * (_WIDTH + _GAP_X) + _WIDTH + 2 * _MARGIN
    bottom = max(place.y + place.height for place in (*places, *lanes.values()))
    kinds = [kind for kind in _STROKES if any(line.kind == kind for line in drawn)]
    height = bottom + (_ROW + _GAP_Y if kinds else _MARGIN)
    body = [_svg_line(line, cards, places, lanes) for line in drawn]
    body += [_svg_card(card, place) for card, place in zip(cards, places, strict=True)]
    body += [_svg_legend(kind, number, bottom + _GAP_Y) for number, kind in enumerate(kinds)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="column lineage" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" style="max-width:100%;height:auto" '
        f'font-family="ui-sans-serif,system-ui,sans-serif" font-size="12" fill="currentColor">{"".join(body)}</svg>'
    )


def _layers(count: int, steps: set[tuple[int, int]]) -> list[int]:
    """The column of each card: one more than that of its farthest source. In a cycle, the first card goes first."""
    layers, left = [0] * count, list(range(count))
    before: dict[int, set[int]] = defaultdict(set)
    for one, two in steps:
        before[two].add(one)
    while left:
        card = next((each for each in left if not before[each] & set(left)), left[0])
        left.remove(card)
        layers[card] = max((layers[one] + 1 for one in before[card] if one not in left and one != card), default=0)
    return layers


Lanes = dict[tuple[int, int, int], _Place]  # (source card, target card, layer) → the gap


def _places(cards: Sequence[Card], layers: list[int], steps: set[tuple[int, int]]) -> tuple[list[_Place], Lanes]:
    """The position of each card, and of a lane in each layer that a line passes through."""
    heights: dict[tuple[int, ...], int] = {(number,): _height(card) for number, card in enumerate(cards)}
    layer_of: dict[tuple[int, ...], int] = {(number,): layer for number, layer in enumerate(layers)}
    neighbours: dict[tuple[int, ...], list[tuple[int, ...]]] = defaultdict(list)
    for one, two in sorted(steps):
        between: list[tuple[int, ...]] = [(one, two, layer) for layer in range(layers[one] + 1, layers[two])]
        for lane in between:
            heights[lane], layer_of[lane] = _LANE, lane[2]
        chain = [(one,), *between, (two,)]
        for left, right in pairwise(chain):
            neighbours[left].append(right)
            neighbours[right].append(left)
    columns: list[list[tuple[int, ...]]] = [[] for _ in range(max(layers) + 1)]
    for item, layer in layer_of.items():
        columns[layer].append(item)
    tops = _stack(_by_neighbours(columns, neighbours), heights)
    at = {item: _Place(layer_of[item], tops[item], heights[item]) for item in heights}
    lanes = {(item[0], item[1], item[2]): place for item, place in at.items() if len(item) > 1}
    return [at[(number,)] for number in range(len(cards))], lanes


def _by_neighbours(
    columns: list[list[tuple[int, ...]]], neighbours: Mapping[tuple[int, ...], list[tuple[int, ...]]]
) -> list[list[tuple[int, ...]]]:
    """Each layer in the order of the average position of its neighbours, so that few lines cross."""
    for sweep in range(_SWEEPS):
        rank = {item: number / len(column) for column in columns for number, item in enumerate(column)}
        for column in columns if sweep % 2 == 0 else reversed(columns):
            averages = {item: [rank[each] for each in neighbours.get(item, ())] or [rank[item]] for item in column}
            column.sort(key=lambda item: (sum(averages[item]) / len(averages[item]), item))
            rank.update({item: number / len(column) for number, item in enumerate(column)})
    return columns


def _stack(columns: list[list[tuple[int, ...]]], heights: Mapping[tuple[int, ...], int]) -> dict[tuple[int, ...], int]:
    """The top of each item; layers are centered."""
    totals = [sum(heights[item] + _GAP_Y for item in column) - _GAP_Y for column in columns]
    tops: dict[tuple[int, ...], int] = {}
    for column, total in zip(columns, totals, strict=True):
        y = _MARGIN + (max(totals) - total) // 2
        for item in column:
            tops[item] = y
            y += heights[item] + _GAP_Y
    return tops


def _height(card: Card) -> int:
    return _HEAD + _ROW * (len(card.rows) + bool(card.more)) + _FOOT


def _x(place: _Place) -> int:
    return _MARGIN + place.layer * (_WIDTH + _GAP_X)


def _y(card: Card, place: _Place, row: str | None) -> int:
    if row is None or row not in card.rows:
        return place.y + _HEAD // 2
    return place.y + _HEAD + card.rows.index(row) * _ROW + _ROW // 2


def _svg_line(line: Line, cards: Sequence[Card], places: Sequence[_Place], lanes: Lanes) -> str:
    (one, source), (two, target) = line.source, line.target
    start, end = places[one], places[two]
    x, y = _x(start) + _WIDTH, _y(cards[one], start, source)
    x2, y2 = _x(end), _y(cards[two], end, target)
    if start.layer >= end.layer:  # a cycle: around the right side
        path = f"M{x} {y}C{x + _GAP_X // 2} {y} {x2 + _WIDTH + _GAP_X // 2} {y2} {x2 + _WIDTH} {y2}"
    else:
        path = f"M{x} {y}"
        for layer in range(start.layer + 1, end.layer):
            lane = lanes[one, two, layer]
            lane_x, lane_y = _x(lane), lane.y + _LANE // 2
            path += _curve(x, y, lane_x, lane_y) + f"L{lane_x + _WIDTH} {lane_y}"
            x, y = lane_x + _WIDTH, lane_y
        path += _curve(x, y, x2, y2)
    title = f"<title>{_text(line.text)}</title>" if line.text else ""
    return f'<path d="{path}" fill="none" {_STROKES[line.kind]}>{title}</path>'


def _curve(x: int, y: int, x2: int, y2: int) -> str:
    middle = (x + x2) // 2
    return f"C{middle} {y} {middle} {y2} {x2} {y2}"


def _svg_card(card: Card, place: _Place) -> str:
    x, y = _x(place), place.y
    shape = f'x="{x}" y="{y}" width="{_WIDTH}" height="{place.height}" rx="6"'
    out = [
        f"<g><title>{_text(card.name)}</title>",
        f'<rect {shape} fill="currentColor" fill-opacity=".05" stroke="currentColor" stroke-opacity=".35"/>',
        f'<text x="{x + 10}" y="{y + 18}" font-weight="600">{_text(_shorten(card.title, _MAX_TITLE_CHARS))}</text>',
    ]
    for number, row in enumerate(card.rows):
        style = 'font-weight="600" text-decoration="underline"' if row in card.marked else 'fill-opacity=".85"'
        top = y + _HEAD + number * _ROW + 14
        label = _text(_shorten(row, _MAX_ROW_CHARS))
        out.append(
            f'<text x="{x + 10}" y="{top}" font-family="ui-monospace,monospace" font-size="11.5" {style}>'
            f"<title>{_text(row)}</title>{label}</text>"
        )
    if card.more:
        top = y + _HEAD + len(card.rows) * _ROW + 14
        out.append(f'<text x="{x + 10}" y="{top}" fill-opacity=".7">and {card.more:,} more</text>')
    return "".join([*out, "</g>"])


def _svg_legend(kind: LineKind, number: int, y: int) -> str:
    x = _MARGIN + number * 96
    line = f'<path d="M{x} {y + 8}L{x + 26} {y + 8}" fill="none" {_STROKES[kind]}/>'
    return f'{line}<text x="{x + 32}" y="{y + 12}" font-size="11" fill-opacity=".8">{_MEANINGS[kind]}</text>'


def _shorten(text: str, limit: int) -> str:
    """A long name without its middle."""
    text = escape_control_characters(text)
    return text if len(text) <= limit else f"{text[: limit // 2]}…{text[-(limit // 2 - 1) :]}"


def _text(text: str) -> str:
    return escape(escape_control_characters(text))


def html_table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, folded: str = "") -> str:
    """A table; with `folded`, behind a line of this text that opens it."""
    head = "".join(f"<th>{_text(header)}</th>" for header in headers)
    body = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<details><summary>{_text(folded)}</summary>{table}</details>" if folded else table
