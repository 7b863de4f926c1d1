"""Every command in README's table of questions is answered from the events of the demo."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from colline.cli import cli
from tests.server.demo_events import BETWEEN
from tests.server.serving import Server

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
COMMANDS = re.findall(r"^\| [^|]+\? \| `colline ([^`]+)`", README, re.MULTILINE)

pytestmark = [pytest.mark.spark, pytest.mark.delta, pytest.mark.timeout(1600)]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[0])
def test_question_of_the_readme_has_an_answer(ingested_server: Server, command: str) -> None:
    words = shlex.split(re.sub(r"\bT\b", BETWEEN, command))
    done = CliRunner().invoke(cli, [*words, "--lake", str(ingested_server.lake)])
    assert done.exit_code in (0, 1), done.output
    assert "as of" in done.output


def test_readme_lists_questions() -> None:
    assert len(COMMANDS) >= 12
