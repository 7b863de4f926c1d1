"""Starts the resolver process when it is needed, and sends it plans."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import BinaryIO, ClassVar

from colline.capture.connect.recorded_plan import RecordedPlan, ResolvedPlan
from colline.capture.connect.resolver.process_messages import read_message, write_message
from colline.terminal_text import get_logger

log = get_logger("colline")

START_SECONDS = 300.0
RESOLVE_SECONDS = 60.0
_MAX_FAILED_STARTS = 3
_OLDEST_SPARK = (4, 1)
_MODULE = "colline.capture.connect.resolver.resolver_process"
# what a program's environment has for its own Spark
_OWN_VARIABLES = re.compile(
    r"SPARK_(?:HOME|REMOTE|LOCAL_REMOTE|CONNECT_\w+|API_MODE|TESTING|CONF_DIR|ENV_LOADED|MASTER)|MASTER"
    r"|PYSPARK_(?:SUBMIT_ARGS|GATEWAY_\w+|REMOTE_\w+|DRIVER_PYTHON\w*)"
)


def why_unavailable() -> str:
    """Why this Python cannot run a resolver; empty if it can."""
    try:
        found = version("pyspark")
    except PackageNotFoundError:
        return "this Python has no pyspark with Spark's jars"
    if tuple(map(int, re.findall(r"\d+", found)[:2])) < _OLDEST_SPARK:
        return f"plans are analyzed with PySpark 4.1 or later, and this Python has {found}"
    spec = find_spec("pyspark")
    folder = Path(spec.origin).parent if spec is not None and spec.origin else Path()
    if not any((folder / "jars").glob("spark-connect_*.jar")):
        return "this PySpark has no jars of Spark Connect"
    return ""


class ResolverProcess:
    """A resolver in a child process. It starts with the first plan, and again if it has ended."""

    def __init__(self, python: str | None = None) -> None:
        self._python = python
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = Path()
        self._replies: SimpleQueue[ResolvedPlan | None] = SimpleQueue()
        self._failed_starts = 0
        self._is_closed = False
        self._lock = threading.Lock()

    @property
    def is_usable(self) -> bool:
        """Whether a plan can be sent: a resolver that did not start several times is not started again."""
        return self._failed_starts < _MAX_FAILED_STARTS

    def resolve(self, recorded: RecordedPlan, timeout: float = RESOLVE_SECONDS) -> ResolvedPlan:
        """The analyzed plan. A resolver that does not answer in time is killed."""
        with self._lock:
            failure = self._ensure_started()
            if failure:
                return ResolvedPlan(failure=failure)
            found = self._exchange(recorded, timeout)
            if found is None:
                self._end_process()
                return ResolvedPlan(failure=f"the resolver ended, or did not answer within {timeout:g} seconds")
            return found

    def close(self) -> None:
        """End the process, also while it starts or analyzes a plan. It is not started again."""
        self._is_closed = True
        self._end_process()

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
        process.kill()
        process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _exchange(self, recorded: RecordedPlan, timeout: float) -> ResolvedPlan | None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            write_message(self._process.stdin, recorded)  # type: ignore[arg-type]  # Popen has IO[bytes]
            return self._replies.get(timeout=timeout)
        except (OSError, ValueError, Empty):
            return None

    def _ensure_started(self) -> str:
        """Start the process if it does not run. Returns why it did not start."""
        if self._process is not None and self._process.poll() is None:
            return ""
        if self._is_closed:
            return "the resolver has been closed"
        if not self.is_usable:
            return "the resolver did not start"
        self._end_process()
        failure = self._start()
        self._failed_starts = self._failed_starts + 1 if failure else 0
        if failure:
            self._end_process()
        if failure and not self._is_closed:
            log.warning(
                "plans of Spark Connect cannot be analyzed: %s\nhint: see docs/guides/spark-connect.md", failure
            )
        return failure

    def _start(self) -> str:
        self._folder = Path(tempfile.mkdtemp(prefix="colline-resolver-"))
        self._replies = SimpleQueue()
        python = self._python or sys.executable
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, or the one in the user's settings
                [python, "-m", _MODULE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self._folder,
                env=child_environment(os.environ, self._folder, is_same_python=self._python is None),
                start_new_session=True,  # Ctrl-C in a terminal is for the user's program
            )
        except OSError as error:
            return f"{python} cannot be started: {error.strerror}"
        arguments = self._process.stdout, self._replies
        threading.Thread(target=_read_replies, args=arguments, name="colline-resolver", daemon=True).start()
        try:
            ready = self._replies.get(timeout=START_SECONDS)
        except Empty:
            return f"it did not start within {START_SECONDS:g} seconds"
        return "it ended while it started" if ready is None else ready.failure


def _read_replies(stream: BinaryIO, replies: SimpleQueue[ResolvedPlan | None]) -> None:
    """Queue the replies of one process; None when it has ended."""
    try:
        while True:
            replies.put(read_message(stream, ResolvedPlan))
    except (EOFError, OSError, ValueError):
        replies.put(None)


def child_environment(environ: Mapping[str, str], folder: Path, *, is_same_python: bool) -> dict[str, str]:
    """The environment without the settings of the program's own Spark, such as listeners and plugins."""
    found = {name: value for name, value in environ.items() if not _OWN_VARIABLES.fullmatch(name)}
    found["SPARK_CONF_DIR"] = str(folder)
    if is_same_python:
        found["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return found


class SharedResolver:
    """One user of the resolver process that all captured sessions of this program share."""

    _lock = threading.Lock()
    _users: ClassVar[set[int]] = set()
    _process: ClassVar[ResolverProcess | None] = None

    def __init__(self) -> None:
        with self._lock:
            self._users.add(id(self))

    def resolve(self, recorded: RecordedPlan, timeout: float = RESOLVE_SECONDS) -> ResolvedPlan:
        """The analyzed plan."""
        with self._lock:
            if SharedResolver._process is None:
                SharedResolver._process = ResolverProcess()
            process = SharedResolver._process
        return process.resolve(recorded, timeout)

    def close(self) -> None:
        """End the process if this was its last user."""
        with self._lock:
            self._users.discard(id(self))
            if self._users:
                return
            process, SharedResolver._process = SharedResolver._process, None
        if process is not None:
            process.close()
