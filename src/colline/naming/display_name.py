"""The short name that people see for a dataset."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SEPARATORS = re.compile(r"[./\\]+")


def short_name(name: str, symlinks: Sequence[str]) -> str:
    """The name in the catalog, else the last two segments of a path: `/lake/silver/orders` → silver.orders."""
    if symlinks:
        return symlinks[0].removeprefix("spark_catalog.")
    parts = [part for part in (part.rstrip(":") for part in _SEPARATORS.split(name)) if part]
    return ".".join(parts[-2:]) if "/" in name else name
