"""Receives OpenLineage events over HTTP. A request is answered when its events are on disk."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import msgspec
from starlette.types import Receive, Scope, Send

from colline.server.http_errors import Problem
from colline.server.receive.body import read_body
from colline.server.receive.group_commit import GroupCommit
from colline.server.receive.validate import Fault, as_line, events_in, fault_of
from colline.server.responses import send_json

_RECEIVED = msgspec.json.encode({"status": "success", "events": 1})
_BOM = b"\xef\xbb\xbf"
_MAX_REPORTED = 100  # invalid events listed in one response


@dataclass(slots=True)
class Receiver:
    """Writes events to the spool. `counts` has the `accepted` and `refused` events."""

    spool: GroupCommit
    max_body: int
    body_seconds: float
    max_events: int = 10_000
    counts: Counter[str] = field(default_factory=Counter)

    async def one(self, scope: Scope, receive: Receive, send: Send) -> None:
        """POST /api/v1/lineage: 201 when the event is on disk; 422 if it is invalid and goes to quarantine."""
        text = await self._body(scope, receive)
        fault = fault_of(text)
        await self.spool.append([as_line(text, fault)])
        if fault is not None:
            self.counts["refused"] += 1
            raise _invalid_event(fault)
        self.counts["accepted"] += 1
        await send_json(send, 201, _RECEIVED)

    async def batch(self, scope: Scope, receive: Receive, send: Send) -> None:
        """POST /api/v1/lineage/batch: 200 with a list of the invalid events; 422 if all are invalid."""
        body = await self._body(scope, receive)
        texts = events_in(body)
        if isinstance(texts, Fault):
            await self.spool.append([as_line(body, texts)])
            self.counts["refused"] += 1
            raise _invalid_event(texts)
        if len(texts) > self.max_events:
            hint = f"send at most {self.max_events} events at a time"
            raise Problem(413, "too_large", f"a batch of {len(texts)} events", hint=hint)
        await self._append(texts, send)

    async def _append(self, texts: list[bytes], send: Send) -> None:
        faults = [fault_of(text) for text in texts]
        lines = [as_line(text, fault) for text, fault in zip(texts, faults, strict=True)]
        if lines:
            await self.spool.append(lines)
        answer = summary(faults)
        self.counts["accepted"] += answer["summary"]["successful"]
        self.counts["refused"] += answer["summary"]["failed"]
        status = 422 if answer["status"] == "failure" else 200
        await send_json(send, status, msgspec.json.encode(answer))

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        body = (await read_body(scope, receive, limit=self.max_body, seconds=self.body_seconds)).removeprefix(_BOM)
        if not body.strip():
            raise Problem(422, "bad_event", "the body is empty", extra={"path": "$"})
        return body


def summary(faults: list[Fault | None]) -> dict[str, Any]:
    """The response to a batch: how many events are valid, and the first invalid ones."""
    invalid = [
        {"index": index, "path": fault.path, "reason": fault.reason, "retriable": False}
        for index, fault in enumerate(faults)
        if fault is not None
    ]
    counts = {"received": len(faults), "successful": len(faults) - len(invalid), "failed": len(invalid)}
    status = "success" if not invalid else "failure" if len(invalid) == len(faults) else "partial_success"
    return {"status": status, "summary": counts, "failed_events": invalid[:_MAX_REPORTED]}


def _invalid_event(fault: Fault) -> Problem:
    hint = "the event was kept: see `colline quarantine list`"
    return Problem(422, "bad_event", fault.reason, hint=hint, extra={"path": fault.path})
