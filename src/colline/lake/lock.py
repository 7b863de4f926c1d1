"""One writer at a time per lake. A second one says so and stops; a killed one leaves nothing behind that blocks."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from colline.environment.hadoop_files import Files, local_path
from colline.environment.spark_session import session_for
from colline.errors import LakeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# On file systems without locks a lease is renewed this often, and dead after so long without.
RENEW_SECONDS = 15.0
DEAD_SECONDS = 120.0


class LakeBusyError(LakeError):
    """Another process writes to this lake."""

    exit_code = 1


@contextmanager
def held(lake: str, spark: SparkSession | None = None, *, brief: bool = False) -> Iterator[SparkSession]:
    """Be the lake's only writer for as long as the block lasts; the session to write with, which may be a `brief` one.

    A lake on this machine is locked before a session is started: to be refused costs no JVM.
    """
    where = local_path(lake)
    if where is not None:
        with alone(Path(where)):
            yield spark or session_for(brief=brief)
        return
    session = spark or session_for(brief=brief)
    with _lease(f"{lake.rstrip('/')}/_colline/ingest.lock", Files(session)):
        yield session


def _me() -> str:
    return f"{socket.gethostname()} process {os.getpid()}"


def _busy(lake: str, who: str) -> LakeBusyError:
    return LakeBusyError(
        f"{lake} is being written by {who or 'another process'}",
        hint="wait until it ends, or stop it; nothing was changed",
    )


@contextmanager
def alone(lake: Path) -> Iterator[None]:
    """Be the only writer of a lake on this machine. The system's own lock: gone with the process, however it ends."""
    import fcntl

    path = lake / "_colline" / "ingest.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            handle.seek(0)
            raise _busy(str(lake), handle.read().strip()) from error
        handle.truncate(0)
        handle.write(_me())
        handle.flush()
        yield


@contextmanager
def _lease(path: str, files: Files) -> Iterator[None]:
    """A file that is renewed while its owner lives."""
    if not files.create(path, _me()):
        age = files.age(path)
        if age is not None and age < DEAD_SECONDS:
            raise _busy(path, files.read(path) or "")
        files.write(path, _me())
    stop = threading.Event()

    def renew() -> None:
        while not stop.wait(RENEW_SECONDS):
            files.write(path, _me())

    thread = threading.Thread(target=renew, name="colline-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(RENEW_SECONDS)
        files.delete(path)
