"""Tables → arrays → answers: the lineage graph served from mapped arrays, and every question asked of it."""

from colline.graph.answer import Answer
from colline.graph.lineage import Lineage, open_lake

__all__ = ["Answer", "Lineage", "open_lake"]
