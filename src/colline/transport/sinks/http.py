"""Posts events to an OpenLineage endpoint.

If the server offers `{endpoint}/batch`, several events are sent in one request, otherwise one by one.
"""

from __future__ import annotations

import gzip
import http.client
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from colline.transport.interfaces import DELIVERED, Batch, DeliveryResult
from colline.transport.sinks.http_connection import HttpClient, HttpReply

if TYPE_CHECKING:
    from colline.transport.options import HttpOptions

# The server has no batch endpoint.
NO_BATCH_STATUSES = frozenset({404, 405, 415, 501})
# The event itself is invalid: a retry would have the same result. After any other status a retry may succeed.
INVALID_EVENT_STATUSES = frozenset({400, 406, 409, 411, 413, 414, 415, 422, 431})


class _FailedEvent(msgspec.Struct, frozen=True):
    """An event of a batch that the server did not accept."""

    index: int
    reason: str = ""
    retriable: bool = False


class _BatchReply(msgspec.Struct, frozen=True):
    """The body of a batch endpoint's response. An empty one means that all events were accepted."""

    failed_events: list[_FailedEvent] = []


class HttpSink:
    """Posts events to one endpoint."""

    def __init__(self, options: HttpOptions) -> None:
        self._options = options
        self._client = HttpClient(options)
        self._path = self._client.path(options.endpoint)
        self._batch_path = self._client.path(options.endpoint.rstrip("/") + "/batch")
        self._retry_statuses = frozenset(options.retry.status_forcelist if options.retry else ())
        self._has_batch_endpoint = options.batch != "never"

    def deliver(self, batch: Batch) -> DeliveryResult:
        """Post the events in one request if the server has a batch endpoint, otherwise one by one."""
        if self._has_batch_endpoint and (len(batch.events) > 1 or self._options.batch == "always"):
            result = self._deliver_batch(batch.events)
            if result is not None:
                return result
        return self._deliver_one_by_one(batch.events)

    def _deliver_batch(self, events: tuple[bytes, ...]) -> DeliveryResult | None:
        """None if the events have to be sent one by one."""
        reply = self._post(self._batch_path, b"[" + b",".join(events) + b"]")
        if reply.is_success:
            return _batch_result(reply, len(events))
        if reply.status in NO_BATCH_STATUSES and self._options.batch == "auto":
            self._has_batch_endpoint = False
            return None
        if reply.status in INVALID_EVENT_STATUSES:
            result = _batch_result(reply, len(events))
            # If the server does not list all events as invalid, sending them one by one finds the invalid one.
            return result if len(result.refused) == len(events) else None
        return _retry_result(reply, range(len(events)))

    def _deliver_one_by_one(self, events: tuple[bytes, ...]) -> DeliveryResult:
        refused: list[tuple[int, str]] = []
        for position, event in enumerate(events):
            rest = range(position, len(events))
            try:
                reply = self._post(self._path, event)
            except (OSError, http.client.HTTPException) as error:
                return DeliveryResult(tuple(refused), tuple(rest), f"{type(error).__name__}: {error}")
            if reply.status in INVALID_EVENT_STATUSES and reply.status not in self._retry_statuses:
                refused.append((position, reply.summary))
            elif not reply.is_success:
                return _retry_result(reply, rest, refused)
        return DeliveryResult(tuple(refused)) if refused else DELIVERED

    def _post(self, path: str, body: bytes) -> HttpReply:
        return self._client.post(path, gzip.compress(body, 6) if self._options.compression == "gzip" else body)

    def after_fork(self) -> None:
        """Drop the connection of the parent."""
        self._client.drop_connection()

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _retry_result(reply: HttpReply, positions: range, refused: Iterable[tuple[int, str]] = ()) -> DeliveryResult:
    return DeliveryResult(tuple(refused), tuple(positions), reply.summary, reply.retry_after)


def _batch_result(reply: HttpReply, count: int) -> DeliveryResult:
    """The result that the body of a batch endpoint's response describes."""
    try:
        failed = msgspec.json.decode(reply.body, type=_BatchReply).failed_events if reply.body else []
    except msgspec.DecodeError:
        return DELIVERED
    known = [event for event in failed if 0 <= event.index < count]
    refused = tuple((event.index, event.reason) for event in known if not event.retriable)
    retry = {event.index for event in known if event.retriable} - {index for index, _ in refused}
    return DeliveryResult(refused, tuple(sorted(retry)), known[0].reason if known else "", reply.retry_after)
