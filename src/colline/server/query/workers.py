"""Runs queries in worker processes, so that a long traversal never delays the receiver.

anyio starts workers as queries arrive, up to the limit, and ends them with the server. A query that exceeds the time
limit is ended by killing its worker; the next query gets a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_process

from colline.server.http_errors import Problem
from colline.server.query.worker import QueryRequest, QueryResponse, answer_query, lake_status

_Result = TypeVar("_Result")


class QueryWorkers:
    """Up to `count` processes that keep the lake open."""

    def __init__(self, lake: str | Path, count: int, timeout_seconds: float) -> None:
        self.lake = str(lake)
        self.timeout_seconds = timeout_seconds
        self._limiter = anyio.CapacityLimiter(count)

    async def answer(self, request: QueryRequest) -> QueryResponse:
        """The answer to a query."""
        return await self._run(answer_query, self.lake, request)

    async def status(self) -> dict[str, Any]:
        """The snapshot, its time, and the health of the lake."""
        return await self._run(lake_status, self.lake)

    async def _run(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        run_in_worker = anyio.to_process.run_sync
        try:
            with anyio.fail_after(self.timeout_seconds):
                return await run_in_worker(function, *arguments, cancellable=True, limiter=self._limiter)
        except TimeoutError:
            hint = "use a smaller `depth`, or fewer columns"
            raise Problem(503, "too_slow", f"no answer within {self.timeout_seconds:g} s", hint=hint) from None
        except anyio.BrokenWorkerProcess:
            raise Problem(503, "too_slow", "the worker process ended", hint="repeat the request") from None
