"""Produces events to a Kafka topic. An event is delivered when the broker's delivery report confirms it."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec

from colline.errors import TransportError
from colline.terminal_text import get_logger
from colline.transport.interfaces import DELIVERED, Batch, DeliveryResult
from colline.transport.secrets import remove_values, secret_values

if TYPE_CHECKING:
    from colline.transport.options import KafkaOptions

log = get_logger("colline.transport.sinks.kafka")

# The event is invalid for this topic: a retry would have the same result.
INVALID_EVENT_ERRORS = frozenset({"MSG_SIZE_TOO_LARGE", "INVALID_MSG", "INVALID_MSG_SIZE", "INVALID_RECORD"})
# Serializers are settings of the Java client; here an event is bytes already.
JAVA_ONLY_PROPERTIES = frozenset({"key.serializer", "value.serializer"})
_GIVE_UP_SECONDS = 1.0  # after which a delivery stops waiting if no broker can be reached
# In a forked child a producer of the parent must not be destroyed: librdkafka would wait for threads that do not exist.
_producers_of_parent: list[Any] = []


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


class _KeyFields(msgspec.Struct, frozen=True):
    """The fields of an event that its key is made of."""

    run: _Run | None = None
    job: _Job | None = None
    dataset: _Job | None = None


_decode_key_fields = msgspec.json.Decoder(_KeyFields).decode


def message_key(event: bytes) -> str | None:
    """The key that OpenLineage uses: `run:{namespace}/{name}` of the root job, so that a run's events stay in order."""
    try:
        fields = _decode_key_fields(event)
    except msgspec.DecodeError:
        return None
    if fields.run is None:
        kind, named = ("job", fields.job) if fields.job else ("dataset", fields.dataset)
        return f"{kind}:{named.namespace}/{named.name}" if named else None
    parent = fields.run.facets.parent if fields.run.facets else None
    root = parent.root.job if parent and parent.root else None
    job = root or (parent.job if parent else None) or fields.job
    return f"run:{job.namespace}/{job.name}" if job else None


class KafkaSink:
    """Produces to one topic."""

    def __init__(self, options: KafkaOptions) -> None:
        self._options = options
        self._are_brokers_down = False  # the client reports it once, so it is kept until a broker answers
        self._producer = self._create_producer()

    def _create_producer(self) -> Any:
        try:
            from confluent_kafka import KafkaException, Producer
        except ImportError as error:
            raise TransportError(
                "the kafka transport needs confluent-kafka", hint="pip install 'colline[kafka]'"
            ) from error
        milliseconds = max(1, int(self._options.timeout * 1000))
        defaults = {
            "linger.ms": 0,
            "error_cb": self._on_error,
            "message.timeout.ms": milliseconds,
            "socket.timeout.ms": max(1000, milliseconds),
            "acks": "all",
        }
        given = self._options.properties
        properties = {name: value for name, value in given.items() if name not in JAVA_ONLY_PROPERTIES}
        try:
            return Producer({**defaults, **properties}, logger=log)
        except (KafkaException, ValueError, TypeError) as error:
            reason = remove_values(str(error), secret_values(given))
        # Outside of `except`, so that a traceback does not show the original text, which may contain a password.
        raise TransportError(
            f"setting `transport.properties`: {reason}", hint="use the names and values of librdkafka's configuration"
        )

    def deliver(self, batch: Batch) -> DeliveryResult:
        """Produce every event, then wait for the reports."""
        if self._producer is None:
            self._producer = self._create_producer()
        reports = self._produce_all(dict(enumerate(batch.events)))
        # The client joins messages, and a broker refuses all of them if the result is too large: one by one finds the
        # message that is too large by itself.
        invalid = [position for position, error in reports.items() if _error_name(error) in INVALID_EVENT_ERRORS]
        for position in invalid if len(batch.events) > 1 else ():
            reports.update(self._produce_all({position: batch.events[position]}))
        return _result(reports)

    def _produce_all(self, events: dict[int, bytes]) -> dict[int, Any]:
        """The delivery report of each event: None if it was delivered, otherwise the error."""
        reports: dict[int, Any] = {}
        for position, event in events.items():
            self._produce(position, event, reports)
        self._wait_for_reports(reports, len(events))
        return dict.fromkeys(events, "no delivery report") | reports

    def _produce(self, position: int, event: bytes, reports: dict[int, Any]) -> None:
        def on_delivery(error: Any, _message: Any) -> None:
            reports[position] = error

        try:
            key = self._options.message_key or message_key(event)
            self._producer.produce(self._options.topic_name, event, key=key, on_delivery=on_delivery)
        except BufferError as error:
            reports[position] = error
        except Exception as error:  # noqa: BLE001 - librdkafka raises at once for a message that is too large
            reports[position] = error.args[0] if error.args and hasattr(error.args[0], "name") else error

    def _wait_for_reports(self, reports: dict[int, Any], count: int) -> None:
        """Wait until all reports are there, the time-out is over, or no broker was reachable for a second."""
        started = monotonic()
        while len(reports) < count and monotonic() - started < self._options.timeout + 1.0:
            self._producer.poll(0.1)
            if self._are_brokers_down and monotonic() - started > _GIVE_UP_SECONDS:
                break
        if len(reports) < count:
            self._producer.purge()
            self._producer.poll(0.5)
        elif not all(reports.values()):
            self._are_brokers_down = False

    def _on_error(self, error: Any) -> None:
        self._are_brokers_down = self._are_brokers_down or error.name() == "_ALL_BROKERS_DOWN"

    def after_fork(self) -> None:
        """Drop the producer: its threads exist only in the parent."""
        _producers_of_parent.append(self._producer)
        self._producer = None

    def close(self) -> None:
        """Discard messages without a delivery report, and close the producer."""
        if self._producer is not None:
            self._producer.purge()
            self._producer.flush(0.5)
            self._producer = None


def _result(reports: dict[int, Any]) -> DeliveryResult:
    """The result that the delivery reports describe."""
    errors = {position: error for position, error in sorted(reports.items()) if error is not None}
    if not errors:
        return DELIVERED
    refused = {place: str(error) for place, error in errors.items() if _error_name(error) in INVALID_EVENT_ERRORS}
    retry = tuple(place for place in errors if place not in refused)
    return DeliveryResult(tuple(refused.items()), retry, str(next(iter(errors.values()))))


def _error_name(error: Any) -> str:
    return str(error.name()) if hasattr(error, "name") else ""
