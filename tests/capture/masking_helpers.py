"""Functions that the tests of masking call through a module."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any


def mask(value: str, salt: str = "s") -> str:
    return hashlib.sha256((salt + value).encode()).hexdigest()


def half_mask(value: str) -> str:
    return value[:2] + mask(value)


def hashing(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **named: Any) -> str:
        return hashlib.md5(str(function(*args, **named)).encode()).hexdigest()

    return wrapper


def counting(function: Callable[..., Any]) -> Callable[..., Any]:
    calls = {"count": 0}

    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        calls["count"] += 1
        return function(*args)

    return wrapper


class Hasher:
    """Hashes with a salt."""

    prefix = "h-"

    def __init__(self, salt: str, algorithm: Any = hashlib.sha256) -> None:
        self.salt = salt
        self.algorithm = algorithm
        self.last = ""

    def mask(self, value: str) -> str:
        return self.prefix + self._digest(value)

    def leak(self, value: str) -> str:
        previous, self.last = self.last, value
        return self._digest(value) + previous

    def _digest(self, value: str) -> str:
        found: str = self.algorithm((self.salt + value).encode()).hexdigest()
        return found

    def __call__(self, value: str) -> str:
        return self.mask(value)
