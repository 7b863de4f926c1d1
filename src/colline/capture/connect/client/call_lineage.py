"""Finds the lineage of a request that has ended: its plan is analyzed by the resolver, and traced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import monotonic
from typing import Any, Protocol

import msgspec

from colline.capture.connect.client.literal_removal import without_literals
from colline.capture.connect.client.plan_recorder import PlanRecorder, RecordedRequest
from colline.capture.connect.client.recorded_calls import RecordedCall
from colline.capture.connect.recorded_plan import RecordedPlan, ResolvedPlan, pack_plan
from colline.capture.connect.resolver.resolver_client import RESOLVE_SECONDS
from colline.capture.error_boundary import ErrorBoundary
from colline.errors import CollineError
from colline.trace import OpaqueStep, Statement

_MAX_ROUNDS = 20
_PROGRAM_ENDED = "the program ended before its plan was analyzed"
_NO_STATEMENT = Statement((), ())


class Resolver(Protocol):
    """Analyzes recorded plans."""

    def resolve(self, recorded: RecordedPlan, timeout: float = RESOLVE_SECONDS) -> ResolvedPlan:
        """The analyzed plan."""

    def close(self) -> None:
        """End the resolver."""


class CallLineage:
    """Analyzes plans. `resolver` is the resolver, or why plans cannot be analyzed.

    With `removes_literals`, a plan that becomes part of an event has no values of literals.
    """

    def __init__(
        self,
        resolver: Resolver | str,
        recorder: PlanRecorder,
        trace: Callable[[Mapping[str, Any]], Statement],
        errors: ErrorBoundary,
        *,
        removes_literals: bool = False,
    ) -> None:
        self._resolver = None if isinstance(resolver, str) else resolver
        self._why_unresolved = resolver if isinstance(resolver, str) else ""
        self._recorder = recorder
        self._trace = trace
        self._errors = errors
        self._removes_literals = removes_literals
        self._deadline: float | None = None

    def stop_after(self, seconds: float) -> None:
        """Analyze no more plans after this time."""
        self._deadline = monotonic() + seconds

    def close(self) -> None:
        """Analyze no more plans, and end the resolver."""
        self.stop_after(0.0)
        if self._resolver is not None:
            self._resolver.close()

    def final_fields(self, call: RecordedCall, request: RecordedRequest) -> dict[str, Any]:
        """The fields of the final message: the analyzed plan, or what is known by name and why the rest is unknown."""
        recorded = msgspec.structs.replace(request.plan, result_columns=call.result_columns)
        if request.named.opaque:
            return {"plan": request.named}
        recorded, found = self._resolve(recorded)
        if found.plan is not None:
            return {"plan": self._analyze(found.plan)}
        if not found.failure:
            return {"plan": _NO_STATEMENT} if not request.named.writes else {"plan": request.named}
        if call.is_rejected and not request.named.writes and not request.named.inputs:
            return {"own": True}  # it has no START, and Spark could not analyze it either
        unresolved = unresolved_fields(request, found.failure)
        if self._removes_literals:
            recorded = without_literals(recorded)
        is_for_ingest = self._resolver is None or self._deadline is not None
        return unresolved | ({"recorded_plan": pack_plan(recorded)} if is_for_ingest else {})

    def _analyze(self, plan: Mapping[str, Any]) -> Statement:
        return self._errors.run("tracing a plan", lambda: self._trace(plan), _untraced_statement)

    def _resolve(self, recorded: RecordedPlan) -> tuple[RecordedPlan, ResolvedPlan]:
        found = ResolvedPlan(failure=self._why_unresolved or _PROGRAM_ENDED)
        for _ in range(_MAX_ROUNDS if self._resolver is not None else 0):
            seconds = RESOLVE_SECONDS if self._deadline is None else min(self._deadline - monotonic(), RESOLVE_SECONDS)
            if seconds <= 0:
                break
            assert self._resolver is not None
            found = self._resolver.resolve(recorded, seconds)
            if found.plan is not None or not found.missing:
                break
            more = self._recorder.add_missing(recorded, found.missing)
            if more is None:
                break
            recorded = more
        return recorded, found


def unresolved_fields(request: RecordedRequest, why: str) -> dict[str, Any]:
    """The fields of the final message of a request whose plan is not analyzed: what is known by name."""
    return {"plan": replace(request.named, opaque=(_unresolved_step(why),))}


def unknown_request(error: Exception) -> RecordedRequest:
    """What is recorded of a request whose plan cannot be read: that it ran."""
    return RecordedRequest(RecordedPlan(b""), None, _untraced_statement(error))


def _untraced_statement(error: Exception) -> Statement:
    why = error.message if isinstance(error, CollineError) else type(error).__name__
    return Statement((), (), (_unresolved_step(why),), has_columns=False)


def _unresolved_step(why: str) -> OpaqueStep:
    return OpaqueStep("plan", why=f"plan not resolved: {why}")
