"""The demo's folder and its table of questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from colline.cli import COMMANDS
from colline.demo.questions import QUESTIONS
from colline.demo.story import MARK, clear
from colline.errors import LakeError


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
