"""The output of a JVM during its start is shown only if the start fails."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from colline.environment.jvm_output import hide_startup_output
from colline.errors import CollineError

PROGRAM = """
import sys
print("starting", file=sys.stderr, flush=True)
sys.stdin.read()
print("alarm", file=sys.stderr)
"""


def _start_program() -> subprocess.Popen[bytes]:
    """A program that prints a line at once, and another one when its stdin is closed."""
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    time.sleep(0.5)
    return process


def _stderr_after_end(process: subprocess.Popen[bytes], capfd: pytest.CaptureFixture[str]) -> str:
    process.communicate()
    text, until = "", time.monotonic() + 10
    while "alarm" not in text and time.monotonic() < until:
        time.sleep(0.05)
        text += capfd.readouterr().err
    return text


def test_start_is_silent_and_later_output_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    with hide_startup_output():
        process = _start_program()
    print("own", file=sys.stderr)
    assert _stderr_after_end(process, capfd) == "own\nalarm\n"


def test_failed_start_shows_all_output(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CollineError, match="Spark did not start: no port") as failed, hide_startup_output():
        process = _start_program()
        raise RuntimeError("no port\nand many other lines")
    assert failed.value.hint == "run `colline doctor` to see what is missing"
    assert capfd.readouterr().err == "starting\n"
    assert _stderr_after_end(process, capfd) == "alarm\n"


def test_package_that_cannot_be_downloaded_is_named_without_the_output(capfd: pytest.CaptureFixture[str]) -> None:
    found = "Exception in thread main: [unresolved dependency: org.example#connector_2.13;4.1.4: not found]\n" * 2
    with pytest.raises(CollineError) as failed, hide_startup_output():
        os.write(2, found.encode())
        raise RuntimeError("Java gateway process exited")
    assert failed.value.message == "Spark cannot download org.example#connector_2.13;4.1.4"
    assert capfd.readouterr().err == ""


def test_interrupted_start_raises_keyboard_interrupt_and_shows_later_output(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(KeyboardInterrupt), hide_startup_output():
        process = _start_program()
        raise KeyboardInterrupt
    assert _stderr_after_end(process, capfd) == "alarm\n"


def test_failed_start_of_java_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "landing").mkdir()
    # a JVM does not start with two collectors
    environment = {**os.environ, "JAVA_TOOL_OPTIONS": "-XX:+UseSerialGC -XX:+UseParallelGC"}
    command = [sys.executable, "-m", "colline", "ingest", "--lake", str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Multiple garbage collectors selected" in done.stderr
    assert done.stderr.splitlines()[-2].startswith("error: Spark did not start: ")
    assert done.stderr.splitlines()[-1] == "hint: run `colline doctor` to see what is missing"
    assert "Traceback" not in done.stderr
