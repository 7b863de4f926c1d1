"""Keeps errors of colline away from the user's job: the one place in capture that catches every exception."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from colline.terminal_text import get_logger

log = get_logger("colline")

_Result = TypeVar("_Result")


class ErrorBoundary:
    """Runs our code inside the user's job. Counts the errors and logs the first one of each kind."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def run(self, action: str, call: Callable[[], _Result], fallback: Callable[[Exception], _Result]) -> _Result:
        """The result of `call`, or that of `fallback` if it raises. `action` names it in the log: "reading a plan"."""
        try:
            return call()
        except Exception as error:  # noqa: BLE001 - the only place in capture that catches everything
            self._report(action, error)
            return fallback(error)

    @property
    def failures(self) -> int:
        """The number of errors so far."""
        with self._lock:
            return sum(self._counts.values())

    def _report(self, action: str, error: Exception) -> None:
        kind = f"{action}: {type(error).__name__}"
        with self._lock:
            self._counts[kind] += 1
            is_first = self._counts[kind] == 1
        if is_first:
            log.warning(
                "lineage capture failed while %s; the job is not affected: %s: %s\n%s",
                action,
                type(error).__name__,
                str(error)[:500],
                "hint: set the logger `colline` to DEBUG for the traceback",
            )
        log.debug("%s", kind, exc_info=error)
