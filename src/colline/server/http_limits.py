"""Limits the size of request headers and the time they may take to arrive; uvicorn has no such limits."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_HEADER_ENDS = (b"\r\n\r\n", b"\n\n")
_UPGRADE_HEADER = re.compile(rb"\r\n(?i:upgrade):")


class LimitedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with limits on the headers of a request."""

    header_seconds: float
    max_header_bytes: int
    _timer: asyncio.TimerHandle | None = None
    _is_reading_headers = True
    _headers_so_far = b""

    def connection_made(self, transport: Any) -> None:
        """Starts the timer."""
        super().connection_made(transport)
        self._set_timer()

    def data_received(self, data: bytes) -> None:
        """Passes headers to the parser when they are complete."""
        if self._is_reading_headers:
            data, self._headers_so_far = self._headers_so_far + data, b""
            end = max(data.find(mark) for mark in _HEADER_ENDS)
            if end < 0:
                self._keep_incomplete(data)
                return
            # Java's HTTP client offers HTTP/2 with its first request, and httptools drops the body of such a request
            data = _UPGRADE_HEADER.sub(b"\r\nx-offer:", data[:end]) + data[end:]
        super().data_received(data)
        self._set_timer()

    def _keep_incomplete(self, headers: bytes) -> None:
        self._headers_so_far = headers
        self._set_timer()
        if len(headers) > self.max_header_bytes:
            self._headers_so_far = b""
            self.transport.write(_TOO_LARGE)
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
            self._timer = self.loop.call_later(self.header_seconds, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the timer."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)


def protocol_with_limits(header_seconds: float, max_header_bytes: int) -> type[asyncio.Protocol]:
    """The protocol class with these limits, for uvicorn's `http` setting."""
    limits = {"header_seconds": header_seconds, "max_header_bytes": max_header_bytes}
    return type("ProtocolWithLimits", (LimitedProtocol,), limits)
