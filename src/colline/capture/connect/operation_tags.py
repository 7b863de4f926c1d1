"""Passes the name of a job to a Spark Connect server as an operation tag, which the server makes a Spark job tag."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakSet

CurrentTag = Callable[[], str | None]

_MODULE = "pyspark.sql.connect.session"
_captured: WeakSet[Any] = WeakSet()
_wrapped: WeakSet[Any] = WeakSet()
_lock = threading.Lock()


def add_captured_client(client: Any) -> None:
    """Tag the requests of this client too, although its session may be neither the active nor the default one."""
    _captured.add(client)


def tag_connect_requests(current_tag: CurrentTag) -> None:
    """Add the tag of the code that sends a request, in the active, default and captured Connect sessions."""
    with _lock:
        for client in _clients():
            if client not in _wrapped:
                client.get_tags = _with_current_tag(client.get_tags, current_tag)
                _wrapped.add(client)


def restore_connect_clients() -> None:
    """Restore the clients as PySpark made them, when no code has a tag."""
    with _lock:
        for client in _wrapped:
            if hasattr(vars(client).get("get_tags"), "__colline__"):
                del client.get_tags
        _wrapped.clear()


def _with_current_tag(original: Callable[[], set[str]], current_tag: CurrentTag) -> Callable[[], set[str]]:
    def get_tags() -> set[str]:
        tag = current_tag()
        return {*original(), tag} if tag else original()

    get_tags.__colline__ = True  # type: ignore[attr-defined]  # marks the wrapper
    return get_tags


def _clients() -> Iterator[Any]:
    """The clients that this thread may use."""
    module = sys.modules.get(_MODULE)
    if module is None:
        return
    connect = module.SparkSession
    active, default = getattr(connect._active_session, "session", None), connect._default_session
    clients = (session.client for session in (active, default) if session is not None)
    yield from {id(client): client for client in (*clients, *_captured)}.values()
