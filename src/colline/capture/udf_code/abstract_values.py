"""The values that reading a function works with: how much of the function's argument a value may reveal."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any, TypeAlias


class Level(IntEnum):
    """What a value reveals of the function's arguments. Of values that are combined, the highest level counts."""

    CONSTANT = 0  # nothing: it does not derive from an argument
    MASKED = 1  # it derives from a hash or a cipher text only
    CLEAR = 2  # it may reveal an argument; also everything that is not understood


@dataclass(frozen=True, slots=True)
class Data:
    """A value that is not a container."""

    level: Level


CONSTANT, MASKED, CLEAR = Data(Level.CONSTANT), Data(Level.MASKED), Data(Level.CLEAR)


@dataclass(eq=False, slots=True)
class Container:
    """A list, dict, frame or other object that can be changed: it reveals what any of its parts reveals."""

    parts: list[Value] = field(default_factory=list)
    is_tuple: bool = False

    def add(self, values: Iterable[Value]) -> None:
        """Add parts, which raises the level for all names of the container."""
        self.parts.extend(value for value in values if value is not self)


class Hasher:
    """A hash object, such as `hashlib.sha256()`: every value that it returns is masked."""


@dataclass(frozen=True, slots=True)
class Tool:
    """An object of a library that encrypts or anonymizes; what a method of it returns depends on the method."""

    library: str


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """An object that exists: a global, a closure value, an attribute of a module."""

    value: Any


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name in a module that is not imported yet: `cryptography.fernet.Fernet`."""

    path: str


@dataclass(frozen=True, slots=True, eq=False)
class LocalFunction:
    """A function that the code defines itself, with the variables around it."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    frame: Any


@dataclass(frozen=True, slots=True, eq=False)
class BoundMethod:
    """A function with the object that it is called on."""

    function: Any
    receiver: Value


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """`functools.partial` of a function."""

    function: Value
    arguments: Arguments


@dataclass(eq=False, slots=True)
class Instance:
    """An object of a class that the code creates."""

    cls: type
    attributes: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One of several values."""

    values: tuple[Value, ...]


class Special(Enum):
    """Functions that return a function."""

    UNCHANGED = "returns its argument"


Value: TypeAlias = (
    Data
    | Container
    | Hasher
    | Tool
    | Known
    | Symbol
    | LocalFunction
    | BoundMethod
    | Partial
    | Instance
    | Choice
    | Special
)


@dataclass(frozen=True, slots=True, eq=False)
class Arguments:
    """The arguments of a call. `extra` are those whose parameter is unknown: `*args`, `**named`."""

    positional: tuple[Value, ...] = ()
    named: dict[str, Value] = field(default_factory=dict)
    extra: tuple[Value, ...] = ()

    @property
    def all(self) -> tuple[Value, ...]:
        """Every argument."""
        return (*self.positional, *self.named.values(), *self.extra)


_CONSTANT_TYPES = (str, bytes, int, float, complex, bool, type(None))
_MAX_CHOICES = 32


def level_of(value: Value) -> Level:
    """What a value reveals."""
    highest, stack, seen = Level.CONSTANT, [value], set[int]()
    while stack and highest is not Level.CLEAR:
        found = stack.pop()
        if isinstance(found, Container | Choice):
            if id(found) not in seen:
                seen.add(id(found))
                stack.extend(found.parts if isinstance(found, Container) else found.values)
        else:
            highest = max(highest, _own_level(found))
    return highest


def _own_level(value: Value) -> Level:
    if isinstance(value, Data):
        return value.level
    if isinstance(value, Hasher):
        return Level.MASKED
    return Level.CONSTANT if isinstance(value, Known) and is_constant(value.value) else Level.CLEAR


def is_constant(value: Any) -> bool:
    """Whether an object cannot change and reveals nothing: text, a number, a tuple of these."""
    return type(value) in _CONSTANT_TYPES or (type(value) is tuple and all(map(is_constant, value)))


def combine(values: Iterable[Value]) -> Value:
    """A new value that is computed from these."""
    found = tuple(values)
    if any(isinstance(value, Container) for value in found):
        return Container(list(found))
    return Data(max(map(level_of, found), default=Level.CONSTANT))


def join_values(values: Iterable[Value]) -> Value:
    """One of these values."""
    distinct = list({id(value): value for value in values}.values())
    if len(distinct) == 1:
        return distinct[0]
    if not distinct:
        return CONSTANT
    if all(isinstance(value, Data) for value in distinct):
        return Data(max(map(level_of, distinct)))
    flat = [each for value in distinct for each in (value.values if isinstance(value, Choice) else (value,))]
    unique = tuple({id(value): value for value in flat}.values())
    return Choice(unique) if len(unique) <= _MAX_CHOICES else CLEAR
