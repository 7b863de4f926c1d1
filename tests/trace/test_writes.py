"""Executed cases on real files, tables, streams, Delta, Iceberg and JDBC: the final event has their lineage."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import colline
from colline.capture.watch import Watch
from tests.trace.cases import Case, check_lines, run_cases, short_name
from tests.trace.live import missing_requirement, opened_case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Event = dict[str, Any]

CASES = run_cases()


@pytest.fixture(scope="module")
def watch(spark: SparkSession) -> Iterator[Watch]:
    found = colline.attach(spark, transport={"type": "memory"}, namespace="tests")
    assert isinstance(found, Watch)
    yield found
    found.detach()


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=[case.key for case in CASES])
def test_final_event_has_the_lineage_of_the_case(case: Case, spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    if reason := missing_requirement(case, spark):
        pytest.skip(reason)
    with opened_case(case, spark, folder=tmp_path):
        found = event_lines(final_event(watch), case)
    check_lines(case, found)


def final_event(watch: Watch) -> Event:
    """The COMPLETE event of the last query."""
    queries = [event for event in watch.events if event["job"]["facets"]["jobType"]["jobType"] != "APPLICATION"]
    assert queries[-1]["eventType"] == "COMPLETE"
    return queries[-1]


def event_lines(event: Event, case: Case) -> tuple[str, ...]:
    """The lineage of an event in the form in which the case states its expectation."""
    outputs = event["outputs"]
    lines = [f"output: {_target(output)}" for output in outputs]
    for output in outputs:
        lines += _columns(output, f"{short_name(output['name'])}." if len(outputs) > 1 else "")
    if any(line.startswith("input: ") for line in case.expected):
        lines += [f"input: {_source(found)}" for found in event["inputs"]]
    if any(line.startswith("read: ") for line in case.expected):
        lines += [line for found in event["inputs"] for line in _reads(found)]
    return tuple(sorted(lines))


def _target(output: Event) -> str:
    change = output.get("facets", {}).get("lifecycleStateChange", {})
    before = change.get("previousIdentifier", {}).get("name", "")
    state = f" {change['lifecycleStateChange'].lower()}" if change else ""
    return f"{_source(output)}{state}" + (f" from {short_name(before)}" if before else "")


def _source(dataset: Event) -> str:
    kind = dataset.get("facets", {}).get("datasetType", {}).get("datasetType", "")
    return f"{'view ' if kind == 'VIEW' else ''}{short_name(dataset['name'])}"


def _columns(output: Event, prefix: str) -> list[str]:
    facet = output["facets"].get("columnLineage", {"fields": {}, "dataset": []})
    lines = [line for name, found in facet["fields"].items() for line in _lines(prefix + name, found["inputFields"])]
    return lines + (_lines(f"{prefix}*", facet["dataset"]) if facet.get("dataset") else [])


def _lines(name: str, entries: list[Event]) -> list[str]:
    steps = [(entry, step) for entry in entries for step in entry["transformations"]]
    lines = {f"{name} <- {short_name(entry['name'])}.{entry['field']} {_effect_label(step)}" for entry, step in steps}
    return sorted(lines) or [f"{name} <- nothing"]


def _effect_label(step: Event) -> str:
    return f"{step['type'].lower()}/{step['subtype'].lower()}" + (" masked" if step["masking"] else "")


def _reads(dataset: Event) -> list[str]:
    fields = dataset["facets"]["colline_columnsRead"]["fields"]
    return [f"read: {short_name(dataset['name'])}.{each['name']} {' '.join(each['uses'])}" for each in fields]


@pytest.mark.spark
def test_worked_example_in_both_facet_forms(spark: SparkSession) -> None:
    case = next(case for case in CASES if case.name == "the worked example")
    with opened_case(case, spark):
        found = colline.lineage(textwrap.dedent(case.code).split('"""')[1], spark)
    (orders,) = found.inputs
    days = {"namespace": orders.name.namespace, "name": orders.name.name}

    def entry(field: str, kind: str, subtype: str) -> Event:
        step = {"type": kind, "subtype": subtype, "description": "", "masking": False}
        return {**days, "field": field, "transformations": [step]}

    def without_descriptions(facet: Event) -> Event:
        """The facet without the descriptions, which the example leaves empty."""
        fields = {
            name: {"inputFields": clear_descriptions(found["inputFields"])} for name, found in facet["fields"].items()
        }
        return {"fields": fields, "dataset": clear_descriptions(facet["dataset"])}

    def clear_descriptions(entries: list[Event]) -> list[Event]:
        return [
            {**each, "transformations": [{**step, "description": ""} for step in each["transformations"]]}
            for each in entries
        ]

    placed, delivered = "order_placed_on", "order_delivered_on"
    own = {
        **{name: [entry(name, "DIRECT", "IDENTITY")] for name in ("order_id", placed, delivered)},
        "order_delivery_time": [entry(name, "DIRECT", "TRANSFORMATION") for name in (placed, delivered)],
    }
    rows = [entry(name, "INDIRECT", "SORT") for name in (placed, delivered)]
    assert without_descriptions(found.facet()) == {
        "fields": {name: {"inputFields": entries} for name, entries in own.items()},
        "dataset": rows,
    }
    assert without_descriptions(found.facet(legacy=True)) == {
        "fields": {name: {"inputFields": entries + rows} for name, entries in own.items()},
        "dataset": [],
    }
