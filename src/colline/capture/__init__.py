"""Reads the plans of a Spark session's queries and turns them into lineage events.

A Java listener inside the JVM queues the plans; a Python thread reads them. `attach` and `lineage` are the entry
points.
"""

from colline.capture.analyze import lineage
from colline.capture.udf_masking import masks

__all__ = ["lineage", "masks"]
