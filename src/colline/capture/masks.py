"""`@colline.masks`: this function hides its argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

MARK = "__colline_masks__"

_Function = TypeVar("_Function", bound=Callable[..., Any])


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
