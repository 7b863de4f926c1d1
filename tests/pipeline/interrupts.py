"""Ctrl-C, as a terminal sends it to a command at work."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path


def interrupted(command: list[str], log: Path, env: Mapping[str, str], begun: Callable[[], bool]) -> str:
    """What the command said, interrupted once it has begun; it must end with 130, by no traceback."""
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
    said = log.read_text()
    assert "Traceback" not in said
    return said
