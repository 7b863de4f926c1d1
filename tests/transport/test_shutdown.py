"""Events are delivered when a program ends, and the exit status is recorded."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

# Emits one event, and a final one with the exit status, as a watch does.
PROGRAM = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell starts with Ctrl-C ignored
from colline.transport.shutdown import register_shutdown_hook, program_exit
from colline.config import settings_from, transport_from
transport = transport_from(settings_from({"lake": sys.argv[1], "shutdown_timeout": 5}, environ={}))
register_shutdown_hook(lambda: transport.emit({"failed": program_exit().has_failed, "why": program_exit().reason}))
transport.emit({"first": True})
"""

ENDINGS = [
    ("the end", "", 0, False, ""),
    ("sys.exit()", "sys.exit()", 0, False, ""),
    ("sys.exit(0)", "sys.exit(0)", 0, False, ""),
    ("sys.exit(3)", "sys.exit(3)", 3, True, "sys.exit(3)"),
    ("sys.exit with a message", "sys.exit('no data')", 1, True, "sys.exit('no data')"),
    ("exit(3)", "exit(3)", 3, True, "sys.exit(3)"),
    ("an uncaught exception", "raise ValueError('bad day')", 1, True, "ValueError: bad day"),
    ("an exception that was caught", "try:\n    1 / 0\nexcept ZeroDivisionError:\n    pass", 0, False, ""),
    ("Ctrl-C", "os.kill(os.getpid(), signal.SIGINT); time.sleep(5)", -signal.SIGINT, True, "KeyboardInterrupt"),
    (
        "SIGTERM with a handler of its own",
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); os.kill(os.getpid(), signal.SIGTERM); time.sleep(5)",
        7,
        True,
        "sys.exit(7)",
    ),
    ("SIGTERM", "os.kill(os.getpid(), signal.SIGTERM); time.sleep(5)", -signal.SIGTERM, True, "SIGTERM"),
    (
        "SIGTERM in a forked child",
        "child = os.fork()\nif not child: time.sleep(30); os._exit(9)\n"
        "time.sleep(0.5); os.kill(child, signal.SIGTERM)\nassert os.waitpid(child, 0)[1] == signal.SIGTERM",
        0,
        False,
        "",
    ),
    (
        "a side thread that exits",
        "t = threading.Thread(target=lambda: sys.exit(4)); t.start(); t.join()",
        0,
        False,
        "",
    ),
    (
        "a thread that still emits",
        "threading.Thread(target=lambda: (time.sleep(0.3), transport.emit({'late': 1}))).start()",
        0,
        False,
        "",
    ),
]


@pytest.mark.parametrize(("name", "code", "status", "failed", "why"), ENDINGS, ids=[each[0] for each in ENDINGS])
def test_queued_events_are_delivered_and_the_exit_status_is_recorded(
    tmp_path: Path, name: str, code: str, status: int, failed: bool, why: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + code, str(tmp_path)], check=False, capture_output=True, timeout=60
    )
    events = [json.loads(line) for path in tmp_path.rglob("*.ndjson") for line in path.read_text().splitlines()]
    assert done.returncode == status
    assert events[0] == {"first": True}
    assert events[-1] == {"failed": failed, "why": why}
    assert len(events) == (3 if "late" in code else 2)


def test_an_existing_excepthook_is_still_called(tmp_path: Path) -> None:
    code = "import sys\nsys.excepthook = lambda *_: print('theirs', flush=True)\n" + PROGRAM + "raise ValueError"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "theirs\n"


def test_a_hanging_destination_delays_the_exit_by_the_shutdown_timeout_only(tmp_path: Path) -> None:
    code = """
import sys, time
from colline.config import settings_from, transport_from
class Hangs:
    def emit(self, event): time.sleep(3600)
transport = transport_from(settings_from({"transport": Hangs(), "shutdown_timeout": 0.5}, environ={}))
transport.emit({"n": 1})
import atexit; atexit.register(lambda: print("leaving", flush=True))
"""
    running = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    assert running.stdout.readline() == "leaving\n"
    started = time.monotonic()
    assert running.wait(30) == 0
    assert time.monotonic() - started < 10
    assert running.stderr is not None
    assert "1 failed" in running.stderr.read()
