"""The one catch-all of capture: a fault in our code never reaches the user's job, and is never silent."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

log = logging.getLogger("colline")

_Answer = TypeVar("_Answer")


class Containment:
    """Runs our code inside somebody else's job; counts what went wrong and says each kind of it once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def run(self, what: str, call: Callable[[], _Answer], otherwise: Callable[[Exception], _Answer]) -> _Answer:
        """The call's answer, or the other one when it raised."""
        try:
            return call()
        except Exception as error:  # noqa: BLE001 - the only place in capture where everything is caught
            self._say(what, error)
            return otherwise(error)

    @property
    def failures(self) -> int:
        """How many faults were contained."""
        with self._lock:
            return sum(self._counts.values())

    def _say(self, what: str, error: Exception) -> None:
        kind = f"{what}: {type(error).__name__}"
        with self._lock:
            self._counts[kind] += 1
            first = self._counts[kind] == 1
        if first:
            log.warning(
                "%s failed, the job goes on without it: %s: %s\n%s",
                what,
                type(error).__name__,
                str(error)[:500],
                "hint: set the logger `colline` to DEBUG for the traceback",
            )
        log.debug("%s", kind, exc_info=error)
