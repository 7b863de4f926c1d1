"""Puts column lineage into events whose plans were not analyzed where they were captured.

A program that `colline ingest` starts: each line of stdin is an event with the facet `colline_plan`, and each line of
stdout is the event that replaces it. If a plan cannot be analyzed, the event keeps its datasets and states why.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any, BinaryIO

import msgspec

from colline.capture.analyze import tracing_context
from colline.capture.connect.connect_session import MissingPackageError, require_packages
from colline.capture.connect.recorded_plan import RecordedPlan, ResolvedPlan, unpack_plan
from colline.capture.connect.resolver.resolver_client import ResolverProcess, why_unavailable
from colline.capture.hadoop_writer import error_line
from colline.capture.udf_masking import is_masking_by_verdict
from colline.errors import CollineError
from colline.events.event_builder import definition, run_event
from colline.events.event_context import EventContext, RunName
from colline.events.facet_specs import LINEAGE
from colline.events.json_codec import encode
from colline.events.lineage_facets import LineageForm
from colline.events.model import RunState
from colline.events.redact import redact
from colline.naming.dataset import NameContext, context_from_conf
from colline.plan.decode import decode
from colline.trace import Statement, statement

_PLAN, _OPAQUE, _QUERY = "colline_plan", "colline_opaque", "colline_query"
_KEPT_PLANS = 64
_EPOCH = datetime.fromtimestamp(0, timezone.utc)  # the event has its own time
JsonEvent = dict[str, Any]
Resolve = Callable[[RecordedPlan], ResolvedPlan]


def main() -> None:
    """Replace events until stdin ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else mixes with the replies
    resolver = ResolverProcess()
    try:
        replace_events(sys.stdin.buffer, replies, resolver.resolve)
    finally:
        resolver.close()


def replace_events(lines: BinaryIO, replies: BinaryIO, resolve: Resolve) -> None:
    """Write the replacement of each line."""
    why = _why_unavailable()

    @lru_cache(maxsize=_KEPT_PLANS)  # the runs of a job repeat its plan
    def analyze(packed: str) -> tuple[Statement, NameContext]:
        if why:
            raise CollineError(why)
        return _analyze(unpack_plan(packed), resolve)

    for line in lines:
        replies.write(_replacement(msgspec.json.decode(line), analyze) + b"\n")
        replies.flush()


def _why_unavailable() -> str:
    try:
        require_packages()
    except MissingPackageError as error:
        return error.message
    return why_unavailable()


def _replacement(event: JsonEvent, analyze: Callable[[str], tuple[Statement, NameContext]]) -> bytes:
    facets: dict[str, Any] = event["run"]["facets"]
    packed = str(facets.pop(_PLAN).get("recorded") or "")
    try:
        found, names = analyze(packed)
        if found.writes or found.inputs:
            _put_lineage(event, found, names)
        if not found.opaque:
            facets.pop(_OPAQUE, None)
    except Exception as error:  # noqa: BLE001 - one plan must not prevent the next one
        why = error.message if isinstance(error, CollineError) else error_line(error)
        facets[_OPAQUE] = {**facets.get(_OPAQUE, {}), "steps": [_unresolved_step(why)]}
    return msgspec.json.encode(event)


def _unresolved_step(why: str) -> dict[str, str]:
    return {"node": "plan", "why": redact(f"plan not resolved: {why}")}


def _analyze(recorded: RecordedPlan, resolve: Resolve) -> tuple[Statement, NameContext]:
    found = resolve(recorded)
    if found.failure:
        raise CollineError(found.failure)
    names = replace(
        context_from_conf(recorded.naming),
        working_directory=recorded.working_directory,
        databases=recorded.databases,
    )
    if found.plan is None:  # a command without lineage
        return Statement((), ()), names
    # the code of functions in a plan of another program must not be loaded
    context = replace(tracing_context(names, recorded.masking), is_masking_udf=is_masking_by_verdict)
    return statement(decode(found.plan), context), names


def _put_lineage(event: JsonEvent, found: Statement, names: NameContext) -> None:
    """Replace the datasets of an event by those of the analyzed plan, and the facets that describe its lineage."""
    form = LineageForm.BOTH if LINEAGE.key in (event["job"].get("facets") or {}) else LineageForm.COMPACT
    run = RunName(event["job"]["namespace"], event["job"]["name"], event["run"]["runId"])
    context = EventContext(run, names, form=form, definition=definition(found), redact=redact)
    built = msgspec.json.decode(encode(run_event(RunState.COMPLETE, _EPOCH, found, context)))
    event["inputs"], event["outputs"] = built.get("inputs", []), built.get("outputs", [])
    facets: dict[str, Any] = built["run"].get("facets") or {}
    event["run"]["facets"].update({key: facets[key] for key in (_OPAQUE, _QUERY) if key in facets})
    if LINEAGE.key in built["job"].get("facets", {}):
        event["job"]["facets"][LINEAGE.key] = built["job"]["facets"][LINEAGE.key]


if __name__ == "__main__":
    main()
