"""Detects how a program or notebook ends, so that the application's final event is COMPLETE or FAIL accordingly."""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable
from typing import Any

from colline.capture.runs.handled_errors import is_handled
from colline.events.event_context import Failure
from colline.transport.shutdown import program_exit, register_shutdown_hook


class ExitHooks:
    """Calls `on_exit` when the program ends, and knows whether it failed."""

    def __init__(self, on_exit: Callable[[], None]) -> None:
        self._on_exit: Callable[[], None] | None = on_exit
        self._cell_error: BaseException | None = None
        self._notebook = _current_notebook()
        register_shutdown_hook(self._run_hook)
        if self._notebook is not None:
            self._notebook.events.register("post_run_cell", self._after_cell)

    def remove(self) -> None:
        """Stop observing the program and the notebook."""
        self._on_exit = None
        if self._notebook is not None:
            self._notebook.events.unregister("post_run_cell", self._after_cell)
            self._notebook = None

    def program_failure(self) -> Failure | None:
        """Why the program failed: an uncaught exception, a non-zero exit code, or an error in the last cell."""
        if program_exit().has_failed:
            return Failure(program_exit().reason, language="PYTHON")
        return _failure(self._cell_error)

    def caller_failure(self) -> Failure | None:
        """Why the calling code is failing: the exception being handled, as in a `finally` block."""
        error = None if is_handled(sys._getframe(1)) else sys.exc_info()[1]
        return _failure(error) or self.program_failure()

    def main_thread_failure(self) -> Failure | None:
        """Why the main thread is failing, as seen from another thread: `spark.stop()` may be in a `finally` block."""
        found = sys._current_exceptions().get(threading.main_thread().ident or 0)
        error = found[1] if isinstance(found, tuple) else found  # a tuple until Python 3.11
        frame = sys._current_frames().get(threading.main_thread().ident or 0)
        error = None if frame is not None and is_handled(frame) else error
        return _failure(error) or self.program_failure()

    def _run_hook(self) -> None:
        if self._on_exit is not None:
            self._on_exit()

    def _after_cell(self, result: Any) -> None:
        self._cell_error = result.error_in_exec or result.error_before_exec


def _failure(error: BaseException | None) -> Failure | None:
    """The exception as a failure; None for a clean `sys.exit()`."""
    if error is None or (isinstance(error, SystemExit) and error.code in (None, 0)):
        return None
    return Failure(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__, language="PYTHON")


def _current_notebook() -> Any:
    get_ipython = getattr(builtins, "get_ipython", None)
    return get_ipython() if get_ipython is not None else None
