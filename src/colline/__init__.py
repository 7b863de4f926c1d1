"""Column-level lineage for Spark: which column feeds which, how, and since when.

A Spark plan is a value, lineage is a function of that value, and everything else carries the answer somewhere.
Importing this package imports no Spark, no numpy and no server; each public name loads its part on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from colline.errors import CollineError

if TYPE_CHECKING:
    from colline.capture.analyze import lineage
    from colline.capture.attach import attach
    from colline.capture.runs.job_labels import job
    from colline.capture.udf_masking import masks
    from colline.graph.lineage import Lineage
    from colline.graph.lineage import open_lake as open  # noqa: A004  # the public name is colline.open
    from colline.lake.views import register_views
    from colline.pipeline.ingest import ingest
    from colline.trace import ColumnLineage

__version__ = "0.1.0"
__all__ = [
    "CollineError",
    "ColumnLineage",
    "Lineage",
    "attach",
    "ingest",
    "job",
    "lineage",
    "masks",
    "open",
    "register_views",
]

# public name → (module, attribute) it lives in
_HOMES: dict[str, tuple[str, str]] = {
    "ColumnLineage": ("colline.trace", "ColumnLineage"),
    "lineage": ("colline.capture.analyze", "lineage"),
    "Lineage": ("colline.graph.lineage", "Lineage"),
    "attach": ("colline.capture.attach", "attach"),
    "ingest": ("colline.pipeline.ingest", "ingest"),
    "job": ("colline.capture.runs.job_labels", "job"),
    "masks": ("colline.capture.udf_masking", "masks"),
    "open": ("colline.graph.lineage", "open_lake"),
    "register_views": ("colline.lake.views", "register_views"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'colline' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    with import_module("colline.environment.extras").report_missing_extras():
        return getattr(import_module(module), attribute)


def load_ipython_extension(shell: Any) -> None:
    """Registers the magics of a notebook: `%load_ext colline`, then `%lineage df` or `%%lineage`."""
    import_module("colline.capture.notebook_magics").register_magics(shell)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
