"""How a name is cut into the parts that a suffix may begin at, and how parts are joined in the arrays."""

from __future__ import annotations

import re

SEPARATOR = "\x1f"
_CUT = re.compile(r"[./\\]+")


def segments(text: str) -> list[str]:
    """The parts of a name that a suffix may begin at: `s3://lake/gold/orders` → s3, lake, gold, orders."""
    return [part.rstrip(":") for part in _CUT.split(text) if part.rstrip(":")]
