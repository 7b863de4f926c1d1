"""What a JVM says while it starts is told only if it does not start."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from colline.environment.jvm_output import chatter_apart
from colline.errors import CollineError

SAYS = (
    "import sys, time; print('chatter', file=sys.stderr, flush=True); sys.stdin.read(); print('alarm', file=sys.stderr)"
)


def _started() -> subprocess.Popen[bytes]:
    """A program that says something at once, and something else when it is told to end."""
    begun = subprocess.Popen([sys.executable, "-c", SAYS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    time.sleep(0.5)
    return begun


def _ended(begun: subprocess.Popen[bytes], capfd: pytest.CaptureFixture[str]) -> str:
    begun.communicate()
    told, until = "", time.monotonic() + 10
    while "alarm" not in told and time.monotonic() < until:
        time.sleep(0.05)
        told += capfd.readouterr().err
    return told


def test_a_start_is_silent_and_what_comes_later_is_heard(capfd: pytest.CaptureFixture[str]) -> None:
    with chatter_apart():
        begun = _started()
    print("own", file=sys.stderr)
    assert _ended(begun, capfd) == "own\nalarm\n"


def test_a_start_that_fails_tells_all_that_was_said(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CollineError, match="Spark did not start: no port") as failed, chatter_apart():
        begun = _started()
        raise RuntimeError("no port\nand a page of other things")
    assert failed.value.hint == "`colline doctor` says what is missing"
    assert capfd.readouterr().err == "chatter\n"
    assert _ended(begun, capfd) == "alarm\n"


def test_a_start_that_is_interrupted_stays_an_interrupt_and_lets_the_rest_through(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(KeyboardInterrupt), chatter_apart():
        begun = _started()
        raise KeyboardInterrupt
    assert _ended(begun, capfd) == "alarm\n"


def test_a_java_that_does_not_start_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "landing").mkdir()
    # no JVM takes two collectors
    environment = {**os.environ, "JAVA_TOOL_OPTIONS": "-XX:+UseSerialGC -XX:+UseParallelGC"}
    command = [sys.executable, "-m", "colline", "ingest", "--lake", str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Multiple garbage collectors selected" in done.stderr
    assert done.stderr.splitlines()[-2].startswith("error: Spark did not start: ")
    assert done.stderr.splitlines()[-1] == "hint: `colline doctor` says what is missing"
    assert "Traceback" not in done.stderr
