"""The fixtures of the graph tests, for commands that read a lake."""

from tests.graph.conftest import lineage, shop_lake

__all__ = ["lineage", "shop_lake"]
