"""Events ↔ JSON text. What is read may come from anybody; what cannot be read says where and why."""

from __future__ import annotations

import msgspec

from colline.errors import EventError
from colline.events.model import DatasetEvent, Event, JobEvent, RunEvent

_encoder = msgspec.json.Encoder()


_ABSENT = msgspec.Raw(b"null")


class _Shape(msgspec.Struct):
    """Which parts an event has, unread: they tell its kind. A schemaURL may be missing or wrong."""

    run: msgspec.Raw = _ABSENT
    dataset: msgspec.Raw = _ABSENT


_shape = msgspec.json.Decoder(_Shape)
_runs = msgspec.json.Decoder(RunEvent)
_jobs = msgspec.json.Decoder(JobEvent)
_datasets = msgspec.json.Decoder(DatasetEvent)


def encode(event: Event) -> bytes:
    """The event as one line of JSON, without its line end."""
    return _encoder.encode(event)


def decode(data: bytes | str) -> Event:
    """The event a JSON text holds."""
    try:
        shape = _shape.decode(data)
        if shape.run != _ABSENT:
            return _runs.decode(data)
        if shape.dataset != _ABSENT:
            return _datasets.decode(data)
        return _jobs.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        reason = str(error) or type(error).__name__
        raise EventError(f"not an OpenLineage event: {reason}", hint="see https://openlineage.io/spec") from error
