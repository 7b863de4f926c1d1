"""Keeping a JVM's chatter off the terminal."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from colline.errors import CollineError

PIECE = 64 * 1024
# seconds that the last words of what did not start may take
ENOUGH = 1.0


@contextmanager
def said_into(log: Path) -> Iterator[None]:
    """What a JVM started inside says goes to the log, for its whole life."""
    with log.open("ab") as file, _says_into(file.fileno()):
        try:
            yield
        except Exception as error:
            raise _not_started(error, f"; {log} has what Java said") from error


@contextmanager
def chatter_apart() -> Iterator[None]:
    """What a JVM says while it is started inside is told only if it does not start; what it says later comes through.

    A start prints a hundred lines about jars. An error of a job hours later is for whoever looks at the terminal.
    """
    relay, is_told = _Relay(), False
    try:
        with _says_into(relay.entrance):
            yield
    except Exception as error:
        is_told = True
        raise _not_started(error) from error
    finally:  # after a Ctrl-C as well
        relay.open(tells_kept=is_told)


def _not_started(error: Exception, where: str = "") -> CollineError:
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    return CollineError(f"Spark did not start: {first}", hint=f"`colline doctor` says what is missing{where}")


@contextmanager
def _says_into(file: int) -> Iterator[None]:
    """What is started inside has this file as its stdout and stderr; Python's own come back."""
    for own in (sys.stdout, sys.stderr):
        if own is not None:  # a service may have none
            own.flush()
    kept: dict[int, int] = {}
    for stream in (1, 2):
        with suppress(OSError):  # it is closed: nobody listens
            kept[stream] = os.dup(stream)
            os.dup2(file, stream)
    try:
        yield
    finally:
        for stream, before in kept.items():
            os.dup2(before, stream)
            os.close(before)


class _Relay:
    """A pipe to stderr: what goes in is kept until it is opened, and passed on from then on, while Python lives."""

    def __init__(self) -> None:
        self._exit, self.entrance = os.pipe()
        self._kept: list[bytes] = []
        self._is_open = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._pass_on, name="colline-stderr", daemon=True)
        self._thread.start()

    def open(self, *, tells_kept: bool = False) -> None:
        """Let what comes from now on through, after what was kept or without it."""
        os.close(self.entrance)  # what was started has one of its own
        if tells_kept:
            self._thread.join(ENOUGH)  # what did not start has ended, and its last words are on their way
        with self._lock:
            if tells_kept:
                _write(b"".join(self._kept))
            self._kept.clear()
            self._is_open = True

    def _pass_on(self) -> None:
        while piece := os.read(self._exit, PIECE):
            with self._lock:
                _write(piece) if self._is_open else self._kept.append(piece)
        os.close(self._exit)


def _write(data: bytes) -> None:
    """To stderr, as far as there is one: a JVM must not wait for somebody who has stopped listening."""
    try:
        while data:
            data = data[os.write(2, data) :]
    except OSError:
        return
