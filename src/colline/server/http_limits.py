"""Limits headers (size, number, time), pipelined requests and connections; uvicorn has no such limits."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_TOO_MANY = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 5\r\ncontent-length: 0\r\n\r\n"
_BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
# A connection may always hold this much of headers; what is larger needs space in the budget of all connections.
_UNCOUNTED_HEADER_BYTES = 16 * 1024
# Sizes and extensions of chunks, and the fields after the last chunk
_MAX_BYTES_WITHOUT_CONTENT = 64 * 1024
_HEADER_ENDS = (b"\r\n\r\n", b"\n\n")
_UPGRADE_HEADER = re.compile(rb"\r\n(?i:upgrade):")


@dataclass(slots=True)
class ConnectionLimits:
    """The limits of a server's connections, and the open connections by client address."""

    header_seconds: float = 30.0
    max_header_bytes: int = 512 * 1024  # two names of 10 KB can take 180 KB when percent-encoded
    max_header_fields: int = 200
    max_held_header_bytes: int = 16 * 1024 * 1024  # of all connections, until their requests are answered
    max_pipelined: int = 16  # requests that a client sends before it has the answer to an earlier one
    stall_seconds: float = 60.0  # how long a client may read nothing of an answer
    max_connections: int = 2000
    max_connections_per_client: int = 256
    open: Counter[str] = field(default_factory=Counter)
    total: int = 0
    held_header_bytes: int = 0

    def admits(self, client: str) -> bool:
        """Whether this client may open one more connection."""
        return self.open[client] < self.max_connections_per_client and self.total < self.max_connections

    def acquire(self, client: str) -> None:
        """Count an open connection."""
        self.open[client] += 1
        self.total += 1

    def release(self, client: str) -> None:
        """Count a closed connection."""
        self.total -= 1
        self.open[client] -= 1
        if not self.open[client]:
            del self.open[client]


class _LimitExceededError(Exception):
    """Ends the parsing of a request; uvicorn closes the connection."""


class LimitedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with limits on connections and on the headers of a request."""

    limits: ConnectionLimits
    _client: str | None = None  # None: not admitted
    _timer: asyncio.TimerHandle | None = None
    _stall_timer: asyncio.TimerHandle | None = None
    _is_reading_headers = True
    _unanswered_header_bytes = 0
    _held_header_bytes = 0
    _bytes_without_content = 0

    def connection_made(self, transport: Any) -> None:
        """Admits the connection and starts the timer."""
        super().connection_made(transport)
        self._headers_so_far = bytearray()
        peer = transport.get_extra_info("peername")
        client = str(peer[0]) if isinstance(peer, tuple) and peer else ""
        if not self.limits.admits(client):
            self._close_with(_TOO_MANY)
            return
        self._client = client
        self.limits.acquire(client)
        self._set_timer()

    def data_received(self, data: bytes) -> None:
        """Passes headers to the parser when they are complete, and the body as it arrives."""
        if self._client is None:
            return
        complete = self._complete_headers(data) if self._is_reading_headers else data
        if complete:
            self._feed(complete)
        self._set_timer()

    def _complete_headers(self, data: bytes) -> bytes:
        """The headers so far and what follows them; nothing if they are not complete, or beyond a limit.

        Only the new bytes are searched for the end of the headers.
        """
        buffer = self._headers_so_far
        searched = max(0, len(buffer) - 3)
        buffer += data
        end = max(buffer.find(mark, searched) for mark in _HEADER_ENDS)
        if not self._hold(self._unanswered_header_bytes + (len(buffer) if end < 0 else end)) or end < 0:
            return b""
        self._unanswered_header_bytes += end
        # Java's HTTP client offers HTTP/2 with its first request, and httptools drops the body of such a request
        complete = _UPGRADE_HEADER.sub(b"\r\nx-offer:", bytes(buffer[:end])) + bytes(buffer[end:])
        buffer.clear()
        return complete

    def _feed(self, data: bytes) -> None:
        self._bytes_without_content += len(data)
        super().data_received(data)
        if self.pipeline:  # the data contains other requests
            self._unanswered_header_bytes += len(data)
            self._hold(self._unanswered_header_bytes)
        if not self._is_reading_headers and self._bytes_without_content > _MAX_BYTES_WITHOUT_CONTENT:
            self._close_with(_BAD_REQUEST)

    def _hold(self, size: int) -> bool:
        """Sets the header bytes that this connection holds; beyond a limit, closes it and returns False."""
        limits = self.limits
        limits.held_header_bytes += size - self._held_header_bytes
        self._held_header_bytes = size
        if size > limits.max_header_bytes:
            self._close_with(_TOO_LARGE)
        elif size > _UNCOUNTED_HEADER_BYTES and limits.held_header_bytes > limits.max_held_header_bytes:
            self._close_with(_TOO_MANY)
        else:
            return True
        return False

    def _close_with(self, response: bytes) -> None:
        self._headers_so_far.clear()
        self.transport.write(response)
        self.transport.close()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Ignores fields after a chunked body: a handler would take them for headers."""
        if not self._is_reading_headers:
            return
        if len(self.headers) >= self.limits.max_header_fields:
            raise _LimitExceededError
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Splits off the query, because httptools refuses URLs of more than 64 KB."""
        self._is_reading_headers = False
        self._bytes_without_content = 0
        self.url, _, query = self.url.partition(b"?")
        super().on_headers_complete()
        self.scope["query_string"] = query
        if len(self.pipeline) > self.limits.max_pipelined:
            raise _LimitExceededError

    def on_body(self, body: bytes) -> None:
        """Passes on a part of the body."""
        self._bytes_without_content = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Expects headers again."""
        self._is_reading_headers = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Releases the headers of answered requests."""
        if not self.pipeline:
            self._unanswered_header_bytes = 0
            self._hold(len(self._headers_so_far))
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Waits until the client has read more of the answer, but not forever."""
        super().pause_writing()
        if self._stall_timer is None:
            self._watch_reading()

    def _watch_reading(self) -> None:
        unsent = self.transport.get_write_buffer_size()
        self._stall_timer = self.loop.call_later(self.limits.stall_seconds, self._end_if_stalled, unsent)

    def _end_if_stalled(self, unsent_before: int) -> None:
        if self.transport.get_write_buffer_size() < unsent_before:
            self._watch_reading()
        else:
            self.transport.abort()

    def resume_writing(self) -> None:
        """Stops the timer: the client reads."""
        super().resume_writing()
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def _set_timer(self) -> None:
        """Starts the timer while no request is being answered, and stops it otherwise."""
        is_waiting = self.cycle is None or self.cycle.response_complete
        if not is_waiting and self._timer is not None:
            self._timer.cancel()
            self._timer = None
        elif is_waiting and self._timer is None:
            self._timer = self.loop.call_later(self.limits.header_seconds, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the timer and gives the connection back."""
        for timer in (self._timer, self._stall_timer):
            if timer is not None:
                timer.cancel()
        self.limits.held_header_bytes -= self._held_header_bytes
        self._held_header_bytes = 0
        if self._client is not None:
            self.limits.release(self._client)
        super().connection_lost(exc)


def protocol_with_limits(limits: ConnectionLimits) -> type[asyncio.Protocol]:
    """The protocol class with these limits, for uvicorn's `http` setting."""
    return type("ProtocolWithLimits", (LimitedProtocol,), {"limits": limits})
