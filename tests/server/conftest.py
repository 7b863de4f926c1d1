"""Asynchronous tests of the server run on asyncio; lakes to serve are those of the graph's tests."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import Server, serving
from storm import storm

sys.path.append(str(Path(__file__).parents[1] / "graph"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def shop_served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over the shop's lake."""
    from graph_lakes import shop

    from colline.graph.snapshot import publish

    lake = shop().write(tmp_path_factory.mktemp("served") / "lake")
    publish(lake)
    with serving(lake) as server:
        yield server


@pytest.fixture(scope="session")
def stormed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """A lake whose server was killed again and again, and the runs it had answered for."""
    lake = tmp_path_factory.mktemp("stormed") / "lake"
    return lake, asyncio.run(storm(lake))
