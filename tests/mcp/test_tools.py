"""A real `colline mcp` process, called by the official client over stdio."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

pytestmark = pytest.mark.anyio
TOTAL = "gold.daily_revenue.total"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from colline.graph.snapshot.publish import publish
    from tests.graph.graph_lakes import shop

    lake: Path = shop().write(tmp_path_factory.mktemp("mcp") / "lake")
    publish(lake)
    return lake


async def _session(lake: Path, use: Callable[[Any], Any]) -> Any:
    from mcp import ClientSession, StdioServerParameters, stdio_client

    how = StdioServerParameters(command=sys.executable, args=["-m", "colline", "mcp", "--lake", str(lake)])
    with anyio.fail_after(60):
        async with stdio_client(how) as (reading, writing), ClientSession(reading, writing) as session:
            await session.initialize()
            return await use(session)


async def test_every_question_is_a_tool_with_its_parameters(lake: Path) -> None:
    from colline.graph.queries.registry import REQUESTS

    listed = (await _session(lake, lambda session: session.list_tools())).tools
    names = {tool.name for tool in listed}
    assert names == {form.tool for form in REQUESTS.values() if form.tool is not None}
    assert {"find_columns", "upstream", "schema-impact", "columns", "overview"} <= names
    assert "lake-diff" not in names  # only `colline serve` knows other lakes
    upstream = next(tool for tool in listed if tool.name == "upstream")
    assert upstream.input_schema["required"] == ["column"]
    assert set(upstream.input_schema["properties"]) >= {"column", "as_of", "indirect", "depth", "limit", "cursor"}
    assert all(tool.annotations.read_only_hint for tool in listed)


async def test_answer_equals_the_answer_in_python(lake: Path) -> None:
    from colline.graph import open_lake

    arguments = {"column": [TOTAL], "depth": 2, "indirect": True, "limit": 5}
    result = await _session(lake, lambda session: session.call_tool("upstream", arguments))
    with open_lake(lake) as lineage:
        expected = lineage.upstream(TOTAL, depth=2, indirect=True, limit=5).to_dict()
    assert not result.is_error
    assert result.structured_content == expected
    assert json.loads(result.content[0].text) == expected


async def test_invalid_call_is_reported_and_the_session_continues(lake: Path) -> None:
    async def call_tools(session: Any) -> list[Any]:
        return [
            await session.call_tool("upstream", {"column": ["nothing.like.this"]}),
            await session.call_tool("upstream", {"colum": ["x"]}),
            await session.call_tool("drop_everything", {}),
            await session.call_tool("find_columns", {"q": "total"}),
        ]

    missing, misspelt, unknown, found = await _session(lake, call_tools)
    assert (missing.is_error, missing.structured_content["code"]) == (True, "not_found")
    assert (misspelt.is_error, misspelt.structured_content["code"]) == (True, "bad_parameter")
    assert unknown.is_error
    assert found.structured_content["rows"][0]["field"] == "total"


async def test_empty_lake_is_reported_with_a_hint(tmp_path: Path) -> None:
    result = await _session(tmp_path, lambda session: session.call_tool("find_columns", {"q": "a"}))
    assert (result.is_error, result.structured_content["code"]) == (True, "no_lineage")
    assert "colline ingest" in result.structured_content["hint"]
