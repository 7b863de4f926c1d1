"""Questions over HTTP: parameters in, a reader's answer out, tagged with the snapshot it came from."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import Receive, Scope, Send

from colline.lake.layout import CURRENT_SNAPSHOT
from colline.server.app import Handler
from colline.server.endpoints import ENDPOINTS, Endpoint
from colline.server.http_errors import Problem
from colline.server.parameters import read_parameters
from colline.server.query.worker import Asked, Found
from colline.server.query.workers import ReaderDiedError, Readers
from colline.server.receive.body import header
from colline.server.responses import send_bytes, send_json

_MOST_FIELDS = 500


class Reads:
    """Answers from one lake, by a few processes that start with the first question."""

    def __init__(self, lake: Path, *, seconds: float, processes: int, others: Mapping[str, Path]) -> None:
        self.lake = lake
        self.seconds = seconds
        self._readers = Readers(lake, processes, others, seconds)

    def handlers(self) -> Mapping[str, Handler]:
        """A handler for every question of the table."""
        return {e.name: self._handler(e) for e in ENDPOINTS if e.group in ("questions", "page", "marquez")}

    def _handler(self, endpoint: Endpoint) -> Handler:
        async def answer(scope: Scope, _: Receive, send: Send) -> None:
            query = scope["query_string"]
            values = read_parameters(endpoint.parameters, _pairs(query))
            known = header(scope, b"if-none-match") or ""
            packs = "gzip" in (header(scope, b"accept-encoding") or "")
            found: Found = await self._within("answer", *Asked(endpoint.name, query, values, known, packs))
            await _send(send, found)

        return answer

    async def _within(self, call: str, *arguments: Any) -> Any:
        """What a reader's call returns, if it does so in time."""
        try:
            return await self._readers.ask(call, *arguments)
        except asyncio.TimeoutError:
            hint = "ask with a smaller `depth`, or fewer columns"
            raise Problem(503, "too_slow", f"no answer in {self.seconds:g} s", hint=hint) from None
        except ReaderDiedError:
            raise Problem(503, "too_slow", "a reader of the lake died", hint="ask again") from None

    async def status(self) -> dict[str, Any]:
        """Snapshot, its time and the lake's health; without the last two while the readers are too busy to tell."""
        snapshot = await asyncio.to_thread(self.snapshot)
        if snapshot is None:
            return {}
        try:
            told: dict[str, Any] = await self._within("status")
        except Problem:
            return {"snapshot": snapshot}
        return told

    def snapshot(self) -> str | None:
        """The name of the snapshot there is to answer from."""
        try:
            return (self.lake / CURRENT_SNAPSHOT).read_text(encoding="utf-8").strip()
        except OSError:
            return None

    def close(self) -> None:
        """Let the processes end."""
        self._readers.close()


def _pairs(query: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except (UnicodeDecodeError, ValueError) as error:
        raise Problem(400, "bad_parameter", "the query string is not percent-encoded UTF-8") from error


async def _send(send: Send, found: Found) -> None:
    if found.problem:
        raise _problem(dict(found.problem))
    headers = [(b"x-colline-snapshot", found.version.encode()), (b"vary", b"accept-encoding, authorization")]
    if found.etag is None:
        headers.append((b"cache-control", b"no-store"))
    else:
        headers += [(b"etag", found.etag.encode()), (b"cache-control", b"private, no-cache")]
    if found.packed:
        headers.append((b"content-encoding", b"gzip"))
    if found.body is None:
        await send_bytes(send, 304, b"", headers)
    else:
        await send_json(send, 200, found.body, headers)


def _problem(values: dict[str, Any]) -> Problem:
    status, error, code, hint = (values.pop(name) for name in ("status", "error", "code", "hint"))
    return Problem(status, code, error, hint=hint, extra=values)
