"""OpenLineage events as frozen values, with the names of the spec (2-0-2).

Facets are plain JSON by key. Unknown facets are kept, so decoding and encoding an event loses nothing.
"""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import Any

import msgspec

SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"

Facets = dict[str, Any]


class RunState(Enum):
    """The state of a run after an event."""

    START = "START"
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    ABORT = "ABORT"
    FAIL = "FAIL"
    OTHER = "OTHER"

    @property
    def is_end(self) -> bool:
        """Whether the run has ended."""
        return self in (RunState.COMPLETE, RunState.ABORT, RunState.FAIL)


class _Value(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, rename="camel"):
    pass


class Run(_Value, frozen=True, kw_only=True):
    """One execution of a job."""

    run_id: str
    facets: Facets | None = None


class Job(_Value, frozen=True, kw_only=True):
    """A process that is executed repeatedly, such as a query or a script."""

    namespace: str
    name: str
    facets: Facets | None = None


class Dataset(_Value, frozen=True, kw_only=True):
    """A dataset with its facets."""

    namespace: str
    name: str
    facets: Facets | None = None


class InputDataset(Dataset, frozen=True, kw_only=True):
    """A dataset that a run reads."""

    input_facets: Facets | None = None


class OutputDataset(Dataset, frozen=True, kw_only=True):
    """A dataset that a run writes."""

    output_facets: Facets | None = None


class _Event(_Value, frozen=True, kw_only=True):
    event_time: str
    producer: str = ""
    schema_url: str = msgspec.field(default="", name="schemaURL")

    @property
    def time(self) -> datetime:
        """The time of the event. Raises ValueError if `event_time` is not a timestamp."""
        return datetime.fromisoformat(self.event_time.replace("Z", "+00:00"))


class RunEvent(_Event, frozen=True, kw_only=True):
    """The change of a run's state."""

    run: Run
    job: Job
    event_type: RunState | None = None
    inputs: tuple[InputDataset, ...] | None = None
    outputs: tuple[OutputDataset, ...] | None = None


class JobEvent(_Event, frozen=True, kw_only=True):
    """The description of a job, without a run."""

    job: Job
    inputs: tuple[InputDataset, ...] | None = None
    outputs: tuple[OutputDataset, ...] | None = None


class DatasetEvent(_Event, frozen=True, kw_only=True):
    """The description of a dataset, without a run."""

    dataset: Dataset


Event = RunEvent | JobEvent | DatasetEvent
