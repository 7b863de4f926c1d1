"""Spark settings the pipeline needs while it works, put back afterwards: the session belongs to its user."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from colline.pipeline.landing import ONE_FILE_EACH

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALWAYS = {**ONE_FILE_EACH, "spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "true"}
# Planning again after each stage costs more than it gives when there is one machine.
ON_ONE_MACHINE = {"spark.sql.adaptive.enabled": "false"}


@contextmanager
def pipeline_settings(spark: SparkSession) -> Iterator[None]:
    """The session with the pipeline's settings for as long as the block lasts."""
    wanted = {**ALWAYS, **(ON_ONE_MACHINE if spark.sparkContext.master.startswith("local") else {})}
    before = {key: spark.conf.get(key, None) for key in (*wanted, "spark.sql.shuffle.partitions")}
    for key, value in wanted.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            spark.conf.unset(key) if old is None else spark.conf.set(key, old)
