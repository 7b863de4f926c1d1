"""Validation of events: valid ones, the path and reason of invalid ones, and both as one line."""

from __future__ import annotations

import base64
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colline.server.receive.validate import MAX_VALUES, MAXIMUM_DEPTH, Fault, as_line, events_in, fault_of
from tests.server.serving import event

GOOD = event()


def event_with(path: str, value: object) -> bytes:
    changed = json.loads(json.dumps(GOOD))
    at = changed
    *steps, last = path.split(".")
    for step in steps:
        at = at.setdefault(step, {})
    at[last] = value
    return json.dumps(changed).encode()


def _lineage(facet: object) -> bytes:
    output = {"namespace": "file", "name": "/t", "facets": {"columnLineage": facet}}
    return json.dumps(event(outputs=[output])).encode()


WRONG = [
    (b"", "$"),
    (b"nonsense", "$"),
    (b'"text"', "$"),
    (b"[]", "$"),
    (b"{}", "$"),
    (b'{"eventTime": "2026-03-02T12:04:00Z"}', "$"),
    (event_with("eventTime", "yesterday"), "$.eventTime"),
    (event_with("eventTime", 7), "$.eventTime"),
    (event_with("eventTime", "1999-12-31T23:59:59Z"), "$.eventTime"),
    (event_with("eventTime", "9999-01-01T00:00:00Z"), "$.eventTime"),
    (event_with("eventTime", "2026-03-02t12:04:00Z"), "$.eventTime"),
    (event_with("eventTime", "2026-03-02T12:04:00z"), "$.eventTime"),
    (event_with("eventTime", "2026-03-02T12:04:00+18:30"), "$.eventTime"),
    (event_with("eventType", "DONE"), "$.eventType"),
    (event_with("run.runId", 7), "$.run.runId"),
    (event_with("run.runId", ""), "$.run.runId"),
    (event_with("job.name", "  "), "$.job.name"),
    (event_with("run", []), "$.run"),
    (event_with("job.name", None), "$.job.name"),
    (event_with("job", None), "$.job"),
    (event_with("inputs", {}), "$.inputs"),
    (event_with("outputs", [{"namespace": "file"}]), "$.outputs[0]"),
    (_lineage({"fields": []}), "$.outputs[0].facets.columnLineage.fields"),
    (_lineage({"fields": {"a": {"inputFields": [{"namespace": "n", "name": 1, "field": "f"}]}}}),
     "$.outputs[0].facets.columnLineage.fields[...].inputFields[0].name"),
    (b'{"eventTime": "2026-03-02T12:04:00Z", "job": {"namespace": "\xff", "name": "n"}}', "$"),
    (b"\0" + json.dumps(GOOD).encode(), "$"),
    (event_with("run.facets", json.loads("[" * 300 + "]" * 300)), "$.run.facets"),
    (event_with("run.facets.deep", json.loads("[" * 300 + "]" * 300)), "$"),
    (json.dumps(GOOD).encode().replace(b'"inputs": []', b'"x": ' + b"[" * 100_000 + b"]" * 100_000), "$"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path"), WRONG, ids=range(len(WRONG)))
def test_invalid_value_is_reported_with_its_path(text: bytes, path: str) -> None:
    fault = fault_of(text)
    assert fault is not None
    assert (fault.path, bool(fault.reason)) == (path, True)


RIGHT = [
    GOOD,
    {"eventTime": GOOD["eventTime"], "job": GOOD["job"]},
    {"eventTime": GOOD["eventTime"], "dataset": {"namespace": "file", "name": "/t"}},
    event(eventTime="2026-03-02T12:04:00+01:00"),
    event(eventTime="2026-03-02T12:04:00.123456789Z"),
    event(inputs=None, outputs=None),
    event(eventType=None),
    event(unknown={"a": [1, 2.5, None]}),
    event(outputs=[{"namespace": "file", "name": "/t", "facets": {"schema": {}, "columnLineage": None, "x": 1}}]),
    event(job="[" * 1000 + "{" * 1000),
    event(job="\0<script>alert(1)</script>../../\u202eемоджи 🐟" + "x" * 10_000),
]


@pytest.mark.parametrize("good", RIGHT, ids=range(len(RIGHT)))
def test_every_kind_of_event_is_valid(good: dict[str, object]) -> None:
    assert fault_of(json.dumps(good).encode()) is None
    assert fault_of(json.dumps(good, ensure_ascii=False).encode()) is None
    assert fault_of(json.dumps(good, indent=2).encode()) is None


def test_nesting_depth_ignores_brackets_in_text() -> None:
    deepest = json.loads("[" * (MAXIMUM_DEPTH - 3) + "]" * (MAXIMUM_DEPTH - 3))
    assert fault_of(event_with("run.facets.deep", deepest)) is None
    assert fault_of(event_with("run.facets.deep", [deepest])) == Fault("$", f"nested deeper than {MAXIMUM_DEPTH}")


def test_pretty_printed_event_becomes_one_line() -> None:
    text = json.dumps(GOOD, indent=2).replace("\n", "\r\n").encode()
    line = as_line(text)
    assert line.count(b"\n") == 1
    assert b"\r" not in line
    assert json.loads(line) == GOOD


@given(st.binary(max_size=200))
def test_invalid_text_becomes_one_line_that_contains_it(text: bytes) -> None:
    fault = fault_of(text)
    if fault is None:
        return
    line = as_line(text, fault)
    assert line.endswith(b"\n")
    assert not any(byte in line[:-1] for byte in (b"\n", b"\r", b"\0"))
    assert fault_of(line) == Fault("$", "Object missing required field `eventTime`")
    kept = msgspec.json.decode(line)["colline_refused"]
    assert kept == {"path": fault.path, "reason": fault.reason, "text": text.decode(errors="backslashreplace")}


@pytest.mark.parametrize("content", [b"\xff" * 200_000, b"\0" * 200_000], ids=["not UTF-8", "control characters"])
def test_large_text_that_is_not_text_is_kept_as_base64(content: bytes) -> None:
    line = as_line(content, Fault("$", "not JSON"))
    assert len(line) < len(content) * 1.4
    assert base64.b64decode(json.loads(line)["colline_refused"]["base64"]) == content


def test_large_refused_text_is_kept_as_text() -> None:
    content = json.dumps({"é": "x" * 200_000}, indent=2).encode()
    assert json.loads(as_line(content, Fault("$", "no event")))["colline_refused"]["text"] == content.decode()


def test_values_are_counted_outside_of_strings() -> None:
    text = event_with("job.facets.sql", {"query": "values " + "(1, 2), {[" * MAX_VALUES + '\\"'})
    assert fault_of(text) is None
    many = event_with("job.facets.x", [0] * (MAX_VALUES + 1))
    assert fault_of(many) == Fault("$", f"more than {MAX_VALUES} values")


def test_a_batch_is_an_array_or_lines() -> None:
    one, two = json.dumps(GOOD).encode(), json.dumps(event("b")).encode()
    assert events_in(b"[" + one + b",\n " + two + b"]", 2) == [one, two]
    assert events_in(one + b"\r\n\n" + two + b"\n", 2) == [one, two]
    assert events_in(b" " + one + b"\n \r\n\t\n" + two, 2) == [b" " + one, two]
    assert events_in(b"  ", 2) == []
    assert isinstance(events_in(b"[" + one, 2), Fault)


def test_batch_with_more_events_than_allowed_is_not_taken_apart() -> None:
    element = b'{"a": [1, 2, {"b": "],"}]}'
    for batch in (b"[" + b",".join([element] * 3) + b"]", b"\n".join([element] * 3)):
        assert events_in(batch, 3) == [element] * 3
        assert events_in(batch, 2) is None
