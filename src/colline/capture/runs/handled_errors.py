"""Finds out from the source code whether the exception that a program is handling ends it or not."""

from __future__ import annotations

import ast
import linecache
from types import FrameType

_MAX_SOURCE_CHARS = 2_000_000


def is_handled(frame: FrameType | None) -> bool:
    """Whether the call is in an `except` block that does not raise again; false in `finally`, or without the source."""
    while frame is not None:
        block = _block_around(frame)
        if block is not None:
            return isinstance(block, ast.ExceptHandler) and not any(
                isinstance(each, ast.Raise) for each in ast.walk(block)
            )
        frame = frame.f_back
    return False


def _block_around(frame: FrameType) -> ast.ExceptHandler | ast.Try | None:
    """The innermost `except` block around the current line, or the statement whose `finally` block it is in."""
    text = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
    if not text or len(text) > _MAX_SOURCE_CHARS:
        return None
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):  # a notebook cell can contain magic commands
        return None
    found: ast.ExceptHandler | ast.Try | None = None
    for node in ast.walk(tree):  # outer blocks come before inner ones
        if not isinstance(node, ast.Try) or node.lineno < frame.f_code.co_firstlineno:
            continue
        for handler in node.handlers:
            if _contains([handler], frame.f_lineno):
                found = handler
        if _contains(node.finalbody, frame.f_lineno):
            found = node
    return found


def _contains(nodes: list[ast.ExceptHandler] | list[ast.stmt], line: int) -> bool:
    return bool(nodes) and nodes[0].lineno <= line <= (nodes[-1].end_lineno or 0)
