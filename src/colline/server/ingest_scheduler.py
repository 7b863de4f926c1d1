"""Runs `colline ingest --continuous` in a child process, because it needs a JVM and may fail."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from colline.server.response_types import IngestStatus
from colline.terminal_text import get_logger

log = get_logger("colline.server")

_MAX_OUTPUT_CHARACTERS = 4000  # the end of the child's output is kept
_MAX_LINE_BYTES = 1 << 20
_TERMINATE_SECONDS = 10.0  # between SIGTERM and SIGKILL
_MAX_CHECK_SECONDS = 5.0  # between checks for the first landing file
_RESTART_SECONDS = 10.0  # after an ingester that failed


@dataclass(slots=True)
class IngestScheduler:
    """Keeps one ingester that checks for new landing files every `status.every` seconds, once a file has landed."""

    lake: Path
    landing: Path
    status: IngestStatus
    ended_at: float = 0.0  # seconds since 1970
    _task: asyncio.Task[None] | None = None
    _child: asyncio.subprocess.Process | None = None

    def start(self) -> None:
        """Starts the ingester, if there is to be one."""
        if self.status.every is not None:
            self._task = asyncio.create_task(self._loop(self.status.every))

    async def stop(self) -> None:
        """Stops the ingester."""
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
        while not await asyncio.to_thread(has_landed, self.landing):
            await asyncio.sleep(min(seconds, _MAX_CHECK_SECONDS))
        while True:
            self._note_start()
            code, output = await self._run(seconds)
            self._note_end("failed", output)
            self.status.failures += 1
            log.error("ingest ended with exit code %s: %s", code, output)
            await asyncio.sleep(max(_RESTART_SECONDS, seconds))

    async def _run(self, seconds: float) -> tuple[int, str]:
        """Runs the ingester until it ends; returns its exit code and the end of its output."""
        command = (sys.executable, "-m", "colline", "ingest", "--lake", str(self.lake), "--continuous")
        try:
            self._child = await asyncio.create_subprocess_exec(
                *(*command, "--every", str(seconds), "--until-stdin-closes"),
                stdin=asyncio.subprocess.PIPE,  # it closes when this server ends, also by SIGKILL
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                limit=_MAX_LINE_BYTES,
            )
        except OSError as error:
            return -1, str(error)
        assert self._child.stdout is not None
        output = ""
        async for line in self._child.stdout:
            text = line.decode(errors="replace")
            output = (output + text)[-_MAX_OUTPUT_CHARACTERS:]
            self._note_progress(text)
        return await self._child.wait(), output.strip()

    def _note_progress(self, line: str) -> None:
        """Takes the state of the ingester from a line of its output."""
        if line.startswith("batch ") and not self.status.running:
            self._note_start()
        elif line.startswith("published "):
            self.status.runs += 1
            self._note_end("ok", None)
        elif line.startswith("up to date"):
            self._note_end("ok", None)

    def _note_start(self) -> None:
        self.status.running, self.status.last_started = True, stamp(time.time())
        self.status.last_state = "running"

    def _note_end(self, state: str, message: str | None) -> None:
        self.ended_at = time.time()
        self.status.running, self.status.last_ended = False, stamp(self.ended_at)
        self.status.last_state, self.status.last_message = state, message


def stamp(seconds: float) -> str:
    """A time in seconds since 1970 as RFC 3339 in UTC."""
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def has_landed(landing: Path) -> bool:
    """Whether there is a landing file, at any depth. Names of unfinished files start with a dot or an underscore."""
    return any(path.is_file() and not path.name.startswith((".", "_")) for path in landing.rglob("*"))
