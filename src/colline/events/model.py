"""OpenLineage's events as frozen values, in the spec's own names (2-0-2).

Facets are kept by name as plain JSON, known or not: an event that is read and written again has lost none.
"""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import Any

import msgspec

SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"

Facets = dict[str, Any]


class RunState(Enum):
    """The transition an event reports."""

    START = "START"
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    ABORT = "ABORT"
    FAIL = "FAIL"
    OTHER = "OTHER"

    @property
    def is_end(self) -> bool:
        """Whether a run is over after it."""
        return self in (RunState.COMPLETE, RunState.ABORT, RunState.FAIL)


class _Value(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, rename="camel"):
    pass


class Run(_Value, frozen=True, kw_only=True):
    """One execution of a job."""

    run_id: str
    facets: Facets | None = None


class Job(_Value, frozen=True, kw_only=True):
    """What is executed again and again."""

    namespace: str
    name: str
    facets: Facets | None = None


class Dataset(_Value, frozen=True, kw_only=True):
    """A dataset as an event of its own carries it."""

    namespace: str
    name: str
    facets: Facets | None = None


class InputDataset(Dataset, frozen=True, kw_only=True):
    """A dataset that a run read."""

    input_facets: Facets | None = None


class OutputDataset(Dataset, frozen=True, kw_only=True):
    """A dataset that a run wrote."""

    output_facets: Facets | None = None


class _Event(_Value, frozen=True, kw_only=True):
    event_time: str
    producer: str = ""
    schema_url: str = msgspec.field(default="", name="schemaURL")

    @property
    def time(self) -> datetime:
        """The event's time; a text that is no time raises ValueError."""
        return datetime.fromisoformat(self.event_time.replace("Z", "+00:00"))


class RunEvent(_Event, frozen=True, kw_only=True):
    """A run changed its state."""

    run: Run
    job: Job
    event_type: RunState | None = None
    inputs: tuple[InputDataset, ...] | None = None
    outputs: tuple[OutputDataset, ...] | None = None


class JobEvent(_Event, frozen=True, kw_only=True):
    """A job is declared, without a run."""

    job: Job
    inputs: tuple[InputDataset, ...] | None = None
    outputs: tuple[OutputDataset, ...] | None = None


class DatasetEvent(_Event, frozen=True, kw_only=True):
    """A dataset is described, without a run."""

    dataset: Dataset


Event = RunEvent | JobEvent | DatasetEvent
