"""Bounds on how long a client may take to say what it wants, and how much it may say: uvicorn has neither."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_ENDS = (b"\r\n\r\n", b"\n\n")
_OFFER = re.compile(rb"\r\n(?i:upgrade):")


class _Joining:
    """A transport that sends two writes of one moment together: the head of an answer never travels without its body.

    Each write of its own goes through the whole of TCP and wakes the client.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._held: bytes | None = None

    def write(self, data: bytes) -> None:
        if self._held is None:
            self._held = data
            self._loop.call_soon(self.flush)
        else:
            self._transport.writelines((self._held, data))
            self._held = None

    def flush(self) -> None:
        """Send what is held."""
        if self._held is not None:
            self._transport.write(self._held)
            self._held = None

    def close(self) -> None:
        """Close, after what is held."""
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Patient(HttpToolsProtocol):
    """uvicorn's HTTP protocol, with bounds on the head of a request: the seconds and the bytes it may take."""

    seconds: float
    head_bytes: int
    _timer: asyncio.TimerHandle | None = None
    _in_head = True
    _head = b""

    def connection_made(self, transport: Any) -> None:
        """The clock starts."""
        super().connection_made(_Joining(transport, self.loop))  # type: ignore[arg-type]  # it does what one does
        self._timer = self.loop.call_later(self.seconds, transport.close)

    def data_received(self, data: bytes) -> None:
        """A head goes to the parser when it is whole."""
        if self._in_head:
            data, self._head = self._head + data, b""
            end = max(data.find(mark) for mark in _ENDS)
            if end < 0:
                self._keep(data)
                return
            data = _without_offer(data, end)
        super().data_received(data)
        self._set_timer()

    def _keep(self, head: bytes) -> None:
        self._head = head
        self._set_timer()
        if len(head) > self.head_bytes:
            self._head = b""
            self.transport.write(_TOO_LONG)
            self.transport.close()

    def on_headers_complete(self) -> None:
        """The parser of addresses refuses more than 64 KB; a query may be longer, a path may not."""
        self._in_head = False
        self.url, _, query = self.url.partition(b"?")
        super().on_headers_complete()
        self.scope["query_string"] = query

    def on_message_complete(self) -> None:
        """What comes next is a head again."""
        self._in_head = True
        super().on_message_complete()

    def _set_timer(self) -> None:
        waiting = self.cycle is None or self.cycle.response_complete
        if not waiting and self._timer is not None:
            self._timer.cancel()
            self._timer = None
        elif waiting and self._timer is None:
            self._timer = self.loop.call_later(self.seconds, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """The clock stops."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)


def _without_offer(data: bytes, end: int) -> bytes:
    """The data with an offer of another protocol made unreadable: the parser drops the body of such a request.

    Java's own client offers HTTP/2 in this way with its first event.
    """
    head, made = _OFFER.subn(b"\r\nx-offer:", data[:end])
    return head + data[end:] if made else data


def protocol_with(seconds: float, head_bytes: int) -> type[asyncio.Protocol]:
    """The protocol with these bounds."""
    return type("Bounded", (Patient,), {"seconds": seconds, "head_bytes": head_bytes})
