"""A lake for the tools, and sessions of the protocol's official client."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def shop_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from colline.graph.snapshot.publish import publish
    from tests.graph.graph_lakes import shop

    lake = shop().write(tmp_path_factory.mktemp("mcp") / "a lake")
    publish(lake)
    return lake


@asynccontextmanager
async def stdio_session(lake: Path) -> AsyncIterator[Any]:
    """A session with a real `colline mcp` process."""
    from mcp import ClientSession, StdioServerParameters, stdio_client

    how = StdioServerParameters(command=sys.executable, args=["-m", "colline", "mcp", "--lake", str(lake)])
    with anyio.fail_after(120):
        async with stdio_client(how) as (reading, writing), ClientSession(reading, writing) as session:
            await session.initialize()
            yield session


@asynccontextmanager
async def http_session(address: str, token: str = "") -> AsyncIterator[Any]:
    """A session with `/mcp` of a running server."""
    from mcp.client.streamable_http import streamable_http_client

    from mcp import ClientSession

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(headers=headers, timeout=60) as client:
        streams = streamable_http_client(f"{address}/mcp", http_client=client)
        async with streams as (reading, writing), ClientSession(reading, writing) as session:
            await session.initialize()
            yield session
