"""Which job a query belongs to: `with colline.job("nightly")` marks every query its thread starts inside.

The mark travels as a Spark job tag. Spark keeps tags per thread and tells them when an execution starts, so two
threads never mix. A tag may hold no comma, so the mark is base64 of JSON.
"""

from __future__ import annotations

import base64
import logging
import threading
from collections.abc import Iterable, Mapping
from contextlib import ContextDecorator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import msgspec

log = logging.getLogger("colline")

PREFIX = "colline-job-"


@dataclass(frozen=True, slots=True)
class Label:
    """A job's name and tags, as its author gave them."""

    name: str
    tags: Mapping[str, str] = field(default_factory=dict)


def to_tag(label: Label) -> str:
    """The label as a Spark job tag."""
    text = msgspec.json.encode([label.name, dict(label.tags)])
    return PREFIX + base64.urlsafe_b64encode(text).decode("ascii")


def from_tags(tags: Iterable[str]) -> Label | None:
    """The label among a query's job tags; somebody else's tag is none."""
    for tag in tags:
        at = tag.find(PREFIX)
        if at < 0:
            continue
        try:
            name, found = msgspec.json.decode(
                base64.urlsafe_b64decode(tag[at + len(PREFIX) :]), type=tuple[str, dict[str, str]]
            )
        except (ValueError, msgspec.DecodeError):
            continue
        return Label(name, found)
    return None


_here = threading.local()


def labels_here() -> list[Label]:
    """The labels of this thread, outermost first; the last one counts."""
    if not hasattr(_here, "stack"):
        _here.stack = []
    stack: list[Label] = _here.stack
    return stack


class job(ContextDecorator):  # noqa: N801 - read as a word: `with colline.job("nightly"):`
    """Names and tags the runs that this thread starts inside; the innermost name counts.

    ```python
    with colline.job("nightly", tags={"team": "sales"}):
        df.write.saveAsTable("totals")
    ```
    """

    def __init__(self, name: str, tags: Mapping[str, Any] | Iterable[str] | None = None) -> None:
        given = tags if isinstance(tags, Mapping) else dict.fromkeys(tags or (), "true")
        self._label = Label(str(name), {str(key): str(value) for key, value in given.items()})

    def __enter__(self) -> job:
        stack = labels_here()
        _mark(stack[-1] if stack else None, self._label)
        stack.append(self._label)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stack = labels_here()
        stack.remove(self._label)
        _mark(self._label, stack[-1] if stack else None)

    def _recreate_cm(self) -> job:
        return self


def mark_this_thread() -> None:
    """Give the current label to a Spark that was started after the label was."""
    stack = labels_here()
    if stack:
        _mark(None, stack[-1])


def _mark(before: Label | None, after: Label | None) -> None:
    """Change this thread's tag in the running Spark, if one runs. A label never fails the code inside it."""
    from py4j.protocol import Py4JError
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    if context is None or before == after:
        return
    try:
        if before is not None:
            context.removeJobTag(to_tag(before))
        if after is not None:
            context.addJobTag(to_tag(after))
    except (Py4JError, OSError, AttributeError) as error:  # what py4j raises when Spark has just stopped
        log.warning("the job %s is not marked: %s", (after or before), error)
