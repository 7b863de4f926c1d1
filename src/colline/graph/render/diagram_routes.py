"""Routes the lines of a diagram through the space between the tables, so that none passes behind a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise

from colline.graph.render.diagram_layout import GAP_X, HEAD, MARGIN, WIDTH, Arrow, Box, Picture

Point = tuple[float, float]
Curve = tuple[Point, Point, Point, Point]  # a cubic Bézier curve: start, two control points, end

_LANE_OFFSETS = (0, 4, -4, 8, -8)  # lines in the same space do not cover each other
_CLEARANCE = 14
_BULGE = 40
_TURN_WIDTH = 56


def routes(picture: Picture) -> list[tuple[Curve, ...]]:
    """The curves of each arrow, in the order of the arrows."""
    layers: dict[int, list[Box]] = defaultdict(list)
    for box in picture.boxes:
        layers[_depth(box)].append(box)
    return [
        tuple(_route(picture, arrow, layers, _LANE_OFFSETS[number % len(_LANE_OFFSETS)]))
        for number, arrow in enumerate(picture.arrows)
    ]


def _depth(box: Box) -> int:
    return (box.x - MARGIN) // (WIDTH + GAP_X)


def _route(picture: Picture, arrow: Arrow, layers: Mapping[int, list[Box]], offset: int) -> Iterator[Curve]:
    one, two = picture.boxes[arrow.from_box], picture.boxes[arrow.to_box]
    start = (one.x + WIDTH, one.line(arrow.source))
    end = (two.x, two.y + HEAD // 2 if arrow.to_head else two.line(arrow.target))
    if one is two:
        yield _loop(start, (two.x + WIDTH, end[1]), _BULGE)
    elif _depth(two) <= _depth(one):
        yield from _backward_curves(start, end, MARGIN // 2 + offset / 2)
    else:
        yield from _forward_curves(start, end, range(_depth(one) + 1, _depth(two)), layers, offset=offset)


def _forward_curves(
    start: Point, end: Point, between: range, layers: Mapping[int, list[Box]], *, offset: int
) -> Iterator[Curve]:
    """To a table farther right, through the space between the tables of each layer on the way."""
    here = start
    for depth in between:
        left = MARGIN + depth * (WIDTH + GAP_X)
        share = (left - start[0]) / (end[0] - start[0])
        lane = _nearest_lane(layers[depth], start[1] + share * (end[1] - start[1])) + offset
        yield _bent_line(here, (left - _CLEARANCE, lane))
        here = (left + WIDTH + _CLEARANCE, lane)
        yield _straight_line((left - _CLEARANCE, lane), here)
    turned = (here[0] + _TURN_WIDTH, end[1])
    yield _bent_line(here, turned)
    yield _straight_line(turned, end)  # the label of the line is written here


def _backward_curves(start: Point, end: Point, lane: float) -> Iterator[Curve]:
    """To a table of the same layer or farther left: above all tables."""
    yield _loop(start, (start[0], lane), _BULGE)
    yield _straight_line((start[0], lane), (end[0], lane))
    yield _loop((end[0], lane), end, -_BULGE)


def _nearest_lane(boxes: list[Box], y: float) -> float:
    """The middle of the space between two tables of a layer, or above or below all of them, that is nearest to y."""
    ordered = sorted(boxes, key=lambda box: box.y)
    lanes: list[float] = [ordered[0].y - _CLEARANCE, ordered[-1].y + ordered[-1].height + _CLEARANCE]
    lanes += [(upper.y + upper.height + lower.y) / 2 for upper, lower in pairwise(ordered)]
    return min(lanes, key=lambda lane: abs(lane - y))


def _bent_line(start: Point, end: Point) -> Curve:
    middle = (start[0] + end[0]) / 2
    return start, (middle, start[1]), (middle, end[1]), end


def _loop(start: Point, end: Point, bulge: int) -> Curve:
    return start, (start[0] + bulge, start[1]), (end[0] + bulge, end[1]), end


def _straight_line(start: Point, end: Point) -> Curve:
    return start, start, end, end
