"""The lineage graph: memory-mapped arrays built from the lake's tables, and every question about them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from colline.graph.answer import Answer
    from colline.graph.lineage import Lineage, open_lake

__all__ = ["Answer", "Lineage", "open_lake"]

# loaded on first use, so that the question registry can be read without numpy
_MODULES = {
    "Answer": "colline.graph.answer",
    "Lineage": "colline.graph.lineage",
    "open_lake": "colline.graph.lineage",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
