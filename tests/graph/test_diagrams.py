"""Diagrams: every file format, hostile names, cycles, and the limit of columns."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

from colline import CollineError
from colline.graph import Lineage, open_lake
from colline.graph.render.diagram import FORMATS, save, to_dot, to_html, to_mermaid, to_svg
from tests.graph.graph_lakes import LakeWriter


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
