"""Reads the body of a request, with limits on its size, its decompressed size and its time."""

from __future__ import annotations

import asyncio
import zlib

from starlette.types import Receive, Scope

from colline.server.http_errors import Problem

_THREAD_BYTES = 256 * 1024  # decompressing more takes longer than switching to a thread
_GZIP = 16 + zlib.MAX_WBITS


def header(scope: Scope, name: bytes) -> str | None:
    """The first header with this name."""
    for key, value in scope["headers"]:
        if key == name:
            found: str = value.decode("latin-1")
            return found
    return None


async def read_body(scope: Scope, receive: Receive, *, limit: int, seconds: float) -> bytes:
    """The decompressed body. 413 if it has more than `limit` bytes, 408 if it takes more than `seconds`."""
    length = header(scope, b"content-length")
    if length is not None and (not length.isdigit() or int(length) > limit):
        raise _too_large(limit)
    body = await _read_in_time(receive, limit, seconds)
    encoding = (header(scope, b"content-encoding") or "identity").strip().lower()
    if encoding == "identity":
        return body
    if encoding not in ("gzip", "x-gzip"):
        raise Problem(
            415, "wrong_type", f"content encoding `{encoding[:40]}` is not supported", hint="use gzip or none"
        )
    return decompress(body, limit) if len(body) < _THREAD_BYTES else await asyncio.to_thread(decompress, body, limit)


async def _read_in_time(receive: Receive, limit: int, seconds: float) -> bytes:
    task = asyncio.current_task()
    assert task is not None
    is_late = False

    def stop() -> None:
        nonlocal is_late
        is_late = True
        task.cancel()

    # asyncio.wait_for would create a second task for every request
    timer = asyncio.get_running_loop().call_later(seconds, stop)
    try:
        return await _read_chunks(receive, limit)
    except asyncio.CancelledError:
        if is_late:
            raise Problem(408, "too_slow", f"the body took more than {seconds:g} s", hint="send it again") from None
        raise
    finally:
        timer.cancel()


async def _read_chunks(receive: Receive, limit: int) -> bytes:
    message = await receive()
    if not message.get("more_body"):
        return _check_size(bytes(message.get("body", b"")), limit)
    parts, size = [], 0
    while message["type"] == "http.request":
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise _too_large(limit)
        if not message.get("more_body"):
            return b"".join(parts)
        message = await receive()
    raise Problem(400, "bad_event", "the connection ended before the body did")


def _check_size(body: bytes, limit: int) -> bytes:
    if len(body) > limit:
        raise _too_large(limit)
    return body


def decompress(body: bytes, limit: int) -> bytes:
    """The content of all members of a gzip body. Never produces more than `limit` bytes."""
    parts, remaining = [], limit
    while body:
        member = zlib.decompressobj(_GZIP)
        try:
            parts.append(member.decompress(body, remaining + 1))
        except zlib.error as error:
            raise Problem(400, "bad_encoding", f"the body is not gzip: {error}") from error
        remaining -= len(parts[-1])
        if remaining < 0:
            raise _too_large(limit)
        if not member.eof:
            raise Problem(400, "bad_encoding", "the gzip body is truncated")
        body = member.unused_data
    return b"".join(parts)


def _too_large(limit: int) -> Problem:
    return Problem(413, "too_large", f"the body is larger than {limit} bytes", hint="see --max-body of colline serve")
