"""Observes the requests of a Spark Connect client: its two methods that execute a plan are wrapped.

The wrappers pass on requests, responses and errors unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from colline.capture.error_boundary import ErrorBoundary

_MISSING = object()
Call = Any  # what the observer returned for the start of a request


class RequestObserver(Protocol):
    """Is notified about requests, on the threads of the user. Its methods must be fast."""

    def on_start(self, request: Any) -> Call:
        """A request is about to be sent. Returns an object for the other methods; None if it is not of interest."""

    def on_response(self, call: Call, response: Any) -> None:
        """A part of the result has arrived, as PySpark has decoded it."""

    def on_end(self, call: Call, error: BaseException | None) -> None:
        """The request has ended; the last notification of a call."""


class RequestHooks:
    """The wrappers of one client. `remove` restores the client as it was."""

    def __init__(self, client: Any, observer: RequestObserver, errors: ErrorBoundary) -> None:
        self._client = client
        self._observer = observer
        self._errors = errors
        self._is_active = True
        self._replaced: list[tuple[str, Any, Any]] = []  # name, earlier attribute of the instance, wrapper
        self._wrap("_execute", self._wrapped_call)
        self._wrap("_execute_and_fetch_as_iterator", self._wrapped_iterator)

    def remove(self) -> None:
        """Restore the client. A wrapper that another library has wrapped since then stays, and does nothing."""
        self._is_active = False
        attributes = vars(self._client)
        for name, before, wrapper in self._replaced:
            if attributes.get(name) is not wrapper:
                continue
            if before is _MISSING:
                delattr(self._client, name)
            else:
                setattr(self._client, name, before)
        self._replaced = []

    def _wrap(self, name: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        before = vars(self._client).get(name, _MISSING)
        wrapper = wrap(getattr(self._client, name))
        setattr(self._client, name, wrapper)
        self._replaced.append((name, before, wrapper))

    def _wrapped_call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def execute(req: Any, *arguments: Any, **named: Any) -> Any:
            call = self._notify_start(req)
            try:
                found = original(req, *arguments, **named)
            except BaseException as error:
                self._notify_end(call, error)
                raise
            self._notify_end(call, None)
            return found

        return execute

    def _wrapped_iterator(self, original: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
        def execute_and_fetch(req: Any, *arguments: Any, **named: Any) -> Iterator[Any]:
            call = self._notify_start(req)
            responses = original(req, *arguments, **named)
            try:
                for response in responses:
                    self._notify_response(call, response)
                    yield response
            except GeneratorExit:  # the caller needs no more rows
                responses.close()
                self._notify_end(call, None)
                raise
            except BaseException as error:
                self._notify_end(call, error)
                raise
            self._notify_end(call, None)

        return execute_and_fetch

    def _notify_start(self, request: Any) -> Call:
        if not self._is_active:
            return None
        return self._errors.run("recording a request", lambda: self._observer.on_start(request), lambda _: None)

    def _notify_response(self, call: Call, response: Any) -> None:
        if call is not None:
            self._errors.run("reading a response", lambda: self._observer.on_response(call, response), lambda _: None)

    def _notify_end(self, call: Call, error: BaseException | None) -> None:
        if call is not None:
            self._errors.run("recording a response", lambda: self._observer.on_end(call, error), lambda _: None)
