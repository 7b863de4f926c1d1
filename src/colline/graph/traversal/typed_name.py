"""Names of columns and datasets as people type them, and as programs write them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from colline.errors import ColumnError

_BETWEEN_SEGMENTS = re.compile(r"[./\\]+")
_SEGMENT = re.compile(r"[^./\\]+")
_TOKEN = re.compile(r'"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|([^"`]+)')


def segments(text: str) -> list[str]:
    """The parts of a name at which a suffix can start: `s3://lake/gold/orders` → s3, lake, gold, orders."""
    return [part.rstrip(":") for part in _BETWEEN_SEGMENTS.split(text) if part.rstrip(":")]


@dataclass(frozen=True)
class TypedName:
    """A name as it was typed: its segments, and whether each was quoted and so must match in case.

    `tails` has the text from each segment to the end: a field such as `Commission / Revenue` contains separators.
    """

    text: str
    parts: tuple[str, ...]
    quoted: tuple[bool, ...]
    tails: tuple[str, ...]

    def fits(self, name: str) -> bool:
        """Whether a full name ends with the segments."""
        tail = segments(name)[-len(self.parts) :]
        pairs = zip(tail, self.parts, self.quoted, strict=False)
        is_same = all(a == b if exact else a.lower() == b.lower() for a, b, exact in pairs)
        return len(tail) == len(self.parts) and is_same


def parse(text: str) -> TypedName:
    """`gold.Orders."Total"` → segments gold, Orders, Total, the last one quoted."""
    parts: list[str] = []
    quoted: list[bool] = []
    starts: list[int] = []
    whole = ""
    for double, back, plain in _TOKEN.findall(text.strip()):
        piece = double.replace('""', '"') or back.replace("``", "`") or plain
        found = [each for each in _SEGMENT.finditer(piece) if each[0].rstrip(":")]
        parts += [each[0].rstrip(":") for each in found]
        starts += [len(whole) + each.start() for each in found]
        quoted += [not plain] * len(found)
        whole += piece
    if not parts:
        raise ColumnError("an empty column name", hint="write dataset.column")
    return TypedName(text, tuple(parts), tuple(quoted), tuple(whole[start:] for start in starts))


def parse_exact(text: str) -> tuple[str, ...] | None:
    """`["file", "/lake/a", "b"]` → namespace, name and field: how programs name a column without ambiguity.

    Without a field, the text names a table.
    """
    if not text.startswith('["'):
        return None
    try:
        parts = json.loads(text)
    except ValueError:
        return None
    is_name = isinstance(parts, list) and len(parts) in (2, 3) and all(isinstance(part, str) for part in parts)
    return tuple(parts) if is_name else None
