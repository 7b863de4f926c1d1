"""What happens when the program ends: runs shutdown hooks, records the exit status, limits the last deliveries.

Shutdown hooks run at interpreter exit, after `sys.exit`, an uncaught exception, Ctrl-C and SIGTERM. The newest runs
first, so a watch emits its final event before the transport that it uses is closed.
"""

from __future__ import annotations

import atexit
import builtins
import math
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from types import FrameType, TracebackType
from typing import Any, NoReturn

from colline.terminal_text import get_logger

log = get_logger("colline.transport")

# Kubernetes and systemd send SIGKILL 30 s or more after SIGTERM.
_SIGTERM_SECONDS = 25.0
_LAST_ATTEMPT_SECONDS = 2.0
_LAST_ATTEMPT_SECONDS_AFTER_RETRIES = 0.3


class ShutdownDeadline:
    """Until when a closing transport tries to deliver."""

    def __init__(self, default_seconds: float) -> None:
        self._default_seconds = default_seconds
        self._at = math.inf
        self._is_default = False

    @property
    def is_set(self) -> bool:
        """Whether the transport is closing."""
        return self._at < math.inf

    def start(self, timeout: float | None) -> None:
        """Set the deadline to `timeout` seconds from now; None means the default."""
        self._is_default = timeout is None
        self._at = monotonic() + (self._default_seconds if timeout is None else timeout)

    def shorten(self, failures: int) -> None:
        """Leave time for one more attempt only, if the last deliveries failed and the caller gave no timeout.

        At the end of a program nobody asked to wait, and the job must not be delayed by a server that is down.
        """
        if self._is_default and failures:
            seconds = _LAST_ATTEMPT_SECONDS if failures == 1 else _LAST_ATTEMPT_SECONDS_AFTER_RETRIES
            self._at = min(self._at, monotonic() + seconds)

    def seconds_left(self) -> float:
        """Infinite if the transport is not closing, 0 if the deadline is over."""
        return max(0.0, self._at - monotonic())


@dataclass(frozen=True, slots=True)
class ProgramExit:
    """How the program ends. It failed after an uncaught exception, Ctrl-C, SIGTERM or a non-zero `sys.exit`."""

    has_failed: bool = False
    reason: str = ""


_program_exit = ProgramExit()
_is_installed = False
_hooks: list[Callable[[], None]] = []


def program_exit() -> ProgramExit:
    """How the program ends, as far as it is known. A running program has not failed."""
    return _program_exit


def record_exit(failure: str | None) -> None:
    """Record how the program ends: None for success, or why it failed."""
    global _program_exit  # noqa: PLW0603 - the interpreter exits once
    _program_exit = ProgramExit(has_failed=failure is not None, reason=failure or "")


def register_shutdown_hook(hook: Callable[[], None]) -> None:
    """Run `hook` when the program ends. An exception in it is logged."""
    observe_exit()

    def run_hook() -> None:
        try:
            hook()
        except Exception:
            log.exception("colline: shutdown hook failed")

    _hooks.append(run_hook)
    atexit.register(run_hook)


def _run_hooks() -> None:
    for hook in reversed(_hooks):
        hook()


def observe_exit() -> None:
    """Record from now on how the program ends. Existing hooks of the interpreter are still called."""
    global _is_installed  # noqa: PLW0603 - the interpreter exits once
    if _is_installed:
        return
    _is_installed = True
    previous_excepthook, previous_exit = sys.excepthook, sys.exit

    def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
        record_exit(f"{kind.__name__}: {error}" if str(error) else kind.__name__)
        return previous_excepthook(kind, error, trace)

    def exit_program(status: Any = None, /) -> NoReturn:
        # A notebook kernel catches SystemExit and continues; in another thread it ends only that thread.
        if threading.current_thread() is threading.main_thread() and not hasattr(builtins, "get_ipython"):
            record_exit(None if status is None or status == 0 else f"sys.exit({status!r})")
        previous_exit(status)

    sys.excepthook = excepthook
    sys.exit = exit_program
    _observe_quitters(exit_program)
    _observe_sigterm()


def _observe_quitters(exit_program: Callable[[Any], NoReturn]) -> None:
    """Observe `exit(3)` and `quit(3)`: objects of the `site` module that raise SystemExit without `sys.exit`."""
    for name in ("exit", "quit"):
        kind = type(getattr(builtins, name, None))
        if kind.__name__ == "Quitter":
            setattr(kind, "__call__", lambda _self, code=None: exit_program(code))  # noqa: B010 - mypy forbids `kind.__call__ = …`


def _observe_sigterm() -> None:
    """Run the hooks before SIGTERM ends the program, unless the program has its own handler."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        return

    def handle_sigterm(number: int, _frame: FrameType | None) -> None:
        record_exit("SIGTERM")
        # On another thread, because the main thread may be in the middle of a call on its only connection to the JVM.
        thread = threading.Thread(target=_run_hooks, name="colline-shutdown", daemon=True)
        thread.start()
        thread.join(_SIGTERM_SECONDS)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def restore_default_in_child() -> None:
        if signal.getsignal(signal.SIGTERM) is handle_sigterm:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    signal.signal(signal.SIGTERM, handle_sigterm)
    os.register_at_fork(after_in_child=restore_default_in_child)
