"""M text → tokens with their places in the text. Linear in the length of the text."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

MAX_M_CHARS = 1_000_000


class MTokenKind(Enum):
    """The kind of a token."""

    NUMBER = "number"
    STRING = "string"
    NAME = "name"  # an identifier, with its dots: Table.AddColumn
    QUOTED = "quoted name"  # #"Changed Type"
    KEYWORD = "keyword"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True)
class MToken:
    """A token: `text` is the content of a string or quoted name, otherwise the text itself."""

    kind: MTokenKind
    text: str
    start: int
    end: int
    line: int


class MError(Exception):
    """M text that cannot be read, with the line in the text."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


KEYWORDS = frozenset((
    "and", "as", "each", "else", "error", "false", "if", "in", "is", "let", "meta", "not", "null", "or", "otherwise",
    "section", "shared", "then", "true", "try", "type", "catch",
))  # fmt: skip
_PATTERN = re.compile(
    r"""
    (?P<blank>\s+|//[^\n]*|/\*.*?(?:\*/|(?P<open_comment>\Z)))
  | (?P<quoted>\#"(?:[^"]|"")*(?:"|(?P<open_name>\Z)))
  | (?P<string>"(?:[^"]|"")*(?:"|(?P<open_string>\Z)))
  | (?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<name>[\#@]?[^\W\d]\w*(?:\.[^\W\d]\w*)*)
  | (?P<symbol>=>|\.\.\.|\.\.|<>|<=|>=|\?\?|[-+*/&=<>(){}\[\],;?@!])
    """,
    re.VERBOSE | re.DOTALL,
)
_UNFINISHED = {
    "open_comment": "*/ at the end of the comment",
    "open_string": 'a double quote " at the end of the text',
    "open_name": 'a double quote " at the end of the name',
}
_KINDS = {"number": MTokenKind.NUMBER, "symbol": MTokenKind.SYMBOL}
# escapes in texts: `#(lf)`, `#(cr,lf)`, `#(00e9)`; Power BI writes the lines of a native query so
_ESCAPE_NAME = r"(?:cr|lf|tab|\#|[0-9a-fA-F]{8}|[0-9a-fA-F]{4})"
_ESCAPE = re.compile(rf"\#\(({_ESCAPE_NAME}(?:,{_ESCAPE_NAME})*)\)")
_ESCAPED = {"cr": "\r", "lf": "\n", "tab": "\t", "#": "#"}


def m_tokens(text: str) -> list[MToken]:
    """The tokens of an expression, without blanks and comments."""
    if len(text) > MAX_M_CHARS:
        raise MError(f"{len(text):,} characters of M; at most {MAX_M_CHARS:,} are read")
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[MToken]:
    place, line = 0, 1
    while place < len(text):
        found = _PATTERN.match(text, place)
        if found is None:
            raise MError(f"unexpected character {text[place]!r}", line)
        missing = next((expected for group, expected in _UNFINISHED.items() if found[group] is not None), None)
        if missing is not None:
            raise MError(f"expected {missing}", line)
        token = _token(found, line)
        if token is not None:
            yield token
        line += found[0].count("\n")
        place = found.end()


def _token(found: re.Match[str], line: int) -> MToken | None:
    group = found.lastgroup or ""
    if group == "blank":
        return None
    text = found[group]
    if group in {"string", "quoted"}:
        kind = MTokenKind.STRING if group == "string" else MTokenKind.QUOTED
        return MToken(kind, _text_content(text[text.index('"') + 1 : -1]), found.start(), found.end(), line)
    if group == "name":
        kind = MTokenKind.KEYWORD if text in KEYWORDS else MTokenKind.NAME
        return MToken(kind, text.lstrip("@"), found.start(), found.end(), line)
    return MToken(_KINDS[group], text, found.start(), found.end(), line)


def _text_content(written: str) -> str:
    """The characters that a text stands for: `a""b#(lf)c` → a"b, a line feed, c."""
    return _ESCAPE.sub(lambda found: "".join(map(_character, found[1].split(","))), written.replace('""', '"'))


def _character(name: str) -> str:
    if name in _ESCAPED:
        return _ESCAPED[name]
    code = int(name, 16)
    return chr(code) if code <= sys.maxunicode else ""
