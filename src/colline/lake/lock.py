"""Only one process writes to a lake at a time. A second one gets an error at once; a killed one leaves no lock."""

from __future__ import annotations

import fcntl
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from colline.environment.hadoop_files import HadoopFiles
from colline.environment.spark_session import require_classic, session_for
from colline.errors import LakeError
from colline.lake.layout import INGEST_LOCK
from colline.lake.location import local_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# On file systems without locks, the owner rewrites a lease file; a lease that was not rewritten for long is void.
LEASE_RENEWAL_SECONDS = 15.0
LEASE_EXPIRY_SECONDS = 120.0


class LakeBusyError(LakeError):
    """Another process writes to this lake."""

    exit_code = 1


@contextmanager
def lock_lake(
    lake: str, spark: SparkSession | None = None, *, short_lived: bool = False, packages: Sequence[str] = ()
) -> Iterator[SparkSession]:
    """Hold the lake's lock, and yield the session to write with.

    A new session may be tuned for a `short_lived` JVM, and has the `packages`.

    A lake on this machine is locked before a session is started, so that a busy lake costs no JVM start.
    """

    def session_to_write() -> SparkSession:
        return require_classic(spark or session_for(short_lived=short_lived, packages=packages))

    root = local_path(lake)
    if root is not None:
        with lock_local_lake(Path(root)):
            yield session_to_write()
        return
    session = session_to_write()
    with _lease(f"{lake.rstrip('/')}/{INGEST_LOCK}", HadoopFiles(session)):
        yield session


@contextmanager
def lock_local_lake(lake: Path) -> Iterator[None]:
    """Hold the lock of a lake on this machine. The kernel releases it when the process ends, even by SIGKILL."""
    with _open_lock_file(lake) as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            handle.seek(0)
            raise _busy_error(str(lake), handle.read().strip()) from error
        handle.truncate(0)
        handle.write(_owner())
        handle.flush()
        yield


def check_writable(lake: Path) -> None:
    """Raise a LakeError if this process cannot write to a lake on this machine."""
    _open_lock_file(lake).close()


def _open_lock_file(lake: Path) -> TextIO:
    path = lake / INGEST_LOCK
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("a+")
    except OSError as error:
        raise LakeError(
            f"cannot write to the lake {lake}: {error.strerror}",
            hint="run the command as a user who may write there, or mount the lake writable; nothing was changed",
        ) from error


@contextmanager
def _lease(path: str, files: HadoopFiles) -> Iterator[None]:
    """Hold a lease: a file that a thread rewrites until the block ends."""
    if not files.create(path, _owner()):
        age = files.age_seconds(path)
        if age is not None and age < LEASE_EXPIRY_SECONDS:
            raise _busy_error(path, files.read(path) or "")
        files.write(path, _owner())
    stop = threading.Event()

    def renew() -> None:
        while not stop.wait(LEASE_RENEWAL_SECONDS):
            # a store that fails for a moment must not end the lease, which is valid for several renewals
            with suppress(Exception):
                files.write(path, _owner())

    thread = threading.Thread(target=renew, name="colline-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(LEASE_RENEWAL_SECONDS)
        files.delete(path)


def _owner() -> str:
    return f"{socket.gethostname()} process {os.getpid()}"


def _busy_error(lake: str, owner: str) -> LakeBusyError:
    return LakeBusyError(
        f"{lake} is being written by {owner or 'another process'}",
        hint="wait until it ends, or stop it; nothing was changed",
    )
