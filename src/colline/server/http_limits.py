"""Limits the headers of a request (size and time) and the number of connections; uvicorn has no such limits."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_TOO_MANY = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 5\r\ncontent-length: 0\r\n\r\n"
_HEADER_ENDS = (b"\r\n\r\n", b"\n\n")
_UPGRADE_HEADER = re.compile(rb"\r\n(?i:upgrade):")


@dataclass(slots=True)
class ConnectionLimits:
    """The limits of a server's connections, and the open connections by client address."""

    header_seconds: float = 30.0
    max_header_bytes: int = 512 * 1024  # two names of 10 KB can take 180 KB when percent-encoded
    max_connections: int = 2000
    max_connections_per_client: int = 256
    open: Counter[str] = field(default_factory=Counter)
    total: int = 0

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


class LimitedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with limits on connections and on the headers of a request."""

    limits: ConnectionLimits
    _client: str | None = None  # None: not admitted
    _timer: asyncio.TimerHandle | None = None
    _is_reading_headers = True

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
        """Passes headers to the parser when they are complete. Only the new bytes are searched for their end."""
        if self._client is None:
            return
        if self._is_reading_headers:
            buffer = self._headers_so_far
            searched = max(0, len(buffer) - 3)
            buffer += data
            end = max(buffer.find(mark, searched) for mark in _HEADER_ENDS)
            if end < 0:
                self._set_timer()
                if len(buffer) > self.limits.max_header_bytes:
                    self._close_with(_TOO_LARGE)
                return
            # Java's HTTP client offers HTTP/2 with its first request, and httptools drops the body of such a request
            data = _UPGRADE_HEADER.sub(b"\r\nx-offer:", bytes(buffer[:end])) + bytes(buffer[end:])
            buffer.clear()
        super().data_received(data)
        self._set_timer()

    def _close_with(self, response: bytes) -> None:
        self._headers_so_far.clear()
        self.transport.write(response)
        self.transport.close()

    def on_headers_complete(self) -> None:
        """Splits off the query, because httptools refuses URLs of more than 64 KB."""
        self._is_reading_headers = False
        self.url, _, query = self.url.partition(b"?")
        super().on_headers_complete()
        self.scope["query_string"] = query

    def on_message_complete(self) -> None:
        """Expects headers again."""
        self._is_reading_headers = True
        super().on_message_complete()

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
        if self._timer is not None:
            self._timer.cancel()
        if self._client is not None:
            self.limits.release(self._client)
        super().connection_lost(exc)


def protocol_with_limits(limits: ConnectionLimits) -> type[asyncio.Protocol]:
    """The protocol class with these limits, for uvicorn's `http` setting."""
    return type("ProtocolWithLimits", (LimitedProtocol,), {"limits": limits})
