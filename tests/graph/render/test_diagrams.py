"""Diagrams: every file format, hostile names, cycles, and the limit of columns."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from colline import CollineError
from colline.graph import Lineage, open_lake
from colline.graph.render.diagram import FORMATS, save, to_dot, to_html, to_mermaid, to_svg
from colline.graph.render.diagram_layout import WIDTH
from colline.graph.render.diagram_routes import Curve, routes
from tests.graph.graph_lakes import LakeWriter
from tests.page.browser_helpers import save_screenshot


def test_tables_are_placed_in_layers_and_arrows_connect_columns(lineage: Lineage) -> None:
    picture = lineage.picture("gold.daily_revenue.total", indirect=True)
    across = {box.title: box.x for box in picture.boxes}
    assert across["bronze.orders"] < across["silver.orders"] < across["gold.daily_revenue"] < across["platinum.kpi"]
    assert across["silver.orders"] == across["silver.customers"]
    boxes = sorted((box.x, box.y, box.y + box.height) for box in picture.boxes)
    for (x1, _, bottom), (x2, top, _) in pairwise(boxes):
        assert x1 != x2 or bottom < top  # tables do not overlap
    heads = {(a.source, a.to_box) for a in picture.arrows if a.to_head}
    assert len(heads) == 4  # an input of the rows has one arrow, to the table


FIRST_BYTES = {
    ".svg": b"<svg ",
    ".html": b"<!doctype html>",
    ".mmd": b"flowchart ",
    ".dot": b"digraph ",
}


@pytest.mark.parametrize("extension", list(FORMATS))
def test_diagram_is_written_in_every_format(lineage: Lineage, tmp_path: Path, extension: str) -> None:
    target = tmp_path / f"x{extension}"
    save(lineage.picture("gold.contacts.email"), target)
    written = target.read_bytes()
    assert written.startswith(FIRST_BYTES[extension])
    assert b"customers" in written


def test_unknown_file_extension_is_an_error_that_lists_the_known_ones(lineage: Lineage, tmp_path: Path) -> None:
    with pytest.raises(CollineError, match=r"cannot draw x\.bmp") as error:
        save(lineage.picture("gold.contacts.email"), tmp_path / "x.bmp")
    assert ".svg" in str(error.value.hint)


def test_names_cannot_inject_markup(tmp_path: Path) -> None:
    evil = '<script>alert(1)</script>"];|\\'
    lake = LakeWriter()
    lake.column("a.t." + "x")
    lake.columns["a.t", "x"]["field"] = evil
    lake.edge("a.t.x", "b.t.y", "job", description=f"upper({evil})")
    lineage = open_lake(lake.write(tmp_path / "lake"))
    picture = lineage.picture("b.t.y")
    tree = ET.fromstring(to_svg(picture))
    assert not [e for e in tree.iter() if e.tag.endswith("script")]
    assert evil in "".join(tree.itertext())
    assert "<script" not in to_html(picture)
    assert '"];' not in to_mermaid(picture).replace('"]\n', "")
    assert '\\"];|\\\\' in to_dot(picture)


def _points(curves: tuple[Curve, ...]) -> Iterator[tuple[float, float]]:
    """Points on a route, close to each other."""
    for curve in curves:
        for step in range(41):
            t = step / 40
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            x, y = (sum(w * point[axis] for w, point in zip(weights, curve, strict=True)) for axis in (0, 1))
            yield x, y


def test_no_line_passes_behind_a_table(tmp_path: Path) -> None:
    lake = LakeWriter()
    chain = [f"s{number}.t" for number in range(6)]
    for one, two in combinations(range(6), 2):  # steps over one to four layers
        lake.edge(f"{chain[one]}.c{one}", f"{chain[two]}.c{two}", f"job{one}")
        lake.edge(f"{chain[one]}.c{one}", f"{chain[two]}.*", f"job{one}", "FILTER")
    lake.edge("s5.t.c5", "s0.t.c0", "back")
    lake.edge("s2.t.c2", "s2.t.extra", "inside")
    for number in range(4):
        lake.edge("s1.t.c1", f"side{number}.t.x", "fan")
        lake.edge(f"side{number}.t.x", "s5.t.c5", "fan")
    picture = open_lake(lake.write(tmp_path / "lake")).picture("s2.t.c2", indirect=True)
    assert len(picture.arrows) > 20
    for arrow, curves in zip(picture.arrows, routes(picture), strict=True):
        for x, y in _points(curves):
            behind = [b for b in picture.boxes if b.x < x < b.x + WIDTH and b.y < y < b.y + b.height]
            assert not behind, (arrow, (x, y), behind[0].title)
            assert 0 <= x <= picture.width and 0 <= y <= picture.height


def test_arrows_show_expression_and_job(lineage: Lineage) -> None:
    picture = lineage.picture("gold.daily_revenue.total")
    texts = [element.text for element in ET.fromstring(to_svg(picture)).iter("{http://www.w3.org/2000/svg}text")]
    assert "sum(amount) · daily_revenue" in texts
    assert '-->|"sum#40;amount#41; by daily_revenue"|' in to_mermaid(picture)
    assert 'label="sum(amount) by daily_revenue"' in to_dot(picture)
    masked = to_svg(lineage.picture("gold.contacts.key"))
    assert "(masked) · clean_customers" in masked and all(ord(character) < 0x2100 for character in masked)


OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()])
  return boxes.flatMap(([one, a], i) => boxes.slice(i + 1)
    .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2)
    .map(([two]) => [one, two]))
}"""


@pytest.mark.browser
def test_diagram_fits_the_window_and_no_text_covers_another(
    lineage: Lineage, tmp_path: Path, browser_program: Path
) -> None:
    save(lineage.picture("platinum.kpi.*", indirect=True), tmp_path / "lineage.svg")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_program, args=["--headless", "--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.goto((tmp_path / "lineage.svg").as_uri())
        drawing = page.locator("svg").bounding_box()
        overlaps = page.evaluate(OVERLAPS)
        save_screenshot(page, "graph-svg")
        browser.close()
    assert drawing is not None and drawing["width"] <= 1280 and drawing["height"] <= 720
    assert overlaps == []


def test_cycle_is_drawn(tmp_path: Path) -> None:
    lake = LakeWriter()
    for source, target in (("a.t.x", "b.t.x"), ("b.t.x", "c.t.x"), ("c.t.x", "a.t.x"), ("a.t.x", "a.t.x")):
        lake.edge(source, target, "round")
    picture = open_lake(lake.write(tmp_path / "lake")).picture("a.t.x")
    assert len(picture.boxes) == 3 and len(picture.arrows) == 3
    assert to_svg(picture).count("<path") == 6


def test_omitted_columns_are_counted(tmp_path: Path) -> None:
    lake = LakeWriter()
    for number in range(1200):
        lake.edge(f"a.t.c{number:04d}", "b.t.sum", "add", "AGGREGATION")
    picture = open_lake(lake.write(tmp_path / "lake")).picture("b.t.sum")
    drawn = sum(len(box.columns) for box in picture.boxes)
    assert drawn == 400 and picture.left_out == 1201 - 400
