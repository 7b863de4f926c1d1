"""Decides whether a Python UDF masks: it has `@colline.masks`, or all that it returns is hashed or encrypted."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from colline.capture.udf_code.code_calls import MARK
from colline.capture.udf_code.code_reader import returns_masked_values
from colline.plan.node import Node
from colline.terminal_text import get_logger

log = get_logger("colline")

_Function = TypeVar("_Function", bound=Callable[..., Any])

# take the place of a function's code where the code must not be sent
_VERDICTS = {True: b"colline: masks its argument", False: b"colline: does not mask its argument"}
_VERDICT_BY_CODE = {base64.b64encode(code).decode("ascii"): masks for masks, code in _VERDICTS.items()}


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


def is_masking_by_verdict(node: Node) -> bool:
    """Whether a UDF without code masks its argument. For plans of other programs, whose code must not be loaded."""
    function = node.optional("func")
    return _VERDICT_BY_CODE.get(function.text("command"), False) if function is not None else False


def code_verdict(pickled: bytes) -> bytes:
    """What replaces the code of a function that must not be sent: only whether it masks its argument."""
    if pickled in _VERDICTS.values():
        return pickled
    return _VERDICTS[_is_masking(base64.b64encode(pickled).decode("ascii"))]


@lru_cache(maxsize=1024)
def _is_masking(pickled: str) -> bool:
    if pickled in _VERDICT_BY_CODE:
        return _VERDICT_BY_CODE[pickled]
    try:
        function = _unpickle(pickled)
        return bool(getattr(function, MARK, False)) or returns_masked_values(function)
    except Exception as error:  # noqa: BLE001 - a function that cannot be inspected must not fail the job
        log.info("a Python UDF could not be inspected for masking: %r", error)
        return False


def _unpickle(pickled: str) -> Any:
    from pyspark.serializers import CloudPickleSerializer

    loaded = CloudPickleSerializer().loads(base64.b64decode(pickled))
    function = loaded[0] if isinstance(loaded, tuple) else loaded
    return getattr(function, "func", function)
