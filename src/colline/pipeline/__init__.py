"""Landed events → Delta tables: the PySpark pipeline from landing files to gold and snapshot.

`ingest(lake)` works in any Spark session that has Delta: a notebook, `spark-submit`, or the command line's own.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# public name → module it lives in; PySpark is imported when one is asked for
_HOMES = {"ingest": "ingest", "Summary": "ingest", "Watch": "ingest", "Limits": "parse"}
__all__ = ["Limits", "Summary", "Watch", "ingest"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'colline.pipeline' has no attribute {name!r}")
    return getattr(import_module(f"colline.pipeline.{_HOMES[name]}"), name)
