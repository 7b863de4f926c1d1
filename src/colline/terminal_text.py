"""Makes names safe to print: they come from events, and a name may contain any character."""

from __future__ import annotations

import re

_WHITESPACE = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]+")
# C0, DEL and C1 control characters, and characters that change the direction of text
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def escape_control_characters(text: str) -> str:
    r"""The text on one line, with control characters spelled out: ESC becomes `\x1b`, a direction mark `\u202e`."""
    return _CONTROL.sub(_spell, _WHITESPACE.sub(" ", text))


def _spell(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
