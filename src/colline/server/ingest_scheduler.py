"""Runs `colline ingest` on a schedule, in a child process, because it needs a JVM and may fail."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from colline.terminal_text import get_logger

log = get_logger("colline.server")

_MAX_OUTPUT_CHARACTERS = 4000  # the end of the child's output is kept
_TERMINATE_SECONDS = 10.0  # between SIGTERM and SIGKILL


@dataclass(slots=True)
class IngestState:
    """Counts of runs, and the outcome of the last one."""

    runs: int = 0
    failures: int = 0
    last_started: datetime | None = None
    last_ended: datetime | None = None
    last_state: str | None = None
    last_message: str | None = None


@dataclass(slots=True)
class IngestScheduler:
    """Runs `colline ingest` every `seconds` if there are new landing files."""

    lake: Path
    landing: Path
    seconds: float | None
    state: IngestState = field(default_factory=IngestState)
    _task: asyncio.Task[None] | None = None
    _child: asyncio.subprocess.Process | None = None
    _ingested: tuple[int, int] = (0, 0)

    def start(self) -> None:
        """Starts the schedule, if there is one."""
        if self.seconds is not None:
            self._task = asyncio.create_task(self._loop(self.seconds))

    async def stop(self) -> None:
        """Stops the schedule and a running child."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self._child is not None and self._child.returncode is None:
            self._child.terminate()
            try:
                await asyncio.wait_for(self._child.wait(), _TERMINATE_SECONDS)
            except asyncio.TimeoutError:
                self._child.kill()

    async def _loop(self, seconds: float) -> None:
        while True:
            started = time.monotonic()
            if await asyncio.to_thread(self._has_new_files):
                await self.run_once()
            await asyncio.sleep(max(1.0, seconds - (time.monotonic() - started)))

    def _has_new_files(self) -> bool:
        return landing_state(self.landing) not in (self._ingested, (0, 0))

    async def run_once(self) -> bool:
        """Runs an ingest now; returns whether it succeeded."""
        landing = await asyncio.to_thread(landing_state, self.landing)
        state = self.state
        state.runs += 1
        state.last_started, state.last_state = datetime.now(timezone.utc), "running"
        code, output = await self._run()
        state.last_ended = datetime.now(timezone.utc)
        state.last_state, state.last_message = ("ok", None) if code == 0 else ("failed", output)
        if code == 0:
            self._ingested = landing
        else:
            state.failures += 1
            log.error("ingest failed with exit code %s: %s", code, output)
        return code == 0

    async def _run(self) -> tuple[int, str]:
        command = (sys.executable, "-m", "colline", "ingest", "--lake", str(self.lake), "--json")
        try:
            self._child = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
        except OSError as error:
            return -1, str(error)
        assert self._child.stdout is not None
        output = ""
        while chunk := await self._child.stdout.read(8192):
            output = (output + chunk.decode(errors="replace"))[-_MAX_OUTPUT_CHARACTERS:]
        return await self._child.wait(), output.strip()

    def to_dict(self) -> dict[str, Any]:
        """The state as `/api/v1/status` shows it."""
        state = self.state
        return {
            "every": self.seconds,
            "running": state.last_state == "running",
            "runs": state.runs,
            "failures": state.failures,
            "last_started": stamp(state.last_started),
            "last_ended": stamp(state.last_ended),
            "last_state": state.last_state,
            "last_message": state.last_message,
        }


def stamp(at: datetime | None) -> str | None:
    """A time as RFC 3339 in UTC."""
    return None if at is None else at.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def landing_state(landing: Path) -> tuple[int, int]:
    """The number of landing files and the newest modification time; they change when a file lands."""
    count = newest = 0
    with contextlib.suppress(FileNotFoundError):
        for folder in os.scandir(landing):
            if folder.is_dir():
                for file in os.scandir(folder):
                    if file.name.endswith(".ndjson"):
                        count += 1
                        newest = max(newest, file.stat().st_mtime_ns)
    return count, newest
