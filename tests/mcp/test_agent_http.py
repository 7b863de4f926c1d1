"""`/mcp` of a real server: tokens with read scope, and the same answers as over stdio."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from colline.mcp.tools import LakeTools
from colline.server.server_settings import token_file
from colline.server.tokens import TokenBook
from tests.server.serving import serving

from .conftest import http_session

pytestmark = pytest.mark.anyio
QUESTION = {"column": ["platinum.kpi.revenue"]}


async def test_answers_equal_stdio_and_need_read_scope(shop_lake: Path) -> None:
    book = TokenBook(token_file(shop_lake))
    reading = book.create("agent", ("read",), None)[1]
    sending = book.create("job", ("send",), None)[1]
    with serving(shop_lake, "--require-token", "--no-access-log") as server:
        async with http_session(server.address, reading) as session:
            result = await session.call_tool("trace", QUESTION)
            assert len((await session.list_tools()).tools) == 12
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        with httpx.Client(base_url=server.address) as client:
            assert client.post("/mcp", json=body).status_code == 401
            assert client.post("/mcp", json=body, headers={"Authorization": f"Bearer {sending}"}).status_code == 403
            large = {"Authorization": f"Bearer {reading}", "Content-Type": "application/json"}
            assert client.post("/mcp", content=b"[" * 2_000_000, headers=large).status_code in (400, 413)
            assert client.get("/healthz").status_code == 200
    assert result.content[0].text == LakeTools(shop_lake).reply("trace", QUESTION).text
