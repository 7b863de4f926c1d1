"""Controls where the output of a JVM goes, so that Spark's start does not fill the terminal."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from colline.errors import CollineError

_READ_BYTES = 64 * 1024
# how long to wait for the last output of a JVM that failed to start
_LAST_OUTPUT_SECONDS = 1.0


@contextmanager
def redirect_output(log: Path) -> Iterator[None]:
    """Send the output of a JVM started inside the block to a file, for as long as the JVM runs."""
    with log.open("ab") as file, _child_output_to(file.fileno()):
        try:
            yield
        except Exception as error:
            raise _start_error(error, f"; see {log} for the output of Java") from error


@contextmanager
def hide_startup_output() -> Iterator[None]:
    """Hide what a JVM prints while it starts inside the block, unless it fails to start. Later output goes to stderr.

    A start prints about a hundred lines about jars. A later line is an error of a job, which the user should see.
    """
    relay, has_failed = _StderrRelay(), False
    try:
        with _child_output_to(relay.write_end):
            yield
    except Exception as error:
        has_failed = True
        raise _start_error(error) from error
    finally:  # also after Ctrl-C
        relay.open(print_buffered=has_failed)


def _start_error(error: Exception, hint: str = "") -> CollineError:
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    return CollineError(f"Spark did not start: {first}", hint=f"run `colline doctor` to see what is missing{hint}")


@contextmanager
def _child_output_to(file: int) -> Iterator[None]:
    """Give processes started inside the block this file as stdout and stderr; Python's own are restored afterwards."""
    for own in (sys.stdout, sys.stderr):
        if own is not None:  # None in some services
            own.flush()
    saved: dict[int, int] = {}
    for stream in (1, 2):
        with suppress(OSError):  # the stream is closed
            saved[stream] = os.dup(stream)
            os.dup2(file, stream)
    try:
        yield
    finally:
        for stream, original in saved.items():
            os.dup2(original, stream)
            os.close(original)


class _StderrRelay:
    """A pipe to stderr. Its input is buffered until `open`, and copied from then on, as long as Python runs."""

    def __init__(self) -> None:
        self._read_end, self.write_end = os.pipe()
        self._buffered: list[bytes] = []
        self._is_open = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._copy, name="colline-stderr", daemon=True)
        self._thread.start()

    def open(self, *, print_buffered: bool = False) -> None:
        """Copy further input to stderr. Input so far is printed or dropped."""
        os.close(self.write_end)  # the child process has its own copy
        if print_buffered:
            self._thread.join(_LAST_OUTPUT_SECONDS)  # a process that failed to start has ended: read its last output
        with self._lock:
            if print_buffered:
                _write_to_stderr(b"".join(self._buffered))
            self._buffered.clear()
            self._is_open = True

    def _copy(self) -> None:
        while chunk := os.read(self._read_end, _READ_BYTES):
            with self._lock:
                _write_to_stderr(chunk) if self._is_open else self._buffered.append(chunk)
        os.close(self._read_end)


def _write_to_stderr(data: bytes) -> None:
    """Write to stderr if it is open. The rest is dropped on an error, so that the JVM never waits for a closed pipe."""
    try:
        while data:
            data = data[os.write(2, data) :]
    except OSError:
        return
