"""The MCP server over streamable HTTP, for `colline serve`. Each call runs in a worker process.

The sessions are stateless: a request contains all that is needed, so any replica can answer it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_process
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from colline.mcp.mcp_server import lake_server
from colline.mcp.tools import LakeTools, ToolReply

MAX_REQUEST_BYTES = 1024 * 1024
WORKERS = 2

_opened: dict[str, LakeTools] = {}  # in a worker process: the lake, kept between calls


def reply_in_worker(lake: str, name: str, arguments: dict[str, Any]) -> ToolReply:
    """The reply to a call, in a worker process."""
    return _opened.setdefault(lake, LakeTools(lake)).reply(name, arguments)


class AgentEndpoint:
    """Handles `/mcp`. It must be entered with `run` before the first request."""

    max_request_bytes = MAX_REQUEST_BYTES

    def __init__(self, lake: str | Path, answer_seconds: float) -> None:
        self.lake = str(lake)
        self.answer_seconds = answer_seconds
        self._limiter: anyio.CapacityLimiter | None = None
        self._sessions = StreamableHTTPSessionManager(
            lake_server(lake, self._call), json_response=True, stateless=True, max_request_body_size=MAX_REQUEST_BYTES
        )

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serves requests until the block ends."""
        self._limiter = anyio.CapacityLimiter(WORKERS)
        async with self._sessions.run():
            yield

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; access was checked before."""
        await self._sessions.handle_request(scope, receive, send)

    async def _call(self, name: str, arguments: Mapping[str, Any]) -> ToolReply:
        run: Callable[..., Awaitable[ToolReply]] = anyio.to_process.run_sync
        try:
            with anyio.fail_after(self.answer_seconds):
                return await run(
                    reply_in_worker, self.lake, name, dict(arguments), cancellable=True, limiter=self._limiter
                )
        except TimeoutError:
            text = f"error: no answer within {self.answer_seconds:g} s\nhint: use a smaller depth, or fewer columns"
            return ToolReply(text, {"error": "too slow", "code": "too_slow"}, is_error=True)
