"""A bound on how long a client may take to say what it wants: uvicorn waits for the end of a header for ever."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol


def protocol_with(seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's HTTP protocol that closes a connection whose request has not begun after so many seconds."""
    base: Any = AutoHTTPProtocol

    class Patient(base):  # type: ignore[misc]  # the base is picked by uvicorn at run time
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._timer = self.loop.call_later(seconds, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            waiting = self.cycle is None or self.cycle.response_complete
            if not waiting and self._timer is not None:
                self._timer.cancel()
                self._timer = None
            elif waiting and self._timer is None:
                self._timer = self.loop.call_later(seconds, self.transport.close)

        def connection_lost(self, exc: Exception | None) -> None:
            if self._timer is not None:
                self._timer.cancel()
            super().connection_lost(exc)

    return Patient
