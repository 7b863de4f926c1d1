"""The pipeline on a timer, in a child process: it needs a JVM, and a fault of it must not touch the receiver."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

log = logging.getLogger("colline.server")

_TAIL = 4000  # characters of the child's last words that are kept
_PATIENCE = 10.0  # seconds between asking the child to end and ending it


@dataclass(slots=True)
class IngestState:
    """How the last run went."""

    runs: int = 0
    failures: int = 0
    last_started: datetime | None = None
    last_ended: datetime | None = None
    last_state: str | None = None
    last_message: str | None = None


@dataclass(slots=True)
class Ingest:
    """Runs `colline ingest` every `seconds` when there is something new to take up."""

    lake: Path
    landing: Path
    seconds: float | None
    state: IngestState = field(default_factory=IngestState)
    _task: asyncio.Task[None] | None = None
    _child: asyncio.subprocess.Process | None = None
    _done: tuple[int, int] = (0, 0)

    def start(self) -> None:
        """Begin the timer, if there is one."""
        if self.seconds is not None:
            self._task = asyncio.create_task(self._loop(self.seconds))

    async def stop(self) -> None:
        """End the timer and, kindly at first, a child that runs."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self._child is not None and self._child.returncode is None:
            self._child.terminate()
            try:
                await asyncio.wait_for(self._child.wait(), _PATIENCE)
            except asyncio.TimeoutError:
                self._child.kill()

    async def _loop(self, seconds: float) -> None:
        while True:
            started = time.monotonic()
            if await asyncio.to_thread(self._has_news):
                await self.once()
            await asyncio.sleep(max(1.0, seconds - (time.monotonic() - started)))

    def _has_news(self) -> bool:
        return landing_mark(self.landing) not in (self._done, (0, 0))

    async def once(self) -> bool:
        """Run the pipeline now; True if it ended well."""
        mark = await asyncio.to_thread(landing_mark, self.landing)
        state = self.state
        state.runs += 1
        state.last_started, state.last_state = datetime.now(timezone.utc), "running"
        code, words = await self._run()
        state.last_ended = datetime.now(timezone.utc)
        state.last_state, state.last_message = ("ok", None) if code == 0 else ("failed", words)
        if code == 0:
            self._done = mark
        else:
            state.failures += 1
            log.error("ingest ended with %s: %s", code, words)
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
        words = ""
        while chunk := await self._child.stdout.read(8192):
            words = (words + chunk.decode(errors="replace"))[-_TAIL:]
        return await self._child.wait(), words.strip()

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


def landing_mark(landing: Path) -> tuple[int, int]:
    """(number of landing files, newest change): it differs when something landed."""
    count = newest = 0
    with contextlib.suppress(FileNotFoundError):
        for folder in os.scandir(landing):
            if folder.is_dir():
                for file in os.scandir(folder):
                    if file.name.endswith(".ndjson"):
                        count += 1
                        newest = max(newest, file.stat().st_mtime_ns)
    return count, newest
