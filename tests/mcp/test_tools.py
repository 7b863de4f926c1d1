"""An agent's view: a real `colline mcp` process, asked by the official client over stdio."""

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

    made: Path = shop().write(tmp_path_factory.mktemp("mcp") / "lake")
    publish(made)
    return made


async def _session(lake: Path, talk: Callable[[Any], Any]) -> Any:
    from mcp import ClientSession, StdioServerParameters, stdio_client

    how = StdioServerParameters(command=sys.executable, args=["-m", "colline", "mcp", "--lake", str(lake)])
    with anyio.fail_after(60):
        async with stdio_client(how) as (reading, writing), ClientSession(reading, writing) as session:
            await session.initialize()
            return await talk(session)


async def test_every_question_is_a_tool_with_its_parameters(lake: Path) -> None:
    from colline.server.endpoints import ENDPOINTS

    listed = (await _session(lake, lambda session: session.list_tools())).tools
    names = {tool.name for tool in listed}
    questions = {endpoint.name for endpoint in ENDPOINTS if endpoint.group == "questions"}
    # another lake can only be named to a server that was told of it
    assert questions - {"columns", "lake-diff"} | {"find_columns"} <= names
    upstream = next(tool for tool in listed if tool.name == "upstream")
    assert upstream.input_schema["required"] == ["column"]
    assert set(upstream.input_schema["properties"]) >= {"column", "as_of", "indirect", "depth", "limit", "cursor"}
    assert all(tool.annotations.read_only_hint for tool in listed)


async def test_an_answer_is_the_graphs_own(lake: Path) -> None:
    from colline.graph import open_lake

    arguments = {"column": [TOTAL], "depth": 2, "indirect": True, "limit": 5}
    told = await _session(lake, lambda session: session.call_tool("upstream", arguments))
    with open_lake(lake) as lineage:
        expected = lineage.upstream(TOTAL, depth=2, indirect=True, limit=5).to_dict()
    assert not told.is_error
    assert told.structured_content == expected
    assert json.loads(told.content[0].text) == expected


async def test_a_wrong_call_is_told_and_the_session_goes_on(lake: Path) -> None:
    async def talk(session: Any) -> list[Any]:
        return [
            await session.call_tool("upstream", {"column": ["nothing.like.this"]}),
            await session.call_tool("upstream", {"colum": ["x"]}),
            await session.call_tool("drop_everything", {}),
            await session.call_tool("find_columns", {"q": "total"}),
        ]

    missing, misspelt, unknown, found = await _session(lake, talk)
    assert (missing.is_error, missing.structured_content["code"]) == (True, "not_found")
    assert (misspelt.is_error, misspelt.structured_content["code"]) == (True, "bad_parameter")
    assert unknown.is_error
    assert found.structured_content["rows"][0]["field"] == "total"


async def test_an_empty_lake_says_what_to_do(tmp_path: Path) -> None:
    told = await _session(tmp_path, lambda session: session.call_tool("find_columns", {"q": "a"}))
    assert (told.is_error, told.structured_content["code"]) == (True, "no_lineage")
    assert "colline ingest" in told.structured_content["hint"]
