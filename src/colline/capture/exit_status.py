"""How a program or a notebook ends, so that the application's run can say so truthfully."""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable
from typing import Any

from colline.events.event_builder import Failure
from colline.transport.shutdown import at_end, ending


class Ends:
    """Tells a watch that the program ends, and whether it failed. `forget` lets go of every hook."""

    def __init__(self, on_end: Callable[[], None]) -> None:
        self._on_end: Callable[[], None] | None = on_end
        self._cell_error: BaseException | None = None
        self._notebook = _notebook()
        at_end(self._end)
        if self._notebook is not None:
            self._notebook.events.register("post_run_cell", self._after_cell)

    def forget(self) -> None:
        """The program's end is of no interest any more."""
        self._on_end = None
        if self._notebook is not None:
            self._notebook.events.unregister("post_run_cell", self._after_cell)
            self._notebook = None

    def failure_of_program(self) -> Failure | None:
        """Why the program failed: an uncaught exception, a non-zero exit, or the notebook's last cell."""
        if ending().failed:
            return Failure(ending().why, language="PYTHON")
        return _failure(self._cell_error)

    def failure_here(self) -> Failure | None:
        """Why the code that called us is failing: the exception it is in the middle of, as in a `finally`."""
        return _failure(sys.exc_info()[1]) or self.failure_of_program()

    def failure_anywhere(self) -> Failure | None:
        """Why the main thread is failing: `spark.stop()` in a `finally` is heard on a thread of ours."""
        found = sys._current_exceptions().get(threading.main_thread().ident or 0)
        error = found[1] if isinstance(found, tuple) else found  # a tuple until Python 3.11
        return _failure(error) or self.failure_of_program()

    def _end(self) -> None:
        if self._on_end is not None:
            self._on_end()

    def _after_cell(self, result: Any) -> None:
        self._cell_error = result.error_in_exec or result.error_before_exec


def _failure(error: BaseException | None) -> Failure | None:
    """A failure, unless the exception is a clean exit."""
    if error is None or (isinstance(error, SystemExit) and error.code in (None, 0)):
        return None
    return Failure(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__, language="PYTHON")


def _notebook() -> Any:
    get = getattr(builtins, "get_ipython", None)
    return get() if get is not None else None
