"""Controls where the output of a JVM goes, so that Spark's start does not fill the terminal."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from colline.errors import CollineError

_READ_BYTES = 64 * 1024
# how long to wait for the last output of a JVM that failed to start
_LAST_OUTPUT_SECONDS = 1.0
# Ivy's report on a package that no repository has
_MISSING_PACKAGE = re.compile(rb"unresolved dependency: ([\w.#;-]+)")


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
    relay, failure, output = _StderrRelay(), None, b""
    try:
        with _child_output_to(relay.write_end):
            yield
    except Exception as error:  # noqa: BLE001 - raised below, when the output is known
        failure = error
    finally:  # also after Ctrl-C
        output = relay.open(has_failed=failure is not None)
    if failure is not None:
        missing = sorted({name.decode() for name in _MISSING_PACKAGE.findall(output)})
        if missing:  # the output is pages about the search for it
            hint = "check the network; another repository is set by spark.jars.repositories"
            raise CollineError(f"Spark cannot download {', '.join(missing)}", hint=hint) from failure
        _write_to_stderr(output)
        raise _start_error(failure) from failure


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

    def open(self, *, has_failed: bool) -> bytes:
        """Copy further input to stderr; returns the input so far, after a failure to its end."""
        os.close(self.write_end)  # the child process has its own copy
        if has_failed:
            self._thread.join(_LAST_OUTPUT_SECONDS)  # a process that failed to start has ended: read its last output
        with self._lock:
            output = b"".join(self._buffered)
            self._buffered.clear()
            self._is_open = True
        return output

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
