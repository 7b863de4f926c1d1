"""The ASGI application: finds the endpoint by its exact path, checks access, and calls its handler."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from colline.server.auth import Guard
from colline.server.endpoints import ENDPOINTS, AccessScope, Endpoint
from colline.server.http_errors import Problem
from colline.server.metrics import Metrics
from colline.server.receive.body import header
from colline.server.responses import Headers, send_bytes, send_problem
from colline.server.static_files import CSP, PageFile, find_page
from colline.terminal_text import get_logger

log = get_logger("colline.server")
access = get_logger("colline.access")

Handler = Callable[[Scope, Receive, Send], Awaitable[None]]

AGENT_PATH = "/mcp"
AGENT_SCOPE: AccessScope = "read"

_SECURITY_HEADERS: Headers = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_API_HEADERS: Headers = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    *_SECURITY_HEADERS,
)
_PAGE_HEADERS: Headers = ((b"content-security-policy", CSP.encode()), *_SECURITY_HEADERS)


@dataclass(slots=True)
class Site:
    """The handlers of all endpoints, the files of the page, and the checks before them."""

    handlers: Mapping[str, Handler]
    guard: Guard
    metrics: Metrics
    page: dict[str, PageFile]
    max_requests: int = 1000
    agents: Handler | None = None  # answers /mcp
    access_log: bool = True
    requests_in_progress: int = 0

    def app(self) -> ASGIApp:
        """The ASGI application."""
        table: dict[str, dict[str, Endpoint]] = {}
        for endpoint in ENDPOINTS:
            table.setdefault(endpoint.path, {})[endpoint.method] = endpoint

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                return
            await self._answer(table.get(scope["path"]), scope, receive, send)

        return application

    async def _answer(self, methods: dict[str, Endpoint] | None, scope: Scope, receive: Receive, send: Send) -> None:
        reply = _Reply(send, _PAGE_HEADERS if methods is None else _API_HEADERS, head=scope["method"] == "HEAD")
        reply.name = "page" if methods is None else next(iter(methods.values())).name
        started = time.perf_counter()
        self.requests_in_progress += 1
        try:
            await self._dispatch(methods, scope, receive, reply)
        except Problem as problem:
            await _send_error(reply, problem)
        except Exception:
            log.exception("unexpected error at %s", scope["path"])
            hint = "see the log of the server"
            await _send_error(reply, Problem(500, "fault", "unexpected error in the server", hint=hint))
        finally:
            self.requests_in_progress -= 1
            seconds = time.perf_counter() - started
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self.metrics.count(reply.name, method, reply.status, seconds)
            if self.access_log:
                _log_access(scope, reply.status, seconds, reply.token)

    async def _dispatch(
        self, methods: dict[str, Endpoint] | None, scope: Scope, receive: Receive, reply: _Reply
    ) -> None:
        """Checks access and calls the handler of the path and method."""
        if self.agents is not None and scope["path"] == AGENT_PATH:
            reply.name, scope_needed, handler = "mcp", AGENT_SCOPE, self.agents
        elif methods is None:
            await self._send_page(scope, reply)
            return
        else:
            endpoint = _endpoint(methods, scope["method"])
            reply.name, scope_needed, handler = endpoint.name, endpoint.scope, self.handlers[endpoint.name]
        reply.token = self.guard.check(scope, scope_needed)
        self._check_load()
        await handler(scope, receive, reply)

    def _check_load(self) -> None:
        if self.requests_in_progress > self.max_requests:
            raise Problem(429, "too_many", f"more than {self.max_requests} concurrent requests", hint="try again later")

    async def _send_page(self, scope: Scope, send: Send) -> None:
        self.guard.check(scope, "open")
        if scope["method"] not in ("GET", "HEAD"):
            raise wrong_method(scope["method"], "GET")
        found = find_page(self.page, scope["path"])
        if found is None:
            raise Problem(
                404, "not_found", f"no such path: {scope['path'][:200]}", hint="/openapi.json lists all paths"
            )
        status, file = found
        headers = [(b"content-type", file.media_type), (b"cache-control", file.cache_control), (b"etag", file.etag)]
        if (header(scope, b"if-none-match") or "").encode() == file.etag:
            await send_bytes(send, 304, b"", headers[1:])
        elif file.gzipped is not None and "gzip" in (header(scope, b"accept-encoding") or ""):
            encoding = [(b"content-encoding", b"gzip"), (b"vary", b"accept-encoding")]
            await send_bytes(send, status, file.gzipped, headers + encoding)
        else:
            await send_bytes(send, status, file.body, headers)


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def _endpoint(methods: dict[str, Endpoint], method: str) -> Endpoint:
    endpoint = methods.get("GET" if method == "HEAD" else method)
    if endpoint is None:
        raise wrong_method(method, ", ".join(methods))
    return endpoint


def wrong_method(method: str, allowed: str) -> Problem:
    """The response to a method that a path does not have."""
    problem = Problem(405, "wrong_method", f"{method[:20]} is not allowed here", hint=f"allowed: {allowed}")
    return problem.with_header("allow", allowed)


class _Reply:
    """A `send` that adds headers and omits the body for HEAD requests. Remembers what is logged of the request."""

    __slots__ = ("_head", "_headers", "_send", "name", "status", "token")

    def __init__(self, send: Send, headers: Headers, *, head: bool) -> None:
        self._send = send
        self._headers = headers
        self._head = head
        self.name = ""  # of the endpoint
        self.token: str | None = None  # its id
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message["headers"], *self._headers]
        elif self._head:
            message = {**message, "body": b""}
        await self._send(message)


async def _send_error(reply: _Reply, problem: Problem) -> None:
    if reply.status == 0:  # otherwise part of the response was sent already
        await send_problem(reply, problem)


def _log_access(scope: Scope, status: int, seconds: float, token: str | None) -> None:
    """Logs one line without query string, headers and secrets; the token by its id, control characters escaped."""
    client = scope["client"][0] if scope.get("client") else "-"
    path = scope["path"][:200].encode("unicode_escape").decode()
    access.info("%s %s %s %s %d %.1fms", client, token or "-", scope["method"][:20], path, status, seconds * 1000)
