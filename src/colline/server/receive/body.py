"""The body of a request, bounded in size, in time and in what it unpacks to."""

from __future__ import annotations

import asyncio
import zlib

from starlette.types import Receive, Scope

from colline.server.http_errors import Problem

_OFF_LOOP = 256 * 1024  # unpacking more than this takes longer than a thread hop
_GZIP = 16 + zlib.MAX_WBITS


def header(scope: Scope, name: bytes) -> str | None:
    """The first header of that name."""
    for key, value in scope["headers"]:
        if key == name:
            found: str = value.decode("latin-1")
            return found
    return None


async def read_body(scope: Scope, receive: Receive, *, limit: int, seconds: float) -> bytes:
    """The unpacked body. 413 if it is or unpacks to more than `limit` bytes, 408 if it takes more than `seconds`."""
    length = header(scope, b"content-length")
    if length is not None and (not length.isdigit() or int(length) > limit):
        raise _too_large(limit)
    body = await _collected(receive, limit, seconds)
    encoding = (header(scope, b"content-encoding") or "identity").strip().lower()
    if encoding == "identity":
        return body
    if encoding not in ("gzip", "x-gzip"):
        raise Problem(415, "wrong_type", f"content encoding `{encoding[:40]}` is not known", hint="send gzip or none")
    return unzipped(body, limit) if len(body) < _OFF_LOOP else await asyncio.to_thread(unzipped, body, limit)


async def _collected(receive: Receive, limit: int, seconds: float) -> bytes:
    task = asyncio.current_task()
    assert task is not None
    late = False

    def stop() -> None:
        nonlocal late
        late = True
        task.cancel()

    # a timer on this task: asyncio.wait_for would make a second task for every request
    timer = asyncio.get_running_loop().call_later(seconds, stop)
    try:
        return await _chunks(receive, limit)
    except asyncio.CancelledError:
        if late:
            raise Problem(408, "too_slow", f"the body did not arrive in {seconds:g} s", hint="send it again") from None
        raise
    finally:
        timer.cancel()


async def _chunks(receive: Receive, limit: int) -> bytes:
    message = await receive()
    if not message.get("more_body"):
        return _bounded(bytes(message.get("body", b"")), limit)
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


def _bounded(body: bytes, limit: int) -> bytes:
    if len(body) > limit:
        raise _too_large(limit)
    return body


def unzipped(body: bytes, limit: int) -> bytes:
    """What a gzip body holds, all its members; never more than `limit` bytes are made."""
    parts, room = [], limit
    while body:
        member = zlib.decompressobj(_GZIP)
        try:
            parts.append(member.decompress(body, room + 1))
        except zlib.error as error:
            raise Problem(400, "bad_encoding", f"the body is not gzip: {error}") from error
        room -= len(parts[-1])
        if room < 0:
            raise _too_large(limit)
        if not member.eof:
            raise Problem(400, "bad_encoding", "the gzip body is cut short")
        body = member.unused_data
    return b"".join(parts)


def _too_large(limit: int) -> Problem:
    return Problem(413, "too_large", f"the body is larger than {limit} bytes", hint="see --max-body of colline serve")
