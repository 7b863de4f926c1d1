"""The responses of the server that are not answers to questions."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from colline.graph.inventory_rows import LakeHealth

BatchStatus = Literal["success", "partial_success", "failure"]


class ErrorBody(msgspec.Struct, frozen=True):
    """Every error. `candidates` lists similar or ambiguous names, `path` the invalid part of an event."""

    error: str
    code: str
    hint: str | None
    candidates: list[str] | UnsetType = UNSET
    path: str | UnsetType = UNSET


class Received(msgspec.Struct, frozen=True):
    """One event was received and is on disk."""

    status: str
    events: int


class BatchSummary(msgspec.Struct, frozen=True):
    """How many events of a batch are valid."""

    received: int
    successful: int
    failed: int


class FailedEvent(msgspec.Struct, frozen=True):
    """An invalid event of a batch. It was moved to quarantine."""

    index: int
    path: str
    reason: str
    retriable: bool


class BatchReceived(msgspec.Struct, frozen=True):
    """A batch was received and is on disk."""

    status: BatchStatus
    summary: BatchSummary
    failed_events: list[FailedEvent]


class ReceiverStatus(msgspec.Struct, frozen=True):
    """Events since the start of the server. `waiting`: bytes that are not on disk yet."""

    accepted: int
    refused: int
    waiting: int
    files: int
    last_event: str | None


class IngestStatus(msgspec.Struct):
    """The scheduled ingests since the start of the server. `every` is in seconds."""

    every: float | None
    running: bool
    runs: int
    failures: int
    last_started: str | None
    last_ended: str | None
    last_state: str | None
    last_message: str | None


class ServerStatus(msgspec.Struct, frozen=True):
    """The state of the server and of its lake."""

    version: str
    snapshot: str | None
    as_of: str | None
    ready: bool
    receiver: ReceiverStatus
    ingest: IngestStatus
    health: LakeHealth | None


class Health(msgspec.Struct, frozen=True):
    """The process is alive."""

    status: str


class Readiness(msgspec.Struct, frozen=True):
    """`receiver`: events are received. `lineage`: the lake has a snapshot."""

    ready: bool
    receiver: bool
    lineage: bool
