"""Builds the server from its settings, and starts and stops its parts in order."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from colline import __version__
from colline.server.app import Handler, Site, wrong_method
from colline.server.auth import Guard
from colline.server.http_errors import Problem
from colline.server.ingest_scheduler import IngestScheduler, stamp
from colline.server.metrics import Metrics
from colline.server.openapi.document import openapi
from colline.server.query.handlers import QueryHandlers
from colline.server.query.workers import QueryWorkers
from colline.server.receive.body import read_body, replay
from colline.server.receive.byte_budget import ByteBudget
from colline.server.receive.forwarder import Forwarder
from colline.server.receive.group_commit import GroupCommit
from colline.server.receive.receiver import Receiver
from colline.server.response_types import Health, IngestStatus, Readiness, ReceiverStatus, ServerStatus
from colline.server.responses import send_bytes, send_json
from colline.server.server_settings import ServeSettings, token_file
from colline.server.static_files import read_page
from colline.server.tokens import TokenBook
from colline.transport.sinks.kafka import KafkaSink

_SWITCH_SECONDS = 0.0005  # the writing thread must not wait 5 ms for the interpreter lock after each fsync
# Health checks never wait for other work.
_HEALTH_THREAD = ThreadPoolExecutor(1, thread_name_prefix="colline-health")
_TEXT = (b"content-type", b"text/plain; version=0.0.4; charset=utf-8")
_NO_STORE = (b"cache-control", b"no-store")
_HEALTHY = msgspec.json.encode(Health("ok"))


class Agents(Protocol):
    """Answers agents at /mcp, while its `run` is entered."""

    max_request_bytes: int

    def run(self) -> AbstractAsyncContextManager[None]:
        """Serves requests until the block ends."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; access was checked before."""


