"""Encoding and decoding of events, also of other producers."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colline.errors import EventError
from colline.events.json_codec import decode, encode
from colline.events.model import (
    Dataset,
    DatasetEvent,
    InputDataset,
    Job,
    JobEvent,
    OutputDataset,
    Run,
    RunEvent,
    RunState,
)

texts = st.text(max_size=20)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
facets = st.none() | st.dictionaries(texts, st.dictionaries(texts, plain, max_size=3), max_size=3)
inputs = st.lists(
    st.builds(InputDataset, namespace=texts, name=texts, facets=facets, input_facets=facets), max_size=3
).map(tuple)
outputs = st.lists(
    st.builds(OutputDataset, namespace=texts, name=texts, facets=facets, output_facets=facets), max_size=3
).map(tuple)
jobs = st.builds(Job, namespace=texts, name=texts, facets=facets)
runs = st.builds(Run, run_id=st.uuids().map(str), facets=facets)
times = st.datetimes().map(lambda at: at.isoformat() + "Z")
events = st.one_of(
    st.builds(
        RunEvent,
        event_time=times,
        producer=texts,
        schema_url=texts,
        run=runs,
        job=jobs,
        event_type=st.none() | st.sampled_from(RunState),
        inputs=st.none() | inputs,
        outputs=st.none() | outputs,
    ),
    st.builds(JobEvent, event_time=times, job=jobs, inputs=st.none() | inputs, outputs=st.none() | outputs),
    st.builds(DatasetEvent, event_time=times, dataset=st.builds(Dataset, namespace=texts, name=texts, facets=facets)),
)


@given(events)
def test_decoding_an_encoded_event_returns_it(event: Any) -> None:
    assert decode(encode(event)) == event
    assert b"\n" not in encode(event)


def listener_event(**changes: Any) -> dict[str, Any]:
    """An event as OpenLineage's Spark listener writes it."""
    producer = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
    spec = "https://openlineage.io/spec/facets"
    return {
        "eventTime": "2026-02-03T04:05:06.789Z",
        "producer": producer,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "eventType": "COMPLETE",
        "run": {
            "runId": "019c2345-6789-7abc-8def-0123456789ab",
            "facets": {"spark.exception": {"_producer": producer, "_schemaURL": "x", "message": "boom"}},
        },
        "job": {"namespace": "depot", "name": "nightly.execute_insert_into.default_stock"},
        "inputs": [{"namespace": "file", "name": "/depot/parts"}],
        "outputs": [
            {
                "namespace": "file",
                "name": "/depot/stock",
                "facets": {
                    "columnLineage": {
                        "_producer": producer,
                        "_schemaURL": f"{spec}/1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet",
                        "fields": {
                            "count": {
                                "inputFields": [{"namespace": "file", "name": "/depot/parts", "field": "id"}],
                                "transformationType": "IDENTITY",
                                "transformationDescription": "identical",
                            }
                        },
                    }
                },
                "outputFacets": {"outputStatistics": {"rowCount": 3, "size": 10}},
            }
        ],
        **changes,
    }


def test_event_of_the_openlineage_listener_loses_nothing() -> None:
    sent = listener_event()
    event = decode(json.dumps(sent))
    assert isinstance(event, RunEvent)
    assert (event.event_type, event.run.run_id) == (RunState.COMPLETE, sent["run"]["runId"])
    assert msgspec.json.decode(encode(event)) == sent


@pytest.mark.parametrize(
    ("changes", "state", "read", "written"),
    [
        ({"inputs": [], "outputs": []}, "COMPLETE", [], []),
        ({"inputs": None, "outputs": None}, "COMPLETE", [], []),
        ({"eventType": None}, None, ["/depot/parts"], ["/depot/stock"]),
        ({"somethingNew": {"at": "the top"}}, "COMPLETE", ["/depot/parts"], ["/depot/stock"]),
        ({"outputs": [{"namespace": "file", "name": "/x", "facets": None}]}, "COMPLETE", ["/depot/parts"], ["/x"]),
    ],
    ids=str,
)
def test_missing_and_unknown_parts_are_accepted(
    changes: dict[str, Any], state: str | None, read: list[str], written: list[str]
) -> None:
    event = decode(json.dumps(listener_event(**changes)))
    assert isinstance(event, RunEvent)
    assert event.event_type == (state and RunState(state))
    assert [found.name for found in event.inputs or ()] == read
    assert [found.name for found in event.outputs or ()] == written


def test_job_and_dataset_events_are_distinguished() -> None:
    job = {"eventTime": "2026-02-03T04:05:06Z", "job": {"namespace": "a", "name": "b"}}
    dataset = {"eventTime": "2026-02-03T04:05:06Z", "dataset": {"namespace": "a", "name": "b"}}
    found = decode(json.dumps(job))
    assert isinstance(found, JobEvent) and found.job == Job(namespace="a", name="b")
    found = decode(json.dumps(dataset))
    assert isinstance(found, DatasetEvent) and found.dataset == Dataset(namespace="a", name="b")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "truncated"),
        ("not json", "malformed"),
        ("[]", "Expected `object`, got `array`"),
        ("{}", "missing required field"),
        (json.dumps(listener_event(run={"facets": {}})), "missing required field `runId`"),
        (json.dumps(listener_event(eventType="DONE")), "Invalid enum value 'DONE'"),
        (json.dumps(listener_event(inputs="none")), "$.inputs"),
        ("{" * 100_000, "not an OpenLineage event"),
        ('{"run":' + "[" * 100_000 + "]" * 100_000 + "}", "not an OpenLineage event"),
    ],
)
def test_error_contains_the_reason(text: str, reason: str) -> None:
    with pytest.raises(EventError) as raised:
        decode(text)
    assert reason in str(raised.value)
    assert "hint:" in str(raised.value)


def test_invalid_utf8_is_refused() -> None:
    with pytest.raises(EventError, match="utf-8"):
        decode(json.dumps(listener_event()).encode().replace(b"nightly", b"\xff\xfe"))
