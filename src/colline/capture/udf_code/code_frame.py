"""The variables of a function while its code is read, and the budget that limits how much is read."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from colline.capture.udf_code.abstract_values import CLEAR, Known, Level, Value, join_values, level_of

MAX_STEPS = 50_000
MAX_CALL_DEPTH = 24


class CodeTooComplexError(Exception):
    """The code is longer than the limit; it is then unknown whether it masks."""


@dataclass
class Budget:
    """How many expressions were read, and the functions that are being read."""

    steps: int = 0
    active: list[object] = field(default_factory=list)

    def spend(self) -> None:
        """Count one expression."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise CodeTooComplexError


Variables = dict[str, Value]


@dataclass(eq=False)
class Frame:
    """One call of a function: its variables, what is outside of it, and what it has returned so far."""

    outside: Mapping[str, Any]
    variables: Variables
    local_names: frozenset[str] = frozenset()
    shared_names: frozenset[str] = frozenset()
    parent: Frame | None = None
    returned: list[Value] = field(default_factory=list)
    generated: list[Value] = field(default_factory=list)
    loop_exits: list[Variables] = field(default_factory=list)
    comprehension: list[Variables] = field(default_factory=list)
    loop_depth: int = 0
    revealing_tests: int = 0  # tests around the current code whose outcome reveals a clear value

    def value_in_branch(self, value: Value) -> Value:
        """A value that is returned or assigned. After `v == "DE"`, a constant reveals v; None does not."""
        is_missing = isinstance(value, Known) and value.value is None
        is_revealing = self.revealing_tests > 0 and not is_missing and level_of(value) is Level.CONSTANT
        return CLEAR if is_revealing else value

    def read(self, name: str) -> Value:
        """The value of a name. A variable that other calls can change is clear."""
        for variables in reversed(self.comprehension):
            if name in variables:
                return variables[name]
        if name in self.shared_names or (name in self.local_names and name not in self.variables):
            return CLEAR
        if name in self.variables:
            return self.variables[name]
        return self.parent.read(name) if self.parent is not None else self._read_outside(name)

    def _read_outside(self, name: str) -> Value:
        if name in self.outside:
            return Known(self.outside[name])
        return Known(getattr(builtins, name)) if hasattr(builtins, name) else CLEAR


def names_outside(function: FunctionType) -> dict[str, Any]:
    """The globals and closure variables of a function."""
    closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
    cells = {name: cell.cell_contents for name, cell in closure.items() if not _is_empty(cell)}
    return {**function.__globals__, **cells}


def _is_empty(cell: Any) -> bool:
    try:
        return cell.cell_contents is cell
    except ValueError:
        return True


def join_variables(branches: Iterable[Variables | None]) -> Variables | None:
    """The variables after one of several branches; None if every branch returns or raises."""
    continuing = [branch for branch in branches if branch is not None]
    if len(continuing) <= 1:
        return continuing[0] if continuing else None
    names = dict.fromkeys(name for branch in continuing for name in branch)
    return {name: join_values(branch[name] for branch in continuing if name in branch) for name in names}


def stored_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The names that statements assign, without those inside nested functions."""
    found: set[str] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            continue
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        if not isinstance(node, ast.Lambda):
            stack.extend(ast.iter_child_nodes(node))
    return frozenset(found)


def declared_shared(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The names in `global` and `nonlocal` statements."""
    return frozenset(
        name
        for node in nodes
        for inner in ast.walk(node)
        if isinstance(inner, ast.Global | ast.Nonlocal)
        for name in inner.names
    )
