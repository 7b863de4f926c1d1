"""Every command of the tutorial runs in order, and prints what the tutorial shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import DOCS

TIMEOUT_SECONDS = 300
BLOCK = re.compile(r"^```(python|bash|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
DURATION = re.compile(r"recorded for .*? \(")


@pytest.mark.spark
@pytest.mark.delta
@pytest.mark.timeout(2 * TIMEOUT_SECONDS)
def test_tutorial_commands_print_the_output_shown(tmp_path: Path) -> None:
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    printed = ""
    for kind, content in BLOCK.findall((DOCS / "tutorial" / "first-lineage.md").read_text("utf-8")):
        if kind == "python":
            (tmp_path / "shop.py").write_text(content, encoding="utf-8")
        elif kind == "text":
            assert without_times(printed) == without_times(content)
        elif content.startswith("export "):
            name, _, value = content.removeprefix("export ").strip().partition("=")
            environment[name] = value
        else:
            printed = output_of(content, tmp_path, environment)


def without_times(output: str) -> tuple[str, str]:
    """An output in two parts, without times. The second is the evidence, whose line breaks depend on its duration."""
    table, _, evidence = TIME.sub("T", output).partition("evidence:")
    return table, " ".join(DURATION.sub("recorded for D (", evidence).split())


def output_of(command: str, folder: Path, environment: dict[str, str]) -> str:
    """What a command prints; its exit code must be 0."""
    result = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout
