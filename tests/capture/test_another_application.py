"""RDDs recorded for one application do not affect the next application in the same process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from colline.environment.java import SHORT_LIVED_JVM

pytestmark = pytest.mark.spark
SCRIPT = Path(__file__).parent / "two_applications.py"


def test_rdds_of_a_stopped_application_are_not_used(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(SCRIPT.parent.parent.parent),
        "JAVA_TOOL_OPTIONS": SHORT_LIVED_JVM,
    }
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path)], env=environment, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert [json.loads(line) for line in done.stdout.splitlines()] == [["salaries"], ["local data"]]
