"""How the program ends, and what still happens then.

At interpreter exit, `sys.exit`, an uncaught exception, Ctrl-C and SIGTERM, whatever was given to `at_end` runs, newest
first, so a watch says its last word before the transports below it drain and close.
"""

from __future__ import annotations

import atexit
import builtins
import os
import signal
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType
from colline.terminal_text import get_logger

log = get_logger("colline.transport")


@dataclass(frozen=True, slots=True)
class Ending:
    """How the program ends. `failed` is true for an uncaught exception, Ctrl-C and a non-zero `sys.exit`."""

    failed: bool = False
    why: str = ""


_ending = Ending()
_installed = False
_calls: list[Callable[[], None]] = []
_TERM_SECONDS = 25.0  # less than the 30 s that Kubernetes and systemd leave between SIGTERM and SIGKILL at least


def ending() -> Ending:
    """How the program ends, as far as it is known now; a program that still runs is not failed."""
    return _ending


def at_end(call: Callable[[], None]) -> None:
    """Run `call` when the program ends, however it ends; what it raises is logged."""
    watch_exits()

    def guarded() -> None:
        try:
            call()
        except Exception:
            log.exception("colline: stumbled at the end of the program")

    _calls.append(guarded)
    atexit.register(guarded)


def watch_exits() -> None:
    """From now on `ending` knows how the program ends. Hooks that were there before are called as before."""
    global _installed  # noqa: PLW0603 (the interpreter has one exit)
    if _installed:
        return
    _installed = True
    before_hook, before_exit = sys.excepthook, sys.exit

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
        record(f"{kind.__name__}: {error}" if str(error) else kind.__name__)
        return before_hook(kind, error, trace)

    def leave(status: Any = None, /) -> NoReturn:
        # In a notebook the kernel catches it and goes on; in a side thread only that thread ends.
        if threading.current_thread() is threading.main_thread() and not hasattr(builtins, "get_ipython"):
            record(None if status is None or status == 0 else f"sys.exit({status!r})")
        before_exit(status)

    sys.excepthook = hook
    sys.exit = leave
    _watch_quitters(leave)
    _watch_term()


def _watch_term() -> None:
    """SIGTERM still ends the program, and as before; a handler of the program's own is left alone."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        return

    def terminated(number: int, _frame: FrameType | None) -> None:
        record("SIGTERM")
        # A thread of its own: the main thread may be in the middle of a call to the JVM, on its only connection.
        last = threading.Thread(target=_run_calls, name="colline-end", daemon=True)
        last.start()
        last.join(_TERM_SECONDS)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def forget_in_child() -> None:
        if signal.getsignal(signal.SIGTERM) is terminated:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    signal.signal(signal.SIGTERM, terminated)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget_in_child)


def _run_calls() -> None:
    for call in reversed(_calls):
        call()


def _watch_quitters(leave: Callable[[Any], NoReturn]) -> None:
    """`exit(3)` and `quit(3)` raise by themselves; they are objects that `site` puts into the builtins."""
    for name in ("exit", "quit"):
        kind = type(getattr(builtins, name, None))
        if kind.__name__ == "Quitter":
            setattr(kind, "__call__", lambda _self, code=None: leave(code))  # noqa: B010 (mypy forbids the plain form)


def record(why: str | None) -> None:
    """Say how the program ends: None for well, else why it failed. For a runner that sees what the hooks cannot."""
    global _ending  # noqa: PLW0603 (the interpreter has one exit)
    _ending = Ending(failed=why is not None, why=why or "")
