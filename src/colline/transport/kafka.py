"""Events produced to a Kafka topic. An event has arrived when the broker's delivery report says so."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec

from colline.errors import TransportError
from colline.terminal_text import get_logger
from colline.transport.interfaces import ARRIVED, Batch, Receipt

if TYPE_CHECKING:
    from colline.transport.options import KafkaOptions

log = get_logger("colline.transport.kafka")

# The event or its topic is at fault: producing it again would change nothing.
AT_FAULT = frozenset({"MSG_SIZE_TOO_LARGE", "INVALID_MSG", "INVALID_MSG_SIZE", "INVALID_RECORD"})
_DOWN_SECONDS = 1.0
# After a fork the parent's producers must not be destroyed in the child: librdkafka's threads are not there to join.
_PARENTS: list[Any] = []


class _Job(msgspec.Struct, frozen=True):
    namespace: str = ""
    name: str = ""


class _Root(msgspec.Struct, frozen=True):
    job: _Job | None = None


class _Parent(msgspec.Struct, frozen=True):
    job: _Job | None = None
    root: _Root | None = None


class _Facets(msgspec.Struct, frozen=True):
    parent: _Parent | None = None


class _Run(msgspec.Struct, frozen=True):
    facets: _Facets | None = None


class _Keyed(msgspec.Struct, frozen=True):
    run: _Run | None = None
    job: _Job | None = None
    dataset: _Job | None = None


_keyed = msgspec.json.Decoder(_Keyed).decode


def key_of(event: bytes) -> str | None:
    """The key OpenLineage gives: `run:{namespace}/{name}` of the root job, so that a run's events keep their order."""
    try:
        known = _keyed(event)
    except msgspec.DecodeError:
        return None
    if known.run is None:
        kind, named = ("job", known.job) if known.job else ("dataset", known.dataset)
        return f"{kind}:{named.namespace}/{named.name}" if named else None
    parent = known.run.facets.parent if known.run.facets else None
    root = parent.root.job if parent and parent.root else None
    job = root or (parent.job if parent else None) or known.job
    return f"run:{job.namespace}/{job.name}" if job else None


class KafkaSink:
    """One producer for one topic."""

    def __init__(self, options: KafkaOptions) -> None:
        self._options = options
        self._is_down = False  # said once by the client when it loses the last broker, so it is kept until one answers
        self._producer = self._made()

    def _made(self) -> Any:
        try:
            from confluent_kafka import KafkaException, Producer
        except ImportError as error:
            raise TransportError(
                "the kafka transport needs confluent-kafka", hint="pip install 'colline[kafka]'"
            ) from error
        milliseconds = max(1, int(self._options.timeout * 1000))
        ours = {"message.timeout.ms": milliseconds, "socket.timeout.ms": max(1000, milliseconds), "acks": "all"}
        theirs = {name: value for name, value in self._options.properties.items() if not _is_java(name)}
        try:
            return Producer({"linger.ms": 0, "error_cb": self._told, **ours, **theirs}, logger=log)
        except (KafkaException, ValueError, TypeError) as error:
            hint = "these are the names of librdkafka's own settings"
            raise TransportError(f"setting `transport.properties`: {error}", hint=hint) from error

    def deliver(self, batch: Batch) -> Receipt:
        """Produces every event, then waits for the report on each."""
        if self._producer is None:
            self._producer = self._made()
        reports = self._reports(dict(enumerate(batch.events)))
        # The client packs messages together, and a broker that finds the pack too large refuses all of them: one by one
        # tells which is at fault.
        at_fault = [position for position, error in reports.items() if _name(error) in AT_FAULT]
        for position in at_fault if len(batch.events) > 1 else ():
            reports.update(self._reports({position: batch.events[position]}))
        return _receipt(len(batch.events), reports)

    def _reports(self, events: dict[int, bytes]) -> dict[int, Any]:
        """The report on each event: None when it arrived, else what is wrong."""
        reports: dict[int, Any] = {}
        for position, event in events.items():
            self._produce(position, event, reports)
        self._wait(reports, len(events))
        return dict.fromkeys(events, "no delivery report") | reports

    def _wait(self, reports: dict[int, Any], count: int) -> None:
        """Until every report is in, time is up, or no broker has answered for a second."""
        started = monotonic()
        while len(reports) < count and monotonic() - started < self._options.timeout + 1.0:
            self._producer.poll(0.1)
            if self._is_down and monotonic() - started > _DOWN_SECONDS:
                break
        if len(reports) < count:
            self._producer.purge()
            self._producer.poll(0.5)
        elif not all(reports.values()):
            self._is_down = False

    def _told(self, error: Any) -> None:
        self._is_down = self._is_down or error.name() == "_ALL_BROKERS_DOWN"

    def _produce(self, position: int, event: bytes, reports: dict[int, Any]) -> None:
        def reported(error: Any, _message: Any) -> None:
            reports[position] = error

        try:
            key = self._options.message_key or key_of(event)
            self._producer.produce(self._options.topic_name, event, key=key, on_delivery=reported)
        except BufferError as error:
            reports[position] = error
        except Exception as error:  # noqa: BLE001 (librdkafka says at once that a message is too large)
            reports[position] = error.args[0] if error.args and hasattr(error.args[0], "name") else error

    def forget(self) -> None:
        """The producer's threads live in the parent only."""
        _PARENTS.append(self._producer)
        self._producer = None

    def close(self) -> None:
        """Messages still inside are given up: they are not counted as arrived."""
        if self._producer is not None:
            self._producer.purge()
            self._producer.flush(0.5)
            self._producer = None


def _receipt(count: int, reports: dict[int, Any]) -> Receipt:
    """Delivery reports as a receipt; an event without a report is tried again."""
    faults = {position: reports[position] for position in range(count) if reports[position] is not None}
    if not faults:
        return ARRIVED
    refused = tuple((place, str(error)) for place, error in faults.items() if _name(error) in AT_FAULT)
    settled = {place for place, _ in refused}
    again = tuple(place for place in faults if place not in settled)
    return Receipt(refused, again, str(next(iter(faults.values()))))


def _name(error: Any) -> str:
    return str(error.name()) if hasattr(error, "name") else ""


def _is_java(name: str) -> bool:
    """Serializers are settings of the Java client; here an event is bytes already."""
    return name in {"key.serializer", "value.serializer"}
