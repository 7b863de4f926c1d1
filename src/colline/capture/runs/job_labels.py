"""`with colline.job("nightly")`: names the job of all queries that the thread starts inside the block.

The label is passed as a Spark job tag. Spark keeps job tags per thread and includes them in the start event of an
execution, so labels of different threads never mix. A tag must not contain a comma, so it is base64 of JSON.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterable, Mapping
from contextlib import ContextDecorator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import msgspec

from colline.capture.connect.operation_tags import replace_operation_tag
from colline.terminal_text import get_logger

log = get_logger("colline")

PREFIX = "colline-job-"


@dataclass(frozen=True, slots=True)
class JobLabel:
    """The name and tags that the user gave a job."""

    name: str
    tags: Mapping[str, str] = field(default_factory=dict)


def to_tag(label: JobLabel) -> str:
    """The label as a Spark job tag."""
    text = msgspec.json.encode([label.name, dict(label.tags)])
    return PREFIX + base64.urlsafe_b64encode(text).decode("ascii")


def from_tags(tags: Iterable[str]) -> JobLabel | None:
    """The label among the job tags of a query. Tags that colline did not set are ignored."""
    for tag in tags:
        _, prefix, encoded = tag.partition(PREFIX)
        if not prefix:
            continue
        try:
            name, label_tags = msgspec.json.decode(base64.urlsafe_b64decode(encoded), type=tuple[str, dict[str, str]])
        except (ValueError, msgspec.DecodeError):
            continue
        return JobLabel(name, label_tags)
    return None


_thread = threading.local()


def thread_labels() -> list[JobLabel]:
    """The labels of the current thread, outermost first. The last one applies."""
    if not hasattr(_thread, "labels"):
        _thread.labels = []
    labels: list[JobLabel] = _thread.labels
    return labels


class job(ContextDecorator):  # noqa: N801 - used like a function: `with colline.job("nightly"):`
    """Names and tags the runs that this thread starts inside the block. The innermost name applies.

    ```python
    with colline.job("nightly", tags={"team": "sales"}):
        df.write.saveAsTable("totals")
    ```
    """

    def __init__(self, name: str, tags: Mapping[str, Any] | Iterable[str] | None = None) -> None:
        given = tags if isinstance(tags, Mapping) else dict.fromkeys(tags or (), "true")
        self._label = JobLabel(str(name), {str(key): str(value) for key, value in given.items()})

    def __enter__(self) -> job:
        labels = thread_labels()
        _replace_tag(labels[-1] if labels else None, self._label)
        labels.append(self._label)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        labels = thread_labels()
        labels.remove(self._label)
        _replace_tag(self._label, labels[-1] if labels else None)

    def _recreate_cm(self) -> job:
        return self


def tag_current_thread() -> None:
    """Set the tag of the current label in a Spark context that was started inside the `with` block."""
    labels = thread_labels()
    if labels:
        _replace_tag(None, labels[-1])


def _replace_tag(before: JobLabel | None, after: JobLabel | None) -> None:
    """Replace the current thread's tag in the active Spark sessions, if any. An error is logged, never raised."""
    if before == after:
        return
    tags = to_tag(before) if before else None, to_tag(after) if after else None
    try:
        _replace_job_tag(*tags)
        replace_operation_tag(*tags)
    except Exception as error:  # noqa: BLE001 - Spark has just stopped; classic and Connect raise different errors
        log.warning("could not set the job name %s: %s", (after or before), error)


def _replace_job_tag(before: str | None, after: str | None) -> None:
    try:
        from pyspark import SparkContext
    except ImportError:  # the package pyspark-client has no classic Spark
        return
    context = SparkContext._active_spark_context
    if context is None:
        return
    if before is not None:
        context.removeJobTag(before)
    if after is not None:
        context.addJobTag(after)
