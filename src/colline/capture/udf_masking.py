"""Decides whether a Python UDF masks its argument: marked with `@colline.masks`, or its code hashes or encrypts."""

from __future__ import annotations

import base64
import dis
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

from colline.plan.node import Node
from colline.terminal_text import get_logger

log = get_logger("colline")

MARK = "__colline_masks__"
_Function = TypeVar("_Function", bound=Callable[..., Any])

# modules that hash, encrypt or anonymize: a function that uses one of them masks its argument
MASKING_MODULES = frozenset(
    {
        "hashlib",
        "_hashlib",
        "hmac",
        "secrets",
        "cryptography",
        "bcrypt",
        "argon2",
        "passlib",
        "nacl",
        "Crypto",
        "Cryptodome",
        "mmh3",
        "xxhash",
        "blake3",
        "presidio_anonymizer",
        "presidio_analyzer",
        "presidio",
        "faker",
        "_sha1",
        "_sha2",
        "_md5",
        "_blake2",
    }
)
_MAX_CALL_DEPTH = 4


def masks(function: _Function) -> _Function:
    """Decorator: lineage through this function is masked. Works above or below `@udf`.

    ```python
    @udf("string")
    @colline.masks
    def token(email): ...
    ```
    """
    inner = getattr(function, "func", function)  # a UserDefinedFunction wraps the function
    setattr(inner, MARK, True)
    if inner is not function:
        setattr(function, MARK, True)
    return function


def is_masking_udf(node: Node) -> bool:
    """Whether the Python UDF of this expression masks its argument."""
    function = node.optional("func")
    pickled = function.text("command") if function is not None else ""
    return _is_masking(pickled) if pickled else False


@lru_cache(maxsize=1024)
def _is_masking(pickled: str) -> bool:
    try:
        function = _unpickle(pickled)
        return bool(getattr(function, MARK, False)) or uses_masking_module(function)
    except Exception as error:  # noqa: BLE001 - a function that cannot be inspected must not fail the job
        log.info("a Python UDF could not be inspected for masking: %r", error)
        return False


def _unpickle(pickled: str) -> Any:
    from pyspark.serializers import CloudPickleSerializer

    loaded = CloudPickleSerializer().loads(base64.b64decode(pickled))
    function = loaded[0] if isinstance(loaded, tuple) else loaded
    return getattr(function, "func", function)


def uses_masking_module(function: Any, depth: int = _MAX_CALL_DEPTH) -> bool:
    """Whether `function`, or a Python function that it calls, uses a module of `MASKING_MODULES`."""
    if _top_module(function) in MASKING_MODULES:
        return True
    inner = _unwrap(function)
    if depth == 0 or inner is None:
        return False
    has_import = any(_imports_masking_module(code) for code in _all_code(inner.__code__))
    return has_import or any(_is_masking_value(value, depth) for value in _referenced_values(inner))


def _unwrap(function: Any) -> FunctionType | None:
    wrapped = getattr(function, "__wrapped__", function)
    if isinstance(wrapped, FunctionType):
        return wrapped
    method = vars(type(function)).get("__call__")
    return method if isinstance(method, FunctionType) else None


def _is_masking_value(value: Any, depth: int) -> bool:
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in MASKING_MODULES
    if _top_module(value) in MASKING_MODULES:
        return True
    return isinstance(value, FunctionType) and uses_masking_module(value, depth - 1)


def _top_module(value: Any) -> str:
    module = getattr(value, "__module__", None) or getattr(type(value), "__module__", "")
    return str(module).partition(".")[0]


def _referenced_values(function: FunctionType) -> Iterator[Any]:
    """The global and closure values that a function's code refers to."""
    for code in _all_code(function.__code__):
        yield from (function.__globals__[name] for name in code.co_names if name in function.__globals__)
    for cell in function.__closure__ or ():
        yield cell.cell_contents


def _all_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_code(constant)


def _imports_masking_module(code: CodeType) -> bool:
    steps = dis.get_instructions(code)
    return any(step.opname == "IMPORT_NAME" and str(step.argval).partition(".")[0] in MASKING_MODULES for step in steps)
