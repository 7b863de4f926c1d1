"""Passes the name of a job to a Spark Connect server as an operation tag, which the server makes a Spark job tag."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any
from weakref import WeakSet

_MODULE = "pyspark.sql.connect.session"
_captured: WeakSet[Any] = WeakSet()


def add_captured_client(client: Any) -> None:
    """Tag the requests of this client too, although its session may be neither the active nor the default one."""
    _captured.add(client)


def replace_operation_tag(before: str | None, after: str | None) -> None:
    """Replace the tag of the current thread in the active, default and captured Connect sessions."""
    for client in _clients():
        if before is not None and before in client.get_tags():
            client.remove_tag(before)
        if after is not None:
            client.add_tag(after)


def _clients() -> Iterator[Any]:
    """The clients that this thread may use. PySpark keeps tags in the client, for each thread."""
    module = sys.modules.get(_MODULE)
    if module is None:
        return
    connect = module.SparkSession
    active, default = getattr(connect._active_session, "session", None), connect._default_session
    clients = (session.client for session in (active, default) if session is not None)
    yield from {id(client): client for client in (*clients, *_captured)}.values()
