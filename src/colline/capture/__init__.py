"""Session → plan: the tap inside the JVM, the thread that reads it, and the public `attach` and `lineage`."""

from colline.capture.analyze import lineage
from colline.capture.udf_masking import masks

__all__ = ["lineage", "masks"]
