"""Sends Ctrl-C to a running command, as a terminal does."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path


def run_and_interrupt(command: list[str], log: Path, env: Mapping[str, str], begun: Callable[[], bool]) -> str:
    """The output of a command that is interrupted when it has begun; it must end with 130, without a traceback."""
    with log.open("wb") as err:
        # a terminal sends it to every process of its group
        process = subprocess.Popen(command, stdout=err, stderr=err, env=env, start_new_session=True)
    try:
        while not begun():
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(120) == 130, log.read_text()[-3000:]
    finally:
        process.kill()
    output = log.read_text()
    assert "Traceback" not in output
    return output
