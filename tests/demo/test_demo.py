"""Runs the whole demo and compares its output with `answers.txt`, which was reviewed by a person.

This takes minutes, so that only `make test-demo` does it. `make test-demo GOLDEN=write` updates the file; review the
difference before you commit it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from colline.cli import COMMANDS
from colline.demo.questions import QUESTIONS
from colline.demo.runner import MARKER_FILE, clear
from colline.errors import LakeError
from colline.graph.queries.registry import QUESTIONS as REGISTERED

GOLDEN = Path(__file__).with_name("answers.txt")

# patterns of text that differs between runs, and their replacement
VARYING = (
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00| UTC)?", "TIME"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "RUN"),
    (r"local-\d+", "APPLICATION"),
    (r"'c\d{4}'", "'CUSTOMER'"),
    (r"^\d{4}-\d\d-\d\d(?= )", "DAY"),
    # wrapped differently for each period
    (r"^evidence: (?:.+\n)+", "evidence: EVIDENCE\n"),
    (r"with [\d.]+ \w+ of recorded reads", "with PERIOD of recorded reads"),
    (r"  [\d.]+ s$", "  DURATION"),
    (r"\d+ events in \d+ batch(es)?, \d+\.\d+ s\b", "EVENTS"),
    (r" {2,}", "  "),
)


def normalize(text: str, lake: Path) -> str:
    """The text with everything replaced that differs between runs."""
    text = text.replace(str(lake), "LAKE")
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> str:
    lake = tmp_path_factory.mktemp("demo") / "lake"
    environment = {**os.environ, "COLUMNS": "140", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "colline", "demo", "--lake", str(lake)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return normalize(done.stdout, lake)


@pytest.mark.spark
@pytest.mark.delta
@pytest.mark.timeout(1500)
@pytest.mark.skipif("COLLINE_GOLDEN" not in os.environ, reason="runs the whole demo: make test-demo")
def test_demo_prints_the_reviewed_answers(answers: str) -> None:
    if os.environ.get("COLLINE_GOLDEN") == "write":
        GOLDEN.write_text(answers, encoding="utf-8")
    assert answers == GOLDEN.read_text("utf-8")


def test_demo_runs_every_query_command() -> None:
    assert {question.command[0] for question in QUESTIONS} <= set(COMMANDS)
    questions = {question.name for question in REGISTERED if question.is_command}
    assert {question.command[0] for question in QUESTIONS} == questions


def test_folder_not_created_by_the_demo_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("ten years", encoding="utf-8")
    with pytest.raises(LakeError, match="not created by the demo"):
        clear(tmp_path)
    assert (tmp_path / "thesis.txt").exists()


def test_second_run_empties_the_folder(tmp_path: Path) -> None:
    lake = tmp_path / "my lake"
    clear(lake)
    (lake / "landing").mkdir()
    clear(lake)
    assert [path.name for path in lake.iterdir()] == [MARKER_FILE]
