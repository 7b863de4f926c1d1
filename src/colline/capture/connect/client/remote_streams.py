"""Follows the streams that a client has started on its server, and turns them into messages for the watch."""

from __future__ import annotations

import threading
from time import time
from typing import Any

from colline.capture.connect.client.server_metadata import ServerMetadata, ServerRequestError
from colline.capture.connect.proto_walk import Message

CHECK_SECONDS = 10.0


class RemoteStreams:
    """The running streams of one client."""

    def __init__(self, server: ServerMetadata) -> None:
        self._server = server
        self._running: dict[str, Message] = {}  # run id → the id of the query
        self._lock = threading.Lock()

    @property
    def is_empty(self) -> bool:
        """Whether no stream is known to run."""
        return not self._running

    def start(self, result: Message, started_ms: int) -> dict[str, Any]:
        """The message for a stream that has started; `result` is the server's answer."""
        run = str(result.query_id.run_id)
        with self._lock:
            self._running[run] = result.query_id
        return {"kind": "stream_start", "run": run, "time": started_ms, "text": result.name}

    def end_messages(self) -> list[dict[str, Any]]:
        """The messages for streams that have ended since the last call. Asks the server about each stream."""
        with self._lock:
            running = dict(self._running)
        found = []
        for run, query in running.items():
            try:
                if self._server.stream_is_active(query):
                    continue
                error = self._server.stream_error(query)
            except ServerRequestError:
                continue
            with self._lock:
                if self._running.pop(run, None) is not None:
                    found.append(_end_message(run, error))
        return found


def _end_message(run: str, error: str) -> dict[str, Any]:
    message: dict[str, Any] = {"kind": "stream_end", "run": run, "time": int(time() * 1000)}
    return {**message, "text": error} if error else message
