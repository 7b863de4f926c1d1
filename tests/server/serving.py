"""A real `colline serve` process for tests, and events to send to it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

HOSTILE_NAMES = (
    "<script>alert(1)</script>",
    "x" * 10_240,
    "\u202egnp.exe",
    "a\0b",
    "../../etc/passwd",
    "🐟",
    "a\nb\r\u2028c",
    '"quoted" and \\slashed',
    "'\"><img src=//evil.invalid/x onerror=alert(1)>\x1b[31m\x9b2J\x7f",
)

START_TIMEOUT_SECONDS = 120  # long, because the machine may be busy


@dataclass
class Server:
    """A server process and a client that knows its address."""

    lake: Path
    address: str
    process: subprocess.Popen[bytes]
    client: httpx.Client
    log: Path

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(30)

    def log_text(self, awaited: str = "") -> str:
        """The log, as soon as it contains the awaited text: a request is logged after its response."""
        deadline = time.monotonic() + 30
        while awaited not in (found := self.log.read_text()):
            assert time.monotonic() < deadline, f"no {awaited!r} in {found}"
            time.sleep(0.02)
        return found


@contextmanager
def serving(
    lake: Path, *options: str, prefix: tuple[str, ...] = (), port: int = 0, address: str | None = None
) -> Iterator[Server]:
    """A running server; killed at the end if it still runs. With an `address` it serves that remote lake."""
    log = lake.parent / f"{lake.name}-{uuid.uuid4().hex[:6]}.log"
    command = [
        *prefix,
        sys.executable,
        "-m",
        "colline",
        "serve",
        *(("--create", "--lake", str(lake)) if address is None else ("--lake", address)),
        "--port",
        str(port),
        *options,
    ]
    with log.open("wb") as stderr:
        process = subprocess.Popen(command, stderr=stderr, stdout=stderr, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    try:
        url = _address(process, log)
        with httpx.Client(base_url=url, timeout=30) as client:
            _wait_until_up(client)
            yield Server(lake, url, process, client, log)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r" at (https?)://(\S+)", log.read_text()):
            return f"{found[1]}://{found[2].replace('0.0.0.0', '127.0.0.1')}"
        time.sleep(0.02)
    raise AssertionError(f"the server did not start: {log.read_text()}")


def _wait_until_up(client: httpx.Client) -> None:
    for _ in range(300):
        try:
            client.get("/healthz")
        except httpx.TransportError:
            time.sleep(0.02)
        else:
            return
    raise AssertionError("the server does not answer")


def event(job: str = "daily_revenue", run: str | None = None, **more: Any) -> dict[str, Any]:
    """A small run event that any receiver takes."""
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-03-02T12:04:00.123Z",
        "producer": "https://example.com/tests",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": run or str(uuid.uuid4())},
        "job": {"namespace": "shop", "name": job},
        "inputs": [],
        "outputs": [],
        **more,
    }


def landed_lines(lake: Path) -> list[bytes]:
    """Every line in the landing folder."""
    files = sorted((lake / "landing").glob("dt=*/*.ndjson"))
    for file in files:
        assert re.fullmatch(r"\d{13}-[0-9a-f-]{36}-\d+events\.ndjson", file.name)
    lines = [file.read_bytes().splitlines() for file in files]
    for file, content in zip(files, lines, strict=True):
        assert file.name.endswith(f"-{len(content)}events.ndjson")
    return [line for content in lines for line in content]
