"""Names with control characters: escaped in every output for people, unchanged in JSON."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from colline.graph import Lineage, open_lake
from colline.graph.render import diagram, notebook_html, text
from colline.terminal_text import escape_control_characters
from tests.graph.graph_lakes import LakeWriter

HOSTILE = "a\x1b[31mb\x00c\x9bd\x7fe\u202ef\u2066g\u2069h\ri"
ESCAPED = r"a\x1b[31mb\x00c\x9bd\x7fe\u202ef\u2066g\u2069h i"
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def hostile_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = LakeWriter()
    lake.dataset("a.one", tags=[HOSTILE], owner=HOSTILE)
    lake.job(HOSTILE, last_state="FAIL", last_error=HOSTILE, owner=HOSTILE)
    lake.edge(f"a.one:{HOSTILE}", f"b.two:{HOSTILE}", HOSTILE, "TRANSFORMATION", description=HOSTILE, masking=True)
    lake.edge(f"b.two:{HOSTILE}", f"c.three:{HOSTILE}", HOSTILE, description=HOSTILE)
    lake.gap("opaque_step", job=HOSTILE, dataset="c.three", detail=HOSTILE)
    return lake.write(tmp_path_factory.mktemp("hostile") / "lake")


@pytest.fixture
def lineage(hostile_lake: Path) -> Iterator[Lineage]:
    with open_lake(hostile_lake) as opened:
        yield opened


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain name 名 é", "plain name 名 é"),
        (HOSTILE, ESCAPED),
        ("two\r\nlines\tand a tab", "two lines and a tab"),
        ("\u061c\u200e\u200f\u2028x", r"\u061c\u200e\u200f x"),
    ],
)
def test_control_characters_are_spelled_out(name: str, expected: str) -> None:
    assert escape_control_characters(name) == expected


@pytest.mark.parametrize(
    "render",
    [
        text.to_text,
        lambda answer: text.to_text(answer, as_tree=True),
        lambda answer: text.to_text(answer, width=30),
        text.to_markdown,
        text.to_csv,
        notebook_html.to_html,
    ],
    ids=["text", "tree", "narrow", "markdown", "csv", "html"],
)
def test_output_for_people_has_no_control_characters(lineage: Lineage, render: Callable[..., str]) -> None:
    column = f"c.three.{HOSTILE}"
    answers = [lineage.upstream(column), lineage.pii(f"a.one.{HOSTILE}"), lineage.writers(column)]
    answers += [lineage.coverage(), lineage.jobs(), lineage.impact(f"a.one.{HOSTILE}"), lineage.droppable(column)]
    for answer in answers:
        output = render(answer)
        assert not CONTROL.search(output), answer.question
        assert "x1b" in output


@pytest.mark.parametrize("extension", list(diagram.FORMATS))
def test_diagram_has_no_control_characters(lineage: Lineage, extension: str) -> None:
    output = diagram.FORMATS[extension](lineage.picture(f"c.three.{HOSTILE}"))
    assert not CONTROL.search(output)
    if extension == ".svg":
        assert r"\x1b" in "".join(ET.fromstring(output).itertext())


def test_json_keeps_the_name(lineage: Lineage) -> None:
    answer = lineage.upstream(f"c.three.{HOSTILE}").to_dict()
    assert answer["of"][0]["field"] == HOSTILE and answer["edges"][0]["description"] == HOSTILE


def test_error_message_has_no_control_characters(hostile_lake: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "colline", "upstream", HOSTILE.replace("\x00", "")[:12], "--lake", str(hostile_lake)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and r"\x1b" in done.stderr
    assert not CONTROL.search(done.stderr)
