"""Sends HTTP responses: JSON, bytes and errors."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from starlette.types import Send

from colline.server.http_errors import Problem

Headers = Sequence[tuple[bytes, bytes]]
_JSON = (b"content-type", b"application/json")


async def send_json(send: Send, status: int, body: bytes, headers: Headers = ()) -> None:
    """Sends a body that is already JSON."""
    await send_bytes(send, status, body, (_JSON, *headers))


async def send_bytes(send: Send, status: int, body: bytes, headers: Headers) -> None:
    """Sends a complete response."""
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})


async def send_problem(send: Send, problem: Problem) -> None:
    """Sends an error."""
    headers = (*_HINTS.get(problem.status, ()), *problem.headers)
    await send_json(send, problem.status, msgspec.json.encode(problem.to_dict()), headers)


_HINTS: dict[int, Headers] = {
    401: ((b"www-authenticate", b'Bearer realm="colline"'),),
    429: ((b"retry-after", b"1"),),
    503: ((b"retry-after", b"5"),),
    507: ((b"retry-after", b"30"),),
}
