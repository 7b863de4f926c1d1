"""A SQL script cut into its statements."""

from __future__ import annotations

import re
from collections.abc import Iterator

# a quoted text, a quoted name, a comment, or one character: whatever comes first
_PIECE = re.compile(
    r"""'(?:\\.|''|[^'\\])*'|"(?:\\.|""|[^"\\])*"|`(?:``|[^`])*`|--[^\n]*|/\*.*?\*/|.""",
    re.DOTALL,
)


def split(text: str) -> list[str]:
    """The statements of a script, without their semicolons; a semicolon inside quotes or comments ends nothing.

    `select ';'; -- a; b` → [`select ';'`]
    """
    return [statement for statement in _statements(text.replace("\r\n", "\n")) if statement]


def _statements(text: str) -> Iterator[str]:
    found: list[str] = []
    has_code = False
    for piece in _PIECE.findall(text):
        if piece == ";":
            yield "".join(found).strip() if has_code else ""
            found, has_code = [], False
            continue
        found.append(piece)
        has_code = has_code or not (piece.isspace() or piece.startswith(("--", "/*")))
    yield "".join(found).strip() if has_code else ""
