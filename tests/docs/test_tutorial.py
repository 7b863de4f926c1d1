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
TIME = re.compile(r"as of \S+Z")


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
            assert TIME.sub("as of T", printed) == TIME.sub("as of T", content)
        elif content.startswith("export "):
            name, _, value = content.removeprefix("export ").strip().partition("=")
            environment[name] = value
        else:
            printed = output_of(content, tmp_path, environment)


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
