"""Receives OpenLineage events over HTTP. An event is acknowledged when it is durable, not before."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial

import msgspec
from starlette.types import Receive, Scope, Send

from colline.server.http_errors import Problem
from colline.server.receive.body import off_event_loop, read_body
from colline.server.receive.byte_budget import ByteBudget, Lease
from colline.server.receive.group_commit import GroupCommit
from colline.server.receive.validate import Fault, as_line, events_in, fault_of
from colline.server.response_types import BatchReceived, BatchStatus, BatchSummary, FailedEvent, Received
from colline.server.responses import send_json

_ACCEPTED = msgspec.json.encode(Received("success", 1))
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MAX_REPORTED_FAULTS = 100


@dataclass(slots=True)
class Receiver:
    """Takes events into the spool. `counts` has the numbers of `accepted` and `refused` events."""

    spool: GroupCommit
    budget: ByteBudget
    max_body: int
    body_seconds: float
    max_events: int = 10_000
    counts: Counter[str] = field(default_factory=Counter)

    async def receive_one(self, scope: Scope, receive: Receive, send: Send) -> None:
        """POST /api/v1/lineage: 201 when the event is durable; 422 with what is wrong, and the event is kept."""
        with self.budget.lease() as lease:
            text = await self._read(scope, receive, lease)
            fault, line = await off_event_loop(lambda: _fault_and_line(text), len(text), receive)
            await self._keep([line], lease)
        if fault is not None:
            self.counts["refused"] += 1
            raise _refusal(fault)
        self.counts["accepted"] += 1
        await send_json(send, 201, _ACCEPTED)

    async def receive_batch(self, scope: Scope, receive: Receive, send: Send) -> None:
        """POST /api/v1/lineage/batch: 200 when all events are durable, with the invalid ones listed; 422 if all are."""
        with self.budget.lease() as lease:
            body = await self._read(scope, receive, lease)
            texts = await off_event_loop(lambda: events_in(body, self.max_events), len(body), receive)
            if texts is None:
                hint = f"send at most {self.max_events} events at a time"
                raise Problem(413, "too_large", f"a batch of more than {self.max_events} events", hint=hint)
            if isinstance(texts, Fault):
                line = await off_event_loop(partial(as_line, body, texts), len(body), receive)
                await self._keep([line], lease)
                self.counts["refused"] += 1
                raise _refusal(texts)
            lease.hold(len(body))
            checked = await off_event_loop(lambda: [_fault_and_line(text) for text in texts], len(body), receive)
            if checked:
                await self._keep([line for _, line in checked], lease)
        answer = batch_summary([fault for fault, _ in checked])
        self.counts["accepted"] += answer.summary.successful
        self.counts["refused"] += answer.summary.failed
        status = 422 if answer.status == "failure" else 200
        await send_json(send, status, msgspec.json.encode(answer))

    async def _keep(self, lines: list[bytes], lease: Lease) -> None:
        """Makes the lines durable."""
        lease.hold(sum(map(len, lines)))
        await self.spool.append(lines)

    async def _read(self, scope: Scope, receive: Receive, lease: Lease) -> bytes:
        body = await read_body(scope, receive, lease, limit=self.max_body, seconds=self.body_seconds)
        body = body.removeprefix(_BYTE_ORDER_MARK)
        if not body.strip():
            raise Problem(422, "bad_event", "the body is empty", hint="send an OpenLineage event", extra={"path": "$"})
        return body


def _fault_and_line(text: bytes) -> tuple[Fault | None, bytes]:
    """What is wrong with the text of an event, and the line of a landing file for it."""
    fault = fault_of(text)
    return fault, as_line(text, fault)


def batch_summary(faults: list[Fault | None]) -> BatchReceived:
    """The answer to a batch: the number of valid events, and the first hundred that are not."""
    invalid = [
        FailedEvent(index, fault.path, fault.reason, retriable=False)
        for index, fault in enumerate(faults)
        if fault is not None
    ]
    summary = BatchSummary(len(faults), len(faults) - len(invalid), len(invalid))
    status: BatchStatus = "success" if not invalid else "failure" if len(invalid) == len(faults) else "partial_success"
    return BatchReceived(status, summary, invalid[:_MAX_REPORTED_FAULTS])


def _refusal(fault: Fault) -> Problem:
    hint = "the event was kept: see `colline quarantine list`"
    return Problem(422, "bad_event", fault.reason, hint=hint, extra={"path": fault.path})
