"""Asynchronous tests of the server run on asyncio; lakes to serve are those of the graph's tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import Server, serving

sys.path.append(str(Path(__file__).parents[1] / "graph"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def shop_served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over the shop's lake."""
    from graph_lakes import shop

    from colline.graph.snapshot.publish import publish

    folder = tmp_path_factory.mktemp("served")
    lake, other = shop().write(folder / "lake"), shop().write(folder / "other lake")
    publish(lake)
    publish(other)
    with serving(lake, "--other-lake", f"earlier={other}") as server:
        yield server
