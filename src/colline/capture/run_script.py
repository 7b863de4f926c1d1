"""An unmodified PySpark script, run with capture on.

The script is `__main__`, its arguments are `sys.argv`, and what it prints, raises and exits with is its own. The hook
waits for PySpark's session module instead of importing it: a script may choose its PySpark first (`findspark`).
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

logger = logging.getLogger("colline")

SESSION_MODULE = "pyspark.sql.session"


@dataclass(frozen=True)
class Script:
    """A Python file and the arguments it is run with."""

    path: Path
    arguments: tuple[str, ...] = ()

    def run(self) -> None:
        """Run it as `python path arguments…` would; whatever it raises leaves here as it was raised."""
        sys.argv = [str(self.path), *self.arguments]
        if not getattr(sys.flags, "safe_path", False):
            sys.path[0] = str(self.path.resolve().parent)
        sys.excepthook = _own_frames_of(str(self.path), sys.excepthook)
        main = ModuleType("__main__")
        loader = SourceFileLoader("__main__", str(self.path))
        main.__dict__.update(__file__=str(self.path), __loader__=loader)
        sys.modules["__main__"] = main
        exec(_code(self.path), main.__dict__)  # noqa: S102 - running the user's script is the point


def on_session(use: Callable[[Any], object]) -> None:
    """Call `use` with every session PySpark makes from now on; what `use` raises is logged, never raised."""
    module = sys.modules.get(SESSION_MODULE)
    if module is not None:
        _hook(module, use)
    else:
        sys.meta_path.insert(0, _Waiting(use))


def _hook(module: ModuleType, use: Callable[[Any], object]) -> None:
    """Wrap the session's constructor: `getOrCreate`, `newSession` and `SparkSession(context)` all come through it."""
    session_class = module.SparkSession
    made = session_class.__init__

    @wraps(made)
    def init(self: Any, *arguments: Any, **named: Any) -> None:
        made(self, *arguments, **named)
        try:
            use(self)
        except Exception:  # lineage must never fail the user's job
            logger.warning("capture could not start; the script runs without it", exc_info=True)

    session_class.__init__ = init


class _Waiting(MetaPathFinder):
    """Steps aside at once, except for PySpark's session module, whose loading it completes with the hook."""

    def __init__(self, use: Callable[[Any], object]) -> None:
        self._use = use

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """PySpark's own spec with a loader that hooks the module once it is loaded; None for every other module."""
        if fullname != SESSION_MODULE:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Hooking(spec.loader, self._use)
        return spec


class _Hooking(Loader):
    """A loader that does what the real one does, then hooks the session class."""

    def __init__(self, real: Loader, use: Callable[[Any], object]) -> None:
        self._real = real
        self._use = use

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """What the real loader makes."""
        return self._real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """The module as it is, its session class hooked."""
        self._real.exec_module(module)
        _hook(module, self._use)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def _code(path: Path) -> CodeType:
    return compile(path.read_bytes(), str(path), "exec", dont_inherit=True)


_Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]


def _own_frames_of(path: str, show: _Hook) -> _Hook:
    """An exception hook that shows the traceback from the script's first frame on."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
        while trace is not None and trace.tb_frame.f_code.co_filename != path:
            trace = trace.tb_next
        return show(kind, error.with_traceback(trace), trace)

    return hook
