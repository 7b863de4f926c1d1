"""Writes that are run, on real files, tables, Delta and JDBC: the event that ends one has the lines of its case."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import colline
from colline.capture.watch import Watch
from tests.trace.cases import Case, run_cases, short
from tests.trace.live import lacking, made

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
def test_the_event_of_what_was_run(case: Case, spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    if why := lacking(case, spark):
        pytest.skip(why)
    with made(case, spark, place=tmp_path):
        found = shown(ended(watch), case)
    assert found == case.expected


def ended(watch: Watch) -> Event:
    """The last event of a query; it says that the query is complete."""
    queries = [event for event in watch.events if event["job"]["facets"]["jobType"]["jobType"] != "APPLICATION"]
    assert queries[-1]["eventType"] == "COMPLETE"
    return queries[-1]


def shown(event: Event, case: Case) -> tuple[str, ...]:
    """An event as the lines that its case would expect."""
    outputs = event["outputs"]
    lines = [f"output: {_target(output)}" for output in outputs]
    for output in outputs:
        lines += _columns(output, f"{short(output['name'])}." if len(outputs) > 1 else "")
    if any(line.startswith("input: ") for line in case.expected):
        lines += [f"input: {_source(found)}" for found in event["inputs"]]
    if any(line.startswith("read: ") for line in case.expected):
        lines += [line for found in event["inputs"] for line in _reads(found)]
    return tuple(sorted(lines))


def _target(output: Event) -> str:
    change = output.get("facets", {}).get("lifecycleStateChange", {})
    before = change.get("previousIdentifier", {}).get("name", "")
    told = f" {change['lifecycleStateChange'].lower()}" if change else ""
    return f"{_source(output)}{told}" + (f" from {short(before)}" if before else "")


def _source(dataset: Event) -> str:
    kind = dataset.get("facets", {}).get("datasetType", {}).get("datasetType", "")
    return f"{'view ' if kind == 'VIEW' else ''}{short(dataset['name'])}"


def _columns(output: Event, of: str) -> list[str]:
    facet = output["facets"].get("columnLineage", {"fields": {}, "dataset": []})
    lines = [line for name, found in facet["fields"].items() for line in _lines(of + name, found["inputFields"])]
    return lines + (_lines(f"{of}*", facet["dataset"]) if facet.get("dataset") else [])


def _lines(name: str, entries: list[Event]) -> list[str]:
    ways = [(entry, way) for entry in entries for way in entry["transformations"]]
    return sorted({f"{name} <- {short(entry['name'])}.{entry['field']} {_how(way)}" for entry, way in ways}) or [
        f"{name} <- nothing"
    ]


def _how(way: Event) -> str:
    return f"{way['type'].lower()}/{way['subtype'].lower()}" + (" masked" if way["masking"] else "")


def _reads(dataset: Event) -> list[str]:
    fields = dataset["facets"]["colline_columnsRead"]["fields"]
    return [f"read: {short(dataset['name'])}.{each['name']} {' '.join(each['uses'])}" for each in fields]


@pytest.mark.spark
def test_the_worked_example_in_both_forms(spark: SparkSession) -> None:
    case = next(case for case in CASES if case.name == "the worked example, run")
    with made(case, spark):
        found = colline.lineage(textwrap.dedent(case.code).split('"""')[1], spark)
    (orders,) = found.inputs
    days = {"namespace": orders.name.namespace, "name": orders.name.name}

    def entry(field: str, kind: str, subtype: str) -> Event:
        way = {"type": kind, "subtype": subtype, "description": "", "masking": False}
        return {**days, "field": field, "transformations": [way]}

    def told(facet: Event) -> Event:
        """The facet without the descriptions, which the example leaves empty."""
        fields = {name: {"inputFields": bare(found["inputFields"])} for name, found in facet["fields"].items()}
        return {"fields": fields, "dataset": bare(facet["dataset"])}

    def bare(entries: list[Event]) -> list[Event]:
        return [
            {**each, "transformations": [{**way, "description": ""} for way in each["transformations"]]}
            for each in entries
        ]

    placed, delivered = "order_placed_on", "order_delivered_on"
    own = {
        **{name: [entry(name, "DIRECT", "IDENTITY")] for name in ("order_id", placed, delivered)},
        "order_delivery_time": [entry(name, "DIRECT", "TRANSFORMATION") for name in (placed, delivered)],
    }
    rows = [entry(name, "INDIRECT", "SORT") for name in (placed, delivered)]
    assert told(found.facet()) == {
        "fields": {name: {"inputFields": entries} for name, entries in own.items()},
        "dataset": rows,
    }
    assert told(found.facet(legacy=True)) == {
        "fields": {name: {"inputFields": entries + rows} for name, entries in own.items()},
        "dataset": [],
    }
