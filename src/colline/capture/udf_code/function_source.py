"""Finds the syntax tree of a function from its code object."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import TypeAlias

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_MAX_SOURCE_CHARS = 2_000_000
_MAX_FILES = 64


def function_nodes(code: CodeType) -> tuple[FunctionNode, ...]:
    """The syntax of a function: several if its line has several lambdas, none if its source is not available.

    Source that was edited after Python had read it is refused: it must compile to the same byte code.
    """
    parsed = _parse(code.co_filename)
    if parsed is None:
        return ()
    tree, codes = parsed
    if not any(_is_same(code, each) for each in codes):
        return ()
    wanted = (code.co_name, code.co_firstlineno)
    return tuple(node for node in _functions(tree) if (_name(node), _line(node)) == wanted)


@lru_cache(maxsize=_MAX_FILES)
def _parse(filename: str) -> tuple[ast.Module, tuple[CodeType, ...]] | None:
    text = "".join(linecache.getlines(filename))
    if not text or len(text) > _MAX_SOURCE_CHARS:
        return None
    try:
        tree = ast.parse(text, filename)
        code = compile(tree, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):  # a notebook cell can contain magic commands
        return None
    return tree, tuple(_nested_codes(code))


def _nested_codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _nested_codes(constant)


def _is_same(left: CodeType, right: CodeType) -> bool:
    return (
        left.co_name == right.co_name
        and left.co_firstlineno == right.co_firstlineno
        and left.co_code == right.co_code
        and left.co_names == right.co_names
    )


def _functions(tree: ast.AST) -> Iterator[FunctionNode]:
    for node in ast.walk(tree):
        if isinstance(node, FunctionNode):
            yield node


def _name(node: FunctionNode) -> str:
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def _line(node: FunctionNode) -> int:
    """The line that Python records for a function: that of its first decorator."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(each.lineno for each in decorators)])
