"""Makes text safe to print and to log: names come from events and files, and may contain any character."""

from __future__ import annotations

import logging
import re

_WHITESPACE = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]+")
# C0, DEL and C1 control characters, and characters that change the direction of text
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def escape_control_characters(text: str) -> str:
    r"""The text on one line, with control characters spelled out: ESC becomes `\x1b`, a direction mark `\u202e`."""
    return _CONTROL.sub(_escape_sequence, _WHITESPACE.sub(" ", text))


def escape_lines(text: str) -> str:
    """The same for text of several lines: line feeds are kept."""
    return "\n".join(map(escape_control_characters, text.split("\n")))


def _escape_sequence(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def get_logger(name: str) -> logging.Logger:
    """The logger with this name, which escapes control characters in messages and tracebacks."""
    logger = logging.getLogger(name)
    if _escape_record not in logger.filters:
        logger.addFilter(_escape_record)
    return logger


def _escape_record(record: logging.LogRecord) -> bool:
    """A logging filter. Lines after the first are indented, so that a name with a line feed cannot forge a record."""
    first, *others = escape_lines(record.getMessage()).split("\n")
    record.msg = "\n".join((first, *(line if line.startswith("hint: ") else f"  {line}" for line in others)))
    record.args = ()
    if record.exc_info:
        trace = escape_lines(logging.Formatter().formatException(record.exc_info))
        record.exc_text = trace.replace("\n", "\n  ")
    return True
