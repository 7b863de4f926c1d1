"""Fixtures of the server tests: asyncio for asynchronous tests, and a server for the lake of the graph tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.serving import Server, serving


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def shop_served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over the shop's lake."""
    from colline.graph.snapshot.publish import publish
    from tests.graph.graph_lakes import shop

    folder = tmp_path_factory.mktemp("served")
    lake, other = shop().write(folder / "lake"), shop().write(folder / "other lake")
    publish(lake)
    publish(other)
    with serving(lake, "--other-lake", f"earlier={other}") as server:
        yield server
