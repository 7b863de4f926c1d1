"""Keeps the job tag of a thread in Spark's JVM equal to the label of the Python code that runs on the thread.

Several asyncio tasks share one thread, and Spark keeps job tags per thread. So the tag is compared before each call to
the JVM. The calls are wrapped when the first label is set.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

TAG_PREFIX = "colline-job-"

CurrentTag = Callable[[], str | None]

_CALL = "c\n"  # the first line of a py4j command that calls a method
_CLEARING_CALL = "clearJobTags\ne\n"  # ends of a call that removes all tags of the thread


class _ThreadTag(threading.local):
    """The tag that was set for this thread, the Spark context that has it, and the tags that it replaces."""

    tag: str | None = None
    context: Any = None
    replaced: tuple[str, ...] = ()
    is_switching = False


_thread = _ThreadTag()


def tag_spark_jobs(current_tag: CurrentTag) -> None:
    """Tag the jobs of the active Spark context from now on. Without one, nothing happens."""
    context, tag = _active_context(), current_tag()
    if context is None or (tag is None and _thread.tag is None):
        return
    _wrap_calls(context._gateway._gateway_client, current_tag)
    _switch(context, tag)


def _active_context() -> Any:
    try:
        from pyspark import SparkContext
    except ImportError:  # the package pyspark-client has no classic Spark
        return None
    return SparkContext._active_spark_context


def _wrap_calls(client: Any, current_tag: CurrentTag) -> None:
    if hasattr(client.send_command, "__colline__"):
        return
    original = client.send_command

    def send_command(command: str, *arguments: Any, **named: Any) -> Any:
        is_call = command.startswith(_CALL) and not _thread.is_switching
        if is_call:
            _follow(current_tag())
        found = original(command, *arguments, **named)
        if is_call and command.endswith(_CLEARING_CALL):
            _thread.tag = None
        return found

    send_command.__colline__ = True  # type: ignore[attr-defined]  # marks the wrapper
    client.send_command = send_command


def _follow(tag: str | None) -> None:
    """Set the tag of the code that calls, if other code has run on this thread since."""
    if tag == _thread.tag:
        return
    context = _active_context()
    if context is None:
        return
    try:
        _switch(context, tag)
    except Exception:  # noqa: BLE001 - a wrong job name must not fail the user's call
        _thread.tag = tag


def _switch(context: Any, tag: str | None) -> None:
    before = _thread.tag if _thread.context is context else None
    if tag == before:
        return
    _thread.is_switching = True
    try:
        if before is None:
            # a thread of Spark's InheritableThread starts with the tags of its parent
            _thread.replaced = tuple(each for each in context.getJobTags() if TAG_PREFIX in each and each != tag)
        for each in _thread.replaced if before is None else (before,):
            context.removeJobTag(each)
        for each in _thread.replaced if tag is None else (tag,):
            context.addJobTag(each)
        _thread.tag, _thread.context = tag, context
    finally:
        _thread.is_switching = False
