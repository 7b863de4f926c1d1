"""The demo from an empty folder to its answers. The answers are compared with text that was read by a person.

That takes minutes, so `make test-demo` does it and `make test` leaves it out. `make test-demo GOLDEN=write` writes the
text anew; read the difference before it is committed.
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
from colline.demo.runner import MARK, clear
from colline.errors import LakeError

GOLDEN = Path(__file__).with_name("answers.txt")

# what differs from run to run, and the word that stands for it
CHANGING = (
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00| UTC)?", "TIME"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "RUN"),
    (r"local-\d+", "APPLICATION"),
    (r"The value 'c\d+'", "The value 'CUSTOMER'"),
    (r"^\d{4}-\d\d-\d\d(?= )", "DAY"),
    (r"\d+ events in \d+ batches, \d+\.\d+ s\b", "EVENTS"),
    (r" {2,}", "  "),
)


def settled(text: str, lake: Path) -> str:
    """The text without what differs from run to run."""
    text = text.replace(str(lake), "LAKE")
    for pattern, word in CHANGING:
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
    return settled(done.stdout, lake)


@pytest.mark.spark
@pytest.mark.delta
@pytest.mark.timeout(1500)
@pytest.mark.skipif("COLLINE_GOLDEN" not in os.environ, reason="plays the whole demo: make test-demo")
def test_the_demos_answers_are_the_ones_that_were_read(answers: str) -> None:
    if os.environ.get("COLLINE_GOLDEN") == "write":
        GOLDEN.write_text(answers, encoding="utf-8")
    assert answers == GOLDEN.read_text("utf-8")


def test_every_question_is_asked_by_a_command_that_exists() -> None:
    assert {question.command[0] for question in QUESTIONS} <= set(COMMANDS)


def test_a_folder_of_somebody_else_is_never_emptied(tmp_path: Path) -> None:
    (tmp_path / "theses.txt").write_text("ten years", encoding="utf-8")
    with pytest.raises(LakeError, match="not made by the demo"):
        clear(tmp_path)
    assert (tmp_path / "theses.txt").exists()


def test_a_second_run_starts_clean(tmp_path: Path) -> None:
    lake = tmp_path / "my lake"
    clear(lake)
    (lake / "landing").mkdir()
    clear(lake)
    assert [path.name for path in lake.iterdir()] == [MARK]
