"""Runs an unmodified PySpark script and calls a hook for each Spark session it creates.

The script runs as `__main__` with its own `sys.argv`; its output, exceptions and exit code are unchanged. The hook is
installed when the script imports PySpark and not before: a script may first choose its PySpark (`findspark`).
"""

from __future__ import annotations

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

from colline.environment.extras import missing_extra
from colline.terminal_text import get_logger

logger = get_logger("colline")

SPARK_PACKAGES = ("pyspark", "py4j", "delta")
SESSION_MODULE = "pyspark.sql.session"


@dataclass(frozen=True)
class Script:
    """A Python file and the arguments it is run with."""

    path: Path
    arguments: tuple[str, ...] = ()

    def run(self) -> None:
        """Run it like `python path arguments…`. Its exceptions pass through unchanged."""
        sys.argv = [str(self.path), *self.arguments]
        if not getattr(sys.flags, "safe_path", False):
            sys.path[0] = str(self.path.resolve().parent)
        sys.excepthook = _script_traceback_hook(str(self.path), sys.excepthook)
        main = ModuleType("__main__")
        loader = SourceFileLoader("__main__", str(self.path))
        main.__dict__.update(__file__=str(self.path), __loader__=loader)
        sys.modules["__main__"] = main
        exec(_compile(self.path), main.__dict__)  # noqa: S102 - runs the user's script


def on_session(callback: Callable[[Any], object]) -> None:
    """Call `callback` with every session that PySpark creates from now on. Its exceptions are logged, never raised."""
    module = sys.modules.get(SESSION_MODULE)
    if module is not None:
        _hook_session(module, callback)
    else:
        sys.meta_path.insert(0, _SessionModuleFinder(callback))


def _hook_session(module: ModuleType, callback: Callable[[Any], object]) -> None:
    """Wrap the constructor of SparkSession, which `getOrCreate` and `newSession` call as well."""
    session_class = module.SparkSession
    original = session_class.__init__

    @wraps(original)
    def init(self: Any, *arguments: Any, **named: Any) -> None:
        original(self, *arguments, **named)
        try:
            callback(self)
        except Exception:  # capture must never fail the user's job
            logger.warning("capture could not start; the script runs without it", exc_info=True)

    session_class.__init__ = init


class _SessionModuleFinder(MetaPathFinder):
    """Finds only PySpark's session module, and adds the hook to its loader."""

    def __init__(self, callback: Callable[[Any], object]) -> None:
        self._callback = callback

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """PySpark's own module spec with a loader that installs the hook; None for every other module."""
        if fullname != SESSION_MODULE:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _HookingLoader(spec.loader, self._callback)
        return spec


class _HookingLoader(Loader):
    """Loads a module with its original loader, then installs the hook."""

    def __init__(self, original: Loader, callback: Callable[[Any], object]) -> None:
        self._original = original
        self._callback = callback

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module with the original loader."""
        return self._original.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module, then install the hook."""
        self._original.exec_module(module)
        _hook_session(module, self._callback)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


def _compile(path: Path) -> CodeType:
    return compile(path.read_bytes(), str(path), "exec", dont_inherit=True)


_ExceptHook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]


def _script_traceback_hook(path: str, show: _ExceptHook) -> _ExceptHook:
    """An exception hook that leaves out the frames above the script, which are colline's.

    Below the trace of a script that does not find Spark is the command that installs it.
    """

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        while trace is not None and trace.tb_frame.f_code.co_filename != path:
            trace = trace.tb_next
        show(kind, error.with_traceback(trace), trace)
        found = missing_extra(error) if isinstance(error, ModuleNotFoundError) else None
        if found is not None and found.package in SPARK_PACKAGES:
            sys.stderr.write(f"hint: {found.hint}\n")

    return hook
