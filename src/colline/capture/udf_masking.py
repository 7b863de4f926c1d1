"""A look into Python UDFs, which live in this process: does the function's own code hash or encrypt?"""

from __future__ import annotations

import base64
import dis
import logging
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

from colline.plan.node import Node

log = logging.getLogger("colline")

MARK = "__colline_masks__"
_Function = TypeVar("_Function", bound=Callable[..., Any])

# modules whose use says that a value is hidden
HIDING = frozenset(
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
_DEPTH = 4


def masks(function: _Function) -> _Function:
    """The same function, marked: lineage through it counts as masked. Stands above or below `@udf`.

    ```python
    @udf("string")
    @colline.masks
    def token(email): ...
    ```
    """
    inner = getattr(function, "func", function)  # a UserDefinedFunction carries the function it wraps
    setattr(inner, MARK, True)
    if inner is not function:
        setattr(function, MARK, True)
    return function


def is_masking_udf(node: Node) -> bool:
    """Whether this function is marked with `@colline.masks`, or its code calls something that hides."""
    described = node.optional("func")
    command = described.text("command") if described is not None else ""
    return _masks(command) if command else False


@lru_cache(maxsize=1024)
def _masks(command: str) -> bool:
    try:
        function = _loaded(command)
        return bool(getattr(function, MARK, False)) or hides(function)
    except Exception as error:  # noqa: BLE001  a function that cannot be looked at is not thereby a fault of the job
        log.info("a Python function could not be looked into: %r", error)
        return False


def _loaded(command: str) -> Any:
    from pyspark.serializers import CloudPickleSerializer

    loaded = CloudPickleSerializer().loads(base64.b64decode(command))
    function = loaded[0] if isinstance(loaded, tuple) else loaded
    return getattr(function, "func", function)


def hides(function: Any, depth: int = _DEPTH) -> bool:
    """Whether the code of `function`, or of a function of the user's that it calls, uses a module of `HIDING`."""
    if _home(function) in HIDING:
        return True
    inner = _unwrapped(function)
    if depth == 0 or inner is None:
        return False
    return any(_imports(code) for code in _codes(inner.__code__)) or any(
        _is_hiding(value, depth) for value in _used(inner)
    )


def _unwrapped(function: Any) -> FunctionType | None:
    seen = getattr(function, "__wrapped__", function)
    if isinstance(seen, FunctionType):
        return seen
    method = vars(type(function)).get("__call__")
    return method if isinstance(method, FunctionType) else None


def _is_hiding(value: Any, depth: int) -> bool:
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in HIDING
    if _home(value) in HIDING:
        return True
    return isinstance(value, FunctionType) and hides(value, depth - 1)


def _home(value: Any) -> str:
    module = getattr(value, "__module__", None) or getattr(type(value), "__module__", "")
    return str(module).partition(".")[0]


def _used(function: FunctionType) -> Iterator[Any]:
    """The globals and closed-over values that a function's code refers to."""
    for code in _codes(function.__code__):
        yield from (function.__globals__[name] for name in code.co_names if name in function.__globals__)
    for cell in function.__closure__ or ():
        yield cell.cell_contents


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _imports(code: CodeType) -> bool:
    steps = dis.get_instructions(code)
    return any(step.opname == "IMPORT_NAME" and str(step.argval).partition(".")[0] in HIDING for step in steps)
