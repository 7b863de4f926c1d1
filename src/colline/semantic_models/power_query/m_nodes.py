"""The syntax tree of M as frozen values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MConstant:
    """A literal; `text` is set for a text."""

    text: str | None = None


@dataclass(frozen=True, slots=True)
class MName:
    """An identifier."""

    name: str


@dataclass(frozen=True, slots=True)
class MCall:
    """A function with its arguments."""

    function: MNode
    arguments: tuple[MNode, ...]
    line: int


@dataclass(frozen=True, slots=True)
class MField:
    """`target[name]`; without a target, a field of `_`."""

    target: MNode | None
    name: str


@dataclass(frozen=True, slots=True)
class MProjection:
    """`target[[a], [b]]`: some columns of a table."""

    target: MNode
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MItem:
    """`target{key}`: a row or an item."""

    target: MNode
    key: MNode


@dataclass(frozen=True, slots=True)
class MLet:
    """`let a = …, b = … in …`."""

    bindings: tuple[tuple[str, MNode], ...]
    body: MNode


@dataclass(frozen=True, slots=True)
class MIf:
    """`if … then … else if … else …`: conditions and results."""

    conditions: tuple[MNode, ...]
    results: tuple[MNode, ...]


@dataclass(frozen=True, slots=True)
class MFunction:
    """`(a, b) => …`; `each …` is `(_) => …`."""

    parameters: tuple[str, ...]
    body: MNode


@dataclass(frozen=True, slots=True)
class MList:
    """`{a, b}`."""

    items: tuple[MNode, ...]


@dataclass(frozen=True, slots=True)
class MRecord:
    """`[a = 1, b = 2]`."""

    fields: tuple[tuple[str, MNode], ...]


@dataclass(frozen=True, slots=True)
class MOperation:
    """Operands with the operators between them."""

    operators: tuple[str, ...]
    operands: tuple[MNode, ...]


MNode = MConstant | MName | MCall | MField | MProjection | MItem | MLet | MIf | MFunction | MList | MRecord | MOperation
