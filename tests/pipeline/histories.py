"""Random histories of a few jobs.

Unchanged lineage, streams, applications, overwrites, failures, late events, jobs that are named differently when they
start and end, and catalog names that are moved.
"""

from __future__ import annotations

import random
import uuid
from datetime import datetime, timedelta, timezone
from typing import Any

from tests.lakes import dataset, event, lineage, parent, source

BEGAN = datetime(2026, 9, 1, tzinfo=timezone.utc)
RUNS, SHAPES, COLUMNS = 60, 5, ("a", "b", "c")
UNCHANGED = ("unchanged", "overwriting")
JOBS = (*UNCHANGED, "changing", "streaming", "renamed", "located", "catalog")
CATALOG_NAME = {"identifiers": [{"namespace": "hive", "name": "db.t", "type": "TABLE"}]}


def history(seed: int) -> list[dict[str, Any]]:
    """The events of sixty runs as they land: mostly in order of time, a few late or twice."""
    chance = random.Random(seed)
    at, timed = BEGAN, []
    for number in range(RUNS):
        at += timedelta(seconds=chance.choice([1, 1, 2, 5]))
        timed += _run(chance, chance.choice(JOBS), f"{seed}-{number}", at)
    events = [event for _, event in sorted(timed, key=lambda each: each[0])]
    for _ in range(chance.choice([0, 0, 3])):
        place = chance.randrange(len(events))
        events.insert(min(len(events), place + chance.randrange(10, 60)), events.pop(place))
    return events + (chance.sample(events, 5) if chance.random() < 0.3 else [])


def _run(chance: random.Random, job: str, name: str, at: datetime) -> list[tuple[datetime, dict[str, Any]]]:
    """The events of one run, each with the time it lands."""
    inputs, outputs, facets = _inputs(chance, job), _outputs(chance, job), _facets(chance, job)
    kinds = [("START", 0)] if chance.random() < 0.6 else []
    if job == "streaming":
        kinds += [("RUNNING", second) for second in range(1, chance.randrange(2, 5))]
    end = chance.choice([*["COMPLETE"] * 8, "FAIL", "ABORT", None])
    kinds += [(end, chance.choice([4, 6, 9]))] if end else []
    timely = chance.random() < 0.8  # the id contains the time
    landed = []
    for kind, second in kinds:
        whole = kind == "COMPLETE" or chance.random() < 0.8
        when = at + timedelta(seconds=second)
        built = event(
            kind,
            when.isoformat(),
            run=name,
            job=f"jobs/{job}{chance.choice(['', '.table']) if job == 'renamed' else ''}",
            inputs=inputs if whole else (),
            outputs=outputs if whole else (),
            **facets,
        )
        if timely:
            built["run"]["runId"] = timely_id(name, at)
        if job == "streaming":
            built["job"]["facets"] = {"jobType": {"processingType": "STREAMING", "integration": "SPARK"}}
        landed.append((when + timedelta(seconds=chance.random() / 2), built))
    return landed


def timely_id(name: str, at: datetime) -> str:
    """A run id of version 7."""
    rest = uuid.uuid5(uuid.NAMESPACE_URL, name).int & ((1 << 62) - 1)
    return str(uuid.UUID(int=(int(at.timestamp() * 1000) << 80) | (7 << 76) | (2 << 62) | rest))


def _inputs(chance: random.Random, job: str) -> list[dict[str, Any]]:
    read = {"colline_columnsRead": {"fields": [{"name": "x", "uses": ["value", "filter"]}]}}
    return [
        dataset("lake/source", "x int", "y int", **(read if chance.random() < 0.2 and job not in UNCHANGED else {}))
    ]


def _outputs(chance: random.Random, job: str) -> list[dict[str, Any]]:
    if job == "located":
        place = _output(f"lake/{chance.choice(['here', 'there'])}", chance.randrange(SHAPES), None)
        return [{**place, "facets": {**place["facets"], "symlinks": CATALOG_NAME}}]
    if job == "catalog":
        return [_output("hive/db.t", chance.randrange(SHAPES), chance.choice([None, "OVERWRITE"]))]
    if job in UNCHANGED:
        # the lineage changes now and then
        shape = JOBS.index(job) if chance.random() < 0.97 else chance.randrange(SHAPES)
        changes = ("OVERWRITE",) if job == "overwriting" else (None, None, "OVERWRITE")
        return [_output(f"lake/{job}", shape, chance.choice(changes))]
    return [
        _output(f"lake/{job}{number}", chance.randrange(-1, SHAPES), chance.choice([None, None, "OVERWRITE", "CREATE"]))
        for number in chance.sample(range(3), chance.choice([0, 1, 1, 2]))
    ]


def _output(name: str, shape: int, change: str | None) -> dict[str, Any]:
    """A table with one of a few lineages; without lineage for a negative number."""
    facets: dict[str, Any] = {"lifecycleStateChange": {"lifecycleStateChange": change}} if change else {}
    if shape >= 0:
        fields = {
            column: [source("lake/source", name, masking=shape == 4) for name in ("x", "y")[: 1 + (shape + place) % 2]]
            for place, column in enumerate(COLUMNS[: 1 + shape % 3])
        }
        rows = [source("lake/filter", "k", "INDIRECT/FILTER")] if shape % 2 else []
        facets["columnLineage"] = lineage(rows, **fields)
    return dataset(name, *(f"{column} int" for column in COLUMNS), **facets)


def _facets(chance: random.Random, job: str) -> dict[str, Any]:
    facets: dict[str, Any] = {}
    if chance.random() < 0.45:
        facets["parent"] = parent(f"app {chance.randrange(4)}")
    if job == "streaming":
        facets["colline_query"] = {"definition": f"query {chance.randrange(2)}"}
    if chance.random() < 0.1:
        facets["colline_opaque"] = {"steps": [{"node": "Map", "function": "f", "why": "a function"}]}
    return facets
