"""The ASGI application: look up the endpoint, let the guard decide, answer. One exact-match table, no patterns."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from colline.server.auth import Guard
from colline.server.endpoints import ENDPOINTS, Endpoint
from colline.server.http_errors import Problem
from colline.server.metrics import Metrics
from colline.server.receive.body import header
from colline.server.responses import Headers, send_bytes, send_problem
from colline.server.static_files import CSP, PageFile, find_page

log = logging.getLogger("colline.server")
access = logging.getLogger("colline.access")

Handler = Callable[[Scope, Receive, Send], Awaitable[None]]

_SAFE: Headers = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_DATA_ONLY: Headers = ((b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"), *_SAFE)
_PAGE: Headers = ((b"content-security-policy", CSP.encode()), *_SAFE)


@dataclass(slots=True)
class Site:
    """Everything a request can reach."""

    handlers: Mapping[str, Handler]
    guard: Guard
    metrics: Metrics
    page: dict[str, PageFile]
    max_requests: int = 1000
    access_log: bool = True
    under_way: int = 0

    def app(self) -> ASGIApp:
        """The application itself."""
        table: dict[str, dict[str, Endpoint]] = {}
        for endpoint in ENDPOINTS:
            table.setdefault(endpoint.path, {})[endpoint.method] = endpoint

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                return
            await self._answer(table.get(scope["path"]), scope, receive, send)

        return application

    async def _answer(self, methods: dict[str, Endpoint] | None, scope: Scope, receive: Receive, send: Send) -> None:
        reply = _Reply(send, _PAGE if methods is None else _DATA_ONLY, head=scope["method"] == "HEAD")
        started = time.perf_counter()
        name, token = "page" if methods is None else next(iter(methods.values())).name, None
        self.under_way += 1
        try:
            if methods is None:
                await self._send_page(scope, reply)
            else:
                endpoint = _endpoint(methods, scope["method"])
                name = endpoint.name
                token = self.guard.check(scope, endpoint.scope)
                self._check_room()
                await self.handlers[name](scope, receive, reply)
        except Problem as problem:
            await _tell(reply, problem)
        except Exception:
            # the one catch-all: a fault of ours is an answer and a line in the log, never a dead connection
            log.exception("fault while answering %s", scope["path"])
            await _tell(reply, Problem(500, "fault", "a fault in the server", hint="its log has the details"))
        finally:
            self.under_way -= 1
            seconds = time.perf_counter() - started
            self.metrics.seen(name, scope["method"] if scope["method"] in _METHODS else "other", reply.status, seconds)
            if self.access_log:
                _log_access(scope, reply.status, seconds, token)

    def _check_room(self) -> None:
        if self.under_way > self.max_requests:
            raise Problem(
                429, "too_many", f"more than {self.max_requests} requests at once", hint="send it again later"
            )

    async def _send_page(self, scope: Scope, send: Send) -> None:
        self.guard.check(scope, "open")
        if scope["method"] not in ("GET", "HEAD"):
            raise _wrong_method(scope["method"], "GET")
        found = find_page(self.page, scope["path"])
        if found is None:
            raise Problem(
                404, "not_found", f"nothing at {scope['path'][:200]}", hint="/openapi.json lists all addresses"
            )
        status, file = found
        headers = [(b"content-type", file.media), (b"cache-control", file.caching), (b"etag", file.etag)]
        if (header(scope, b"if-none-match") or "").encode() == file.etag:
            await send_bytes(send, 304, b"", headers[1:])
        elif file.packed is not None and "gzip" in (header(scope, b"accept-encoding") or ""):
            packing = [(b"content-encoding", b"gzip"), (b"vary", b"accept-encoding")]
            await send_bytes(send, status, file.packed, headers + packing)
        else:
            await send_bytes(send, status, file.body, headers)


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def _endpoint(methods: dict[str, Endpoint], method: str) -> Endpoint:
    found = methods.get("GET" if method == "HEAD" else method)
    if found is None:
        raise _wrong_method(method, ", ".join(methods))
    return found


def _wrong_method(method: str, allowed: str) -> Problem:
    problem = Problem(405, "wrong_method", f"{method[:20]} is not taken here", hint=f"allowed: {allowed}")
    return problem.with_header("allow", allowed)


class _Reply:
    """A `send` that adds headers, remembers the status, and sends no body to HEAD."""

    __slots__ = ("_head", "_headers", "_send", "status")

    def __init__(self, send: Send, headers: Headers, *, head: bool) -> None:
        self._send = send
        self._headers = headers
        self._head = head
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message["headers"], *self._headers]
        elif self._head:
            message = {**message, "body": b""}
        await self._send(message)


async def _tell(reply: _Reply, problem: Problem) -> None:
    if reply.status == 0:  # else the answer is on its way already
        await send_problem(reply, problem)


def _log_access(scope: Scope, status: int, seconds: float, token: str | None) -> None:
    """One line: no query string, no header, no secret; the token by its id. Control characters are escaped."""
    client = scope["client"][0] if scope.get("client") else "-"
    path = scope["path"][:200].encode("unicode_escape").decode()
    access.info("%s %s %s %s %d %.1fms", client, token or "-", scope["method"][:20], path, status, seconds * 1000)
