"""`with colline.job("nightly")`: names the job of all queries that start inside the block.

A label is kept in a context variable, so labels of threads and of asyncio tasks never mix. It is passed as a Spark job
tag, because Spark includes job tags in the start event of an execution. A tag must not contain a comma, so it is base64
of JSON.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterable, Mapping
from contextlib import ContextDecorator
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import msgspec

from colline.capture.connect.operation_tags import restore_connect_clients, tag_connect_requests
from colline.capture.runs.job_tags import TAG_PREFIX, tag_spark_jobs
from colline.terminal_text import get_logger

log = get_logger("colline")


@dataclass(frozen=True, slots=True)
class JobLabel:
    """The name and tags that the user gave a job."""

    name: str
    tags: Mapping[str, str] = field(default_factory=dict)


def to_tag(label: JobLabel) -> str:
    """The label as a Spark job tag."""
    text = msgspec.json.encode([label.name, dict(label.tags)])
    return TAG_PREFIX + base64.urlsafe_b64encode(text).decode("ascii")


def from_tags(tags: Iterable[str]) -> JobLabel | None:
    """The label among the job tags of a query. Tags that colline did not set are ignored."""
    for tag in tags:
        _, prefix, encoded = tag.partition(TAG_PREFIX)
        if not prefix:
            continue
        try:
            name, label_tags = msgspec.json.decode(base64.urlsafe_b64decode(encoded), type=tuple[str, dict[str, str]])
        except (ValueError, msgspec.DecodeError):
            continue
        return JobLabel(name, label_tags)
    return None


_labels: ContextVar[tuple[JobLabel, ...]] = ContextVar("colline_job_labels", default=())


class _OpenBlocks:
    """How many `with` blocks are open, in all threads and tasks."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()

    def change(self, by: int) -> None:
        """A block was entered or left."""
        with self._lock:
            self.count += by


_blocks = _OpenBlocks()


def current_tag() -> str | None:
    """The tag of the innermost label of the current context: of this thread, or of this asyncio task."""
    labels = _labels.get()
    return to_tag(labels[-1]) if labels else None


class job(ContextDecorator):  # noqa: N801 - used like a function: `with colline.job("nightly"):`
    """Names and tags the runs that start inside the block, in this thread or asyncio task. The innermost name applies.

    ```python
    with colline.job("nightly", tags={"team": "sales"}):
        df.write.saveAsTable("totals")
    ```
    """

    def __init__(self, name: str, tags: Mapping[str, Any] | Iterable[str] | None = None) -> None:
        given = tags if isinstance(tags, Mapping) else dict.fromkeys(tags or (), "true")
        self._label = JobLabel(str(name), {str(key): str(value) for key, value in given.items()})

    def __enter__(self) -> job:
        _labels.set((*_labels.get(), self._label))
        _blocks.change(+1)
        tag_current_thread()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        labels = [*_labels.get()]
        if self._label in labels:
            labels.remove(self._label)
        _labels.set(tuple(labels))
        _blocks.change(-1)
        tag_current_thread()

    def _recreate_cm(self) -> job:
        return self


def tag_current_thread() -> None:
    """Make Spark use the label of the current context. An error is logged, never raised."""
    try:
        tag_spark_jobs(current_tag)
        if _blocks.count:
            tag_connect_requests(current_tag)
        else:
            restore_connect_clients()
    except Exception as error:  # noqa: BLE001 - Spark has just stopped; classic and Connect raise different errors
        log.warning("could not set the name of a job: %s", error)
