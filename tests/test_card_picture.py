"""The layout of the pictures in notebooks: no line passes behind a card, and cards do not overlap."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colline.card_picture import Card, Line, card_picture

_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?")
Box = tuple[float, float, float, float]


def _boxes(drawing: ET.Element) -> list[Box]:
    found = []
    for rect in drawing.findall(".//{*}rect"):
        x, y, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        found.append((x, y, x + width, y + height))
    return found


def _points(path: str) -> list[tuple[float, float]]:
    """Points along a path of curves and straight lines."""
    points: list[tuple[float, float]] = []
    for command, text in re.findall(r"([MCL])([^MCL]*)", path):
        numbers = list(map(float, _NUMBERS.findall(text)))
        ends = list(zip(numbers[::2], numbers[1::2], strict=True))
        if command == "C":
            start = points[-1]
            for step in range(1, 21):
                t = step / 20
                points.append(
                    tuple(  # type: ignore[arg-type]
                        (1 - t) ** 3 * start[axis] + 3 * (1 - t) ** 2 * t * ends[0][axis]
                        + 3 * (1 - t) * t**2 * ends[1][axis] + t**3 * ends[2][axis]
                        for axis in (0, 1)
                    )
                )  # fmt: skip
        elif command == "L":
            x, y = points[-1]
            points += [(x + (ends[0][0] - x) * step / 20, y + (ends[0][1] - y) * step / 20) for step in range(1, 21)]
        else:
            points += ends
    return points


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 9), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=16))
def test_lines_pass_between_cards_and_cards_do_not_overlap(count: int, pairs: list[tuple[int, int]]) -> None:
    cards = [Card(f"t{number}", f"t{number}", tuple(f"c{i}" for i in range(number % 4))) for number in range(count)]
    forward = sorted({(a % count, b % count) for a, b in pairs if a % count < b % count})
    drawing = ET.fromstring(card_picture(cards, [Line((a, None), (b, None)) for a, b in forward]))
    boxes = _boxes(drawing)
    assert len(boxes) == count
    for number, one in enumerate(boxes):
        for two in boxes[number + 1 :]:
            assert one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]
    lines = [path.attrib["d"] for path in drawing.findall("{*}path")][: len(forward)]
    for x, y in [point for line in lines for point in _points(line)]:
        assert not any(x1 < x < x2 and y1 < y < y2 for x1, y1, x2, y2 in boxes)


def test_cycle_and_missing_column_are_drawn() -> None:
    cards = [Card("a", "a", ("x",)), Card("b", "b", ("y",), more=3)]
    picture = card_picture(cards, [Line((0, "x"), (1, "y")), Line((1, "y"), (0, "x")), Line((1, "gone"), (1, "y"))])
    assert len(ET.fromstring(picture).findall("{*}path")) == 4  # three lines and the legend
    assert "and 3 more" in picture


@pytest.mark.parametrize("name", ["</text><script>", "\x1b[31m", "\"&'", "\u202egold", "x" * 5000, ""])
def test_hostile_names_are_text(name: str) -> None:
    drawing = ET.fromstring(card_picture([Card(name, name, (name,))], []))
    assert "script" not in [child.tag for child in drawing.iter()]
    assert "\x1b" not in "".join(drawing.itertext())


def test_nothing_to_draw_is_empty() -> None:
    assert card_picture([], []) == ""
