"""Session → plan: the tap inside the JVM, the thread that reads it, and the public `attach` and `lineage`."""

from colline.capture.masks import masks
from colline.capture.query import lineage

__all__ = ["lineage", "masks"]
