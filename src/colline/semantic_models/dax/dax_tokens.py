"""DAX text → tokens. Linear in the length of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

MAX_DAX_CHARS = 1_000_000


class DaxToken(Enum):
    """The kind of a token."""

    NUMBER = "number"
    STRING = "string"
    TABLE = "quoted table"  # 'Sales'
    BRACKETS = "brackets"  # [Amount]
    NAME = "name"  # function, keyword, variable or table
    OPERATOR = "operator"
    OPEN = "open"  # ( {
    CLOSE = "close"  # ) }
    COMMA = "comma"  # , and ; of other locales
    DOT = "dot"  # 'Date'[Date].[Month]


@dataclass(frozen=True, slots=True)
class Token:
    """A token: `text` is the name in quotes or brackets, or the text itself."""

    kind: DaxToken
    text: str
    line: int


class DaxError(Exception):
    """DAX text that cannot be read, with the line in the text."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


_PATTERN = re.compile(
    r"""
    (?P<blank>\s+|//[^\n]*|--[^\n]*|/\*.*?(?:\*/|(?P<open_comment>\Z)))
  | (?P<string>(?:dt)?"(?:[^"]|"")*(?:"|(?P<open_string>\Z)))
  | (?P<table>'(?:[^']|'')*(?:'|(?P<open_table>\Z)))
  | (?P<brackets>\[(?:[^\]]|\]\])*(?:\]|(?P<open_brackets>\Z)))
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<name>[^\W\d][\w.]*|@[^\W\d]\w*)
  | (?P<operator>:=|=>|&&|\|\||<>|<=|>=|==|[-+*/^&=<>!:])
  | (?P<open>[({])
  | (?P<close>[)}])
  | (?P<comma>[,;])
  | (?P<dot>\.)
    """,
    re.VERBOSE | re.DOTALL,
)
_UNFINISHED = {
    "open_comment": "*/ at the end of the comment",
    "open_string": 'a double quote " at the end of the text',
    "open_table": "a quote ' at the end of the table name",
    "open_brackets": "] at the end of the name",
}
_KINDS = {
    "string": DaxToken.STRING,
    "table": DaxToken.TABLE,
    "brackets": DaxToken.BRACKETS,
    "number": DaxToken.NUMBER,
    "name": DaxToken.NAME,
    "operator": DaxToken.OPERATOR,
    "open": DaxToken.OPEN,
    "close": DaxToken.CLOSE,
    "comma": DaxToken.COMMA,
    "dot": DaxToken.DOT,
}


def dax_tokens(text: str) -> list[Token]:
    """The tokens of an expression, without blanks and comments."""
    if len(text) > MAX_DAX_CHARS:
        raise DaxError(f"{len(text):,} characters of DAX; at most {MAX_DAX_CHARS:,} are read")
    return list(_tokens(text))


def without_comments(text: str) -> str:
    """The text on one line, without comments; as it is if it cannot be read."""
    try:
        dax_tokens(text)
    except DaxError:
        return " ".join(text.split())
    kept = (" " if found["blank"] is not None else found[0] for found in _PATTERN.finditer(text))
    return " ".join("".join(kept).split())


def _tokens(text: str) -> Iterator[Token]:
    place, line = 0, 1
    while place < len(text):
        found = _PATTERN.match(text, place)
        if found is None:
            raise DaxError(f"unexpected character {text[place]!r}", line)
        missing = next((expected for group, expected in _UNFINISHED.items() if found[group] is not None), None)
        if missing is not None:
            raise DaxError(f"expected {missing}", line)
        kind = found.lastgroup or ""
        if kind in _KINDS:
            yield Token(_KINDS[kind], _content(kind, found[kind]), line)
        line += found[0].count("\n")
        place = found.end()


def _content(kind: str, text: str) -> str:
    if kind == "table":
        return text[1:-1].replace("''", "'")
    if kind == "brackets":
        return text[1:-1].replace("]]", "]")
    if kind == "string":
        return text[text.index('"') + 1 : -1].replace('""', '"')
    return text
