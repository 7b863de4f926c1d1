"""HTTP handlers of the questions: arguments in, the answer of a worker out, tagged with its snapshot."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import Receive, Scope, Send

from colline.errors import CollineError, LakeError
from colline.graph.queries.registry import REQUESTS, RequestForm
from colline.graph.queries.request_arguments import read_arguments
from colline.graph.snapshot.snapshot_versions import current_version, is_current_intact
from colline.server.app import Handler
from colline.server.http_errors import Problem, problem_from
from colline.server.query.worker import QueryRequest, QueryResponse
from colline.server.query.workers import QueryWorkers
from colline.server.receive.body import header
from colline.server.responses import send_bytes, send_json

MAX_QUERY_FIELDS = 500


class QueryHandlers:
    """Answers questions about one lake. `other_lakes` can be compared with it by name."""

    def __init__(self, lake: Path, workers: QueryWorkers, other_lakes: Mapping[str, Path]) -> None:
        self.lake = lake
        self._workers = workers
        self._other_lakes = other_lakes

    def handlers(self) -> Mapping[str, Handler]:
        """The handler of each request form."""
        return {name: self._handler(form) for name, form in REQUESTS.items()}

    def _handler(self, form: RequestForm) -> Handler:
        async def answer(scope: Scope, _: Receive, send: Send) -> None:
            try:
                request = QueryRequest(
                    form.name,
                    scope["query_string"],
                    self._arguments(form, scope["query_string"]),
                    header(scope, b"if-none-match") or "",
                    "gzip" in (header(scope, b"accept-encoding") or ""),
                )
                response = await self._workers.answer(request)
            except CollineError as error:
                raise problem_from(error) from error
            await _send(send, response)

        return answer

    def _arguments(self, form: RequestForm, query: bytes) -> dict[str, Any]:
        arguments = read_arguments(form, _pairs(query))
        if "other" in arguments:
            arguments["other"] = self._other_lake(arguments["other"])
        return arguments

    def _other_lake(self, name: str) -> Path:
        """The path of a lake that `colline serve` was started with: a request never contains a path."""
        found = self._other_lakes.get(name)
        if found is None:
            names = ", ".join(sorted(self._other_lakes))
            hint = f"known lakes: {names}" if names else "`colline serve --other-lake NAME=PATH` adds one"
            raise Problem(404, "not_found", f"no other lake is called `{name[:80]}`", hint=hint)
        return found

    async def status(self) -> dict[str, Any]:
        """The snapshot, its time, and the health of the lake; only the snapshot if no worker answers in time."""
        try:
            snapshot = await asyncio.to_thread(current_version, self.lake)
            return {} if snapshot is None else await self._workers.status()
        except Problem:
            return {"snapshot": snapshot}
        except LakeError:  # the snapshot is damaged
            return {}

    def has_lineage(self) -> bool:
        """Whether an undamaged snapshot is published."""
        return is_current_intact(self.lake)


def _pairs(query: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            query.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_QUERY_FIELDS, errors="strict"
        )
    except (UnicodeDecodeError, ValueError) as error:
        hint = f"percent-encode each parameter as UTF-8, and send at most {MAX_QUERY_FIELDS} of them"
        raise Problem(400, "bad_parameter", "the query string cannot be read", hint=hint) from error


async def _send(send: Send, response: QueryResponse) -> None:
    headers = [(b"x-colline-snapshot", response.snapshot.encode()), (b"vary", b"accept-encoding, authorization")]
    if response.etag is None:
        headers.append((b"cache-control", b"no-store"))
    else:
        headers += [(b"etag", response.etag.encode()), (b"cache-control", b"private, no-cache")]
    if response.is_gzipped:
        headers.append((b"content-encoding", b"gzip"))
    if response.body is None:
        await send_bytes(send, 304, b"", headers)
    else:
        await send_json(send, 200, response.body, headers)
