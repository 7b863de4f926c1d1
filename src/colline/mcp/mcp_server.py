"""The MCP server of a lake: tools, resources and prompts, over stdio or HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server

from colline import __version__
from colline.errors import CollineError
from colline.mcp.prompts import PROMPTS, prompt_text
from colline.mcp.resources import GLOSSARY_ADDRESS, TABLE_TEMPLATE, read_resource
from colline.mcp.tool_results import output_schema
from colline.mcp.tool_specs import INSTRUCTIONS, SPECS, input_schema
from colline.mcp.tools import LakeTools, ToolReply

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

CallTool = Callable[[str, Mapping[str, Any]], Awaitable[ToolReply]]
_MARKDOWN = "text/markdown"


def tools() -> list[types.Tool]:
    """The tools that an agent can call. All of them only read."""
    notes = types.ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    return [
        types.Tool(
            name=spec.name, title=spec.title, description=spec.summary, input_schema=input_schema(spec),
            output_schema=output_schema(spec.result), annotations=notes,
        )
        for spec in SPECS
    ]  # fmt: skip


def lake_server(lake: str | Path, call: CallTool | None = None) -> Server[Any]:
    """The MCP server of a lake. `call` runs a tool elsewhere; by default a thread of this process does."""
    call_tool = call or _in_thread(LakeTools(lake))
    return Server(
        "colline",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_call_tool=partial(_call_tool, call_tool),
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=partial(_read_resource, call_tool),
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
    )


def _in_thread(lake_tools: LakeTools) -> CallTool:
    async def call(name: str, arguments: Mapping[str, Any]) -> ToolReply:
        return await anyio.to_thread.run_sync(lake_tools.reply, name, arguments)

    return call


async def _list_tools(_: ServerRequestContext[Any], __: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=tools())


async def _call_tool(
    call: CallTool, _: ServerRequestContext[Any], request: types.CallToolRequestParams
) -> types.CallToolResult:
    reply = await call(request.name, request.arguments or {})
    text = types.TextContent(type="text", text=reply.text)
    return types.CallToolResult(content=[text], structured_content=reply.content, is_error=reply.is_error)


async def _list_resources(_: ServerRequestContext[Any], __: Any) -> types.ListResourcesResult:
    glossary = types.Resource(
        uri=GLOSSARY_ADDRESS, name="glossary", title="Words of colline", mime_type=_MARKDOWN,
        description="What direct, indirect, masked, unknown and the codes of edges mean.",
    )  # fmt: skip
    return types.ListResourcesResult(resources=[glossary])


async def _list_templates(_: ServerRequestContext[Any], __: Any) -> types.ListResourceTemplatesResult:
    table = types.ResourceTemplate(
        uri_template=TABLE_TEMPLATE, name="table", title="Card of a table or job", mime_type="text/plain",
        description="Columns, neighbours, writers and readers of a table, or code, inputs, outputs and runs of a job.",
    )  # fmt: skip
    return types.ListResourceTemplatesResult(resource_templates=[table])


async def _read_resource(
    call: CallTool, _: ServerRequestContext[Any], request: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    mime_type, text = await read_resource(str(request.uri), call)
    content = types.TextResourceContents(uri=request.uri, mime_type=mime_type, text=text)
    return types.ReadResourceResult(contents=[content])


async def _list_prompts(_: ServerRequestContext[Any], __: Any) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=prompt.name, title=prompt.title, description=prompt.description,
                arguments=[
                    types.PromptArgument(name=name, description=text, required=True)
                    for name, text in prompt.arguments.items()
                ],
            )
            for prompt in PROMPTS
        ]
    )  # fmt: skip


async def _get_prompt(_: ServerRequestContext[Any], request: types.GetPromptRequestParams) -> types.GetPromptResult:
    try:
        text = prompt_text(request.name, request.arguments or {})
    except CollineError as error:
        from mcp.shared.exceptions import MCPError

        raise MCPError(types.INVALID_PARAMS, str(error)) from error
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(messages=[message])
