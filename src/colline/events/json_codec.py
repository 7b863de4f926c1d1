"""Encodes events as JSON, and decodes events of any producer."""

from __future__ import annotations

import msgspec

from colline.errors import EventError
from colline.events.model import DatasetEvent, Event, JobEvent, RunEvent

_ABSENT = msgspec.Raw(b"null")


class _EventParts(msgspec.Struct):
    """The parts that determine the type of an event. Its `schemaURL` may be missing or wrong."""

    run: msgspec.Raw = _ABSENT
    dataset: msgspec.Raw = _ABSENT


_encoder = msgspec.json.Encoder()
_parts_decoder = msgspec.json.Decoder(_EventParts)
_run_event_decoder = msgspec.json.Decoder(RunEvent)
_job_event_decoder = msgspec.json.Decoder(JobEvent)
_dataset_event_decoder = msgspec.json.Decoder(DatasetEvent)


def encode(event: Event) -> bytes:
    """The event as one line of JSON, without a line break at the end."""
    return _encoder.encode(event)


def decode(data: bytes | str) -> Event:
    """Decode a run event, job event or dataset event."""
    try:
        parts = _parts_decoder.decode(data)
        if parts.run != _ABSENT:
            return _run_event_decoder.decode(data)
        if parts.dataset != _ABSENT:
            return _dataset_event_decoder.decode(data)
        return _job_event_decoder.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        reason = str(error) or type(error).__name__
        raise EventError(f"not an OpenLineage event: {reason}", hint="see https://openlineage.io/spec") from error