@dataclass(slots=True)
class Service:
    """The server of one lake."""

    settings: ServeSettings
    spool: GroupCommit
    receiver: Receiver
    queries: QueryHandlers
    ingest: IngestScheduler
    metrics: Metrics
    agents: Agents | None = None
    forwarder: Forwarder | None = None

    @classmethod
    def from_settings(cls, settings: ServeSettings, agents: Agents | None = None) -> Service:
        """The server, not started yet."""
        spool = GroupCommit(settings.spool_directory, settings.landing, settings.spool, settings.outbox)
        no_runs = IngestStatus(settings.ingest_seconds, False, 0, 0, None, None, None, None)
        return cls(
            settings,
            spool,
            Receiver(spool, ByteBudget(settings.max_held_bytes), settings.max_body, settings.body_seconds),
            QueryHandlers(
                settings.lake,
                QueryWorkers(settings.source, settings.readers, settings.answer_seconds),
                settings.other_lakes,
            ),
            IngestScheduler(settings.lake, settings.landing, no_runs),
            Metrics(),
            agents,
            _forwarder(settings),
        )

    def app(self) -> ASGIApp:
        """The ASGI application with its lifespan."""
        settings = self.settings
        guard = Guard.from_settings(settings, TokenBook(token_file(settings.lake)))
        agents = None if self.agents is None else self._answer_agent
        page = read_page()
        site = Site(self.handlers(), guard, self.metrics, page, settings.max_requests, agents, settings.access_log)
        inner = _with_cors(site.app(), settings.cors_origins)

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                await self._run_lifespan(receive, send)
            else:
                await inner(scope, receive, send)

        return application

    async def _answer_agent(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reads the body first, within the budget and the time of all bodies.

        A GET would open a stream without end, on which a server without sessions has nothing to send.
        """
        assert self.agents is not None
        if scope["method"] not in ("POST", "DELETE"):
            raise wrong_method(scope["method"], "POST")
        with self.receiver.budget.lease() as lease:
            seconds = self.settings.body_seconds
            body = await read_body(scope, receive, lease, limit=self.agents.max_request_bytes, seconds=seconds)
            await self.agents.handle(scope, replay(body, receive), send)

    def handlers(self) -> Mapping[str, Handler]:
        """The handler of each endpoint."""
        document = msgspec.json.encode(openapi())

        async def send_document(_: Scope, __: Receive, send: Send) -> None:
            await send_json(send, 200, document)

        return {
            "receive": self.receiver.receive_one,
            "receive_batch": self.receiver.receive_batch,
            "healthz": _send_health,
            "readyz": self._send_readiness,
            "metrics": self._send_metrics,
            "openapi": send_document,
            "status": self._send_status,
            **self.queries.handlers(),
            **({} if self.settings.address is None else dict.fromkeys(("receive", "receive_batch"), _refuse_events)),
        }

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            self.start()
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            raise
        async with nullcontext() if self.agents is None else self.agents.run():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await self.ingest.stop()
        self.spool.stop()
        if self.forwarder is not None:
            self.forwarder.stop()
        await send({"type": "lifespan.shutdown.complete"})

    def start(self) -> None:
        """Starts the spool first, because it moves the events of an earlier process to landing."""
        sys.setswitchinterval(_SWITCH_SECONDS)
        self.spool.start()
        self.ingest.start()
        if self.forwarder is not None:
            self.forwarder.start()

    async def _send_readiness(self, _: Scope, __: Receive, send: Send) -> None:
        state = await asyncio.get_running_loop().run_in_executor(_HEALTH_THREAD, self._readiness)
        await send_json(send, 200 if state.ready else 503, msgspec.json.encode(state), (_NO_STORE,))

    def _readiness(self) -> Readiness:
        is_ready = self.spool.is_ready()
        return Readiness(ready=is_ready, receiver=is_ready, lineage=self.queries.has_lineage())

    async def _send_status(self, _: Scope, __: Receive, send: Send) -> None:
        await send_json(send, 200, msgspec.json.encode(await self.status()), (_NO_STORE,))

    async def status(self) -> ServerStatus:
        """The response of `/api/v1/status`."""
        received, counts = self.receiver.counts, self.spool.counts
        last = stamp(counts.last_event) if counts.last_event else None
        waiting = self.receiver.budget.used
        receiver = ReceiverStatus(received["accepted"], received["refused"], waiting, counts.files, last)
        lake = await self.queries.status()
        snapshot, as_of, health = (lake.get(key) for key in ("snapshot", "as_of", "health"))
        return ServerStatus(__version__, snapshot, as_of, self.spool.is_ready(), receiver, self.ingest.status, health)

    async def _send_metrics(self, _: Scope, __: Receive, send: Send) -> None:
        body = self.metrics.text(self.gauges()).encode()
        await send_bytes(send, 200, body, (_TEXT, _NO_STORE))

    def gauges(self) -> dict[str, tuple[str, str, float]]:
        """Metrics of the receiver and of ingest: name → (kind, help, value)."""
        counts, ingest = self.spool.counts, self.ingest.status
        return {
            **({} if self.forwarder is None else _forward_gauges(self.forwarder)),
            "colline_events_accepted_total": ("counter", "Received valid events.", self.receiver.counts["accepted"]),
            "colline_events_refused_total": ("counter", "Received invalid events.", self.receiver.counts["refused"]),
            "colline_spool_bytes_total": ("counter", "Bytes written to disk.", counts.bytes),
            "colline_spool_commits_total": ("counter", "Group commits, one fsync each.", counts.commits),
            "colline_spool_failures_total": ("counter", "Failed writes.", counts.failures),
            "colline_spool_waiting_bytes": ("gauge", "Bytes received and not yet on disk.", self.receiver.budget.used),
            "colline_landing_files_total": ("counter", "Landing files written.", counts.files),
            "colline_last_event_seconds": ("gauge", "Time of the last event.", counts.last_event or 0),
            "colline_ingest_runs_total": ("counter", "Ingest runs.", ingest.runs),
            "colline_ingest_failures_total": ("counter", "Failed ingest runs.", ingest.failures),
            "colline_ingest_last_end_seconds": ("gauge", "End of the last ingest run.", self.ingest.ended_at),
        }


def _forwarder(settings: ServeSettings) -> Forwarder | None:
    if settings.forward is None or settings.outbox is None:
        return None
    return Forwarder(settings.outbox, KafkaSink(settings.forward))


def _forward_gauges(forwarder: Forwarder) -> dict[str, tuple[str, str, float]]:
    counts = forwarder.counts
    return {
        "colline_forwarded_events_total": ("counter", "Events that Kafka has confirmed.", counts.events),
        "colline_forward_refused_total": ("counter", "Events that Kafka will never accept.", counts.refused),
        "colline_forward_failures_total": ("counter", "Failed deliveries to Kafka.", counts.failures),
        "colline_forward_waiting_files": ("gauge", "Files that are not delivered yet.", forwarder.waiting()),
    }


async def _refuse_events(_: Scope, __: Receive, ___: Send) -> None:
    hint = "send them to a server whose lake is on a disk, or write them to the lake's landing folder"
    raise Problem(404, "not_found", "this server receives no events: its lake is in object storage", hint=hint)


async def _send_health(_: Scope, __: Receive, send: Send) -> None:
    await send_json(send, 200, _HEALTHY, (_NO_STORE,))


def _with_cors(app: ASGIApp, origins: tuple[str, ...]) -> ASGIApp:
    if not origins:
        return app
    from starlette.middleware.cors import CORSMiddleware

    exposed = ("ETag", "X-Colline-Snapshot", "Retry-After")
    allowed = ("Authorization", "Content-Type", "Content-Encoding", "If-None-Match")
    return CORSMiddleware(
        app, allow_origins=origins, allow_methods=("GET", "POST"), allow_headers=allowed, expose_headers=exposed
    )
