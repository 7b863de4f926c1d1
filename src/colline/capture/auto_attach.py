"""Attaches to every Spark session of this interpreter, without a change to the notebook or script.

The wheel contains `colline_attach.pth`, which imports this module when Python starts with COLLINE_ATTACH=1. Settings
come from the environment, from `colline.toml` and from the session's own `spark.colline.*` properties.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from colline.capture.run_script import on_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WORKERS = ("pyspark.daemon", "pyspark.worker")


def install() -> None:
    """Attach to each session that PySpark creates from now on. Spark's Python workers create none."""
    if not any(word in sys.orig_argv for word in _WORKERS):
        on_session(_attach)


def _attach(session: SparkSession) -> None:
    from colline.capture.attach import attach

    attach(session)


install()
