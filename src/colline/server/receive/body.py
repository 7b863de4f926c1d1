"""Reads the body of a request, limited in size, in time and in what it decompresses to."""

from __future__ import annotations

import asyncio
import threading
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import anyio
from starlette.types import Message, Receive, Scope

from colline.server.http_errors import Problem
from colline.server.receive.byte_budget import Lease

# Work on more bytes than this would delay other requests: it is done in a thread.
MAX_BYTES_ON_EVENT_LOOP = 128 * 1024
# A gzip file may consist of many members, and an empty one takes 20 bytes.
MAX_GZIP_MEMBERS = 1000
_GZIP_CHUNK_BYTES = 64 * 1024
_GZIP_WBITS = 16 + zlib.MAX_WBITS
# A thread for large bodies only: health checks and queries never wait for it. What a body takes in memory while it is
# checked is a multiple of its size, so one is checked at a time.
_LARGE_BODY_THREAD = ThreadPoolExecutor(1, thread_name_prefix="colline-large-body")

_Result = TypeVar("_Result")


def header(scope: Scope, name: bytes) -> str | None:
    """The first header of that name."""
    for key, value in scope["headers"]:
        if key == name:
            found: str = value.decode("latin-1")
            return found
    return None


async def read_body(scope: Scope, receive: Receive, lease: Lease, *, limit: int, seconds: float) -> bytes:
    """The decompressed body.

    Raises 413 if it is larger than `limit` bytes, 408 if it takes more than `seconds`, 429 if the lease cannot grow.
    """
    length = header(scope, b"content-length")
    if length is not None and (not length.isdigit() or int(length) > limit):
        raise _too_large(limit)
    lease.grow(int(length or 0))
    try:
        with anyio.fail_after(seconds):
            body = await _read_chunks(receive, lease, limit)
    except TimeoutError:
        raise Problem(408, "too_slow", f"the body did not arrive in {seconds:g} s", hint="send it again") from None
    encoding = (header(scope, b"content-encoding") or "identity").strip().lower()
    if encoding == "identity":
        return body
    if encoding not in ("gzip", "x-gzip"):
        message = f"content encoding `{encoding[:40]}` is not supported"
        raise Problem(415, "wrong_type", message, hint="send gzip or none")
    stop = threading.Event()
    unpacked = await off_event_loop(lambda: decompress(body, limit, stop), len(body), receive, stop)
    lease.grow(len(unpacked))
    return unpacked


def replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` for an application of its own: the body that was read, then what follows."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message


async def off_event_loop(
    work: Callable[[], _Result], size: int, receive: Receive, stop: threading.Event | None = None
) -> _Result:
    """The result of work on `size` bytes. Large work is done in a thread, and stopped if the client disconnects."""
    if size <= MAX_BYTES_ON_EVENT_LOOP:
        return work()
    submitted = _LARGE_BODY_THREAD.submit(work)
    working = asyncio.wrap_future(submitted)
    leaving = asyncio.ensure_future(receive())  # the body is complete: the next message is http.disconnect
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            submitted.cancel()  # if no thread has begun it
            raise Problem(400, "bad_event", "the client disconnected")
        return working.result()
    finally:
        leaving.cancel()
        if stop is not None:
            stop.set()


async def _read_chunks(receive: Receive, lease: Lease, limit: int) -> bytes:
    parts: list[bytes] = []
    declared, size = lease.size, 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Problem(400, "bad_event", "the connection ended before the body did")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise _too_large(limit)
        if size > declared:
            lease.grow(size - declared)
            declared = size
        if not message.get("more_body"):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def decompress(body: bytes, limit: int, stop: threading.Event) -> bytes:
    """The content of all members of a gzip body; raises a Problem if it is larger than `limit` or not valid.

    The input is fed in chunks: zlib copies the rest of its input at the end of each member.
    """
    parts: list[bytes] = []
    remaining, members, position = limit, 0, 0
    member = zlib.decompressobj(_GZIP_WBITS)
    while position < len(body):
        if stop.is_set():
            raise Problem(400, "bad_event", "the client disconnected")
        chunk = body[position : position + _GZIP_CHUNK_BYTES]
        try:
            parts.append(member.decompress(chunk, remaining + 1))
        except zlib.error as error:
            hint = "compress the body with gzip, or send it without Content-Encoding"
            raise Problem(400, "bad_encoding", f"the body is not gzip: {error}", hint=hint) from error
        remaining -= len(parts[-1])
        if remaining < 0:
            raise _too_large(limit)
        position += len(chunk) - len(member.unused_data) - len(member.unconsumed_tail)
        if member.eof and position < len(body):
            members += 1
            member = zlib.decompressobj(_GZIP_WBITS)
        if members >= MAX_GZIP_MEMBERS:
            hint = "compress the whole body at once"
            raise Problem(400, "bad_encoding", f"the gzip body has more than {MAX_GZIP_MEMBERS} members", hint=hint)
    if not member.eof:
        raise Problem(400, "bad_encoding", "the gzip body is truncated", hint="send the complete body")
    return b"".join(parts)


def _too_large(limit: int) -> Problem:
    return Problem(413, "too_large", f"the body is larger than {limit} bytes", hint="see --max-body of colline serve")
