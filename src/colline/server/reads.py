"""Questions over HTTP: parameters in, the graph's own answer out, tagged with the snapshot it came from."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import zlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive, Scope, Send

from colline.errors import LakeError
from colline.server.app import Handler
from colline.server.asking import Values, ask, problem_of
from colline.server.body import header
from colline.server.endpoints import BY_NAME, ENDPOINTS, Endpoint
from colline.server.parameters import read_parameters
from colline.server.problems import Problem
from colline.server.replies import send_bytes, send_json

if TYPE_CHECKING:
    from colline.graph import Lineage

_THREADS = 4  # walks hold the interpreter most of the time; more threads only share it in smaller slices
_PACKED_FROM = 16 * 1024
_MOST_FIELDS = 500


@dataclass(frozen=True, slots=True)
class Found:
    """An encoded answer. No body: the asker has it already."""

    version: str
    etag: str | None
    body: bytes | None
    packed: bool = False


class Reads:
    """Answers from one lake. Each thread has the lake open for itself, so no answer sees another's reload."""

    def __init__(self, lake: Path, *, seconds: float) -> None:
        self.lake = lake
        self.seconds = seconds
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="colline-read")
        self._own = threading.local()
        self._health: tuple[str, Any] = ("", None)  # of which snapshot, and what

    def handlers(self) -> Mapping[str, Handler]:
        """A handler for every question of the table."""
        return {e.name: self._handler(e) for e in ENDPOINTS if e.group in ("questions", "page", "marquez")}

    def _handler(self, endpoint: Endpoint) -> Handler:
        async def answer(scope: Scope, _: Receive, send: Send) -> None:
            query = scope["query_string"]
            values = read_parameters(endpoint.parameters, _pairs(query))
            known = header(scope, b"if-none-match") or ""
            packs = "gzip" in (header(scope, b"accept-encoding") or "")
            found = await self._within(lambda: self._found(endpoint, query, values, known, packs=packs))
            await _send(send, found)

        return answer

    async def _within(self, work: Callable[[], Any]) -> Any:
        """What the work returns, if it is done in time. One that is not goes on and is thrown away."""
        running = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            return await asyncio.wait_for(running, self.seconds)
        except asyncio.TimeoutError:
            hint = "ask with a smaller `depth`, or fewer columns"
            raise Problem(503, "too_slow", f"no answer in {self.seconds:g} s", hint=hint) from None

    def _found(self, endpoint: Endpoint, query: bytes, values: Values, known: str, *, packs: bool) -> Found:
        lineage = self._lineage()
        version = lineage.view().version
        _check_cursor(values.get("cursor"), version)
        if endpoint.lasting and etag_of(version, endpoint, query) in known:
            return Found(version, etag_of(version, endpoint, query), None)
        answer = ask(lineage, endpoint, values)
        version = answer.get("snapshot") or version
        body = msgspec.json.encode(answer)
        packs = packs and len(body) > _PACKED_FROM
        etag = etag_of(version, endpoint, query) if endpoint.lasting else None
        return Found(version, etag, _gzipped(body) if packs else body, packs)

    def _lineage(self) -> Lineage:
        """This thread's view of the lake, opened when first needed."""
        found: Lineage | None = getattr(self._own, "lineage", None)
        if found is None:
            from colline.graph import open_lake

            try:
                found = self._own.lineage = open_lake(self.lake)
            except LakeError as error:
                raise problem_of(error) from error
        return found

    async def is_ready(self) -> bool:
        """Whether there is a snapshot to answer from."""
        return bool(await self._within(self._version))

    def _version(self) -> str | None:
        try:
            return self._lineage().view().version
        except Problem:
            return None

    async def status(self) -> dict[str, Any]:
        """Snapshot, its time, and health as the lake knows it; empty if there is no snapshot."""
        found: dict[str, Any] = await self._within(self._status)
        return found

    def _status(self) -> dict[str, Any]:
        try:
            lineage = self._lineage()
            view = lineage.view()
            if self._health[0] != view.version:
                self._health = (view.version, ask(lineage, BY_NAME["overview"], {"as_of": None}).get("health"))
        except Problem:
            return {}
        return {"snapshot": view.version, "as_of": view.as_of(None), "health": self._health[1]}

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def etag_of(version: str, endpoint: Endpoint, query: bytes) -> str:
    """The tag of an answer: the snapshot and the question."""
    asked = hashlib.sha256(endpoint.path.encode() + b"?" + query).hexdigest()[:16]
    return f'"{version}-{asked}"'


def _check_cursor(cursor: str | None, version: str) -> None:
    if cursor is not None and cursor.partition("~")[0] != version:
        hint = "ask again without the cursor"
        raise Problem(410, "bad_cursor", "newer lineage was published since the first page", hint=hint)


def _pairs(query: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except (UnicodeDecodeError, ValueError) as error:
        raise Problem(400, "bad_parameter", "the query string is not percent-encoded UTF-8") from error


def _gzipped(body: bytes) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return packer.compress(body) + packer.flush()


async def _send(send: Send, found: Found) -> None:
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
