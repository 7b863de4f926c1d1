"""The lake of the design size that benchmarks ask: 10 layers, power-law degrees, as the lake's Delta tables."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from deltalake import write_deltalake

from colline.lake.table_reader import arrow_schema
from colline.lake.tables import (
    COLUMNS,
    DATASETS,
    EDGES,
    JOBS,
    LINEAGE_VERSIONS,
    MENTIONS,
    OBSERVATIONS,
    Table,
)

LAYERS, WIDTH = 10, 100  # layers of the graph, columns of a dataset
GROUPS = 21  # fingerprints of a job
DAY0 = int(datetime(2026, 1, 1, tzinfo=timezone.utc).timestamp()) * 1_000_000
DAY = 86_400_000_000
WORDS = ["order", "customer", "amount", "email", "region", "status", "price", "city", "driver", "rating"]


def power_law(random: np.random.Generator, size: int, count: int) -> np.ndarray:
    """Places in 0..count-1, a few of them very often."""
    return np.minimum((count * random.power(0.45, size)).astype(np.int64), count - 1)


def write(lake: Path, columns: int, edges: int) -> dict[str, Any]:
    """The lake's tables; returns the current edges and the names for the databases."""
    random = np.random.default_rng(7)
    per_layer = columns // LAYERS
    tables = columns // WIDTH
    owner = np.arange(columns) // WIDTH
    names = [f"layer{place * WIDTH // per_layer}/table{place:05d}" for place in range(tables)]
    fields = [f"{WORDS[i % 10]}_{WORDS[i // 10 % 10]}_{i // 10}" for i in range(WIDTH * 10)]
    pii = set(random.choice(per_layer * 2, 1000, replace=False).tolist())
    called = [fields[(i % WIDTH) * 10 + i % 7] for i in range(columns)]
    every = edges + edges // 10
    layer = random.integers(0, LAYERS - 1, every)
    source = layer * per_layer + power_law(random, every, per_layer)
    target = (layer + 1) * per_layer + random.permutation(per_layer)[power_law(random, every, per_layer)]
    # a tenth of the steps skip a layer, as real ones do
    skip = (random.random(every) < 0.1) & (layer < LAYERS - 2)
    target = np.where(skip, target + per_layer, target)
    indirect = random.random(every) < 0.1
    job = owner[target]
    rows_level = indirect & (random.random(every) < 0.5)
    retired = np.arange(every) >= edges
    subtype = np.where(indirect, "FILTER", np.where(random.random(every) < 0.5, "IDENTITY", "TRANSFORMATION"))
    # the edges of a job that began on the same day have one fingerprint, and so have those that ended
    fingerprint = job * GROUPS + np.where(retired, GROUPS - 1, random.integers(0, GROUPS - 1, every))
    save(lake, DATASETS, tables, dataset_id=np.arange(tables), namespace=["lake"] * tables, name=names,
         layer=[n.split("/")[0] for n in names])  # fmt: skip
    nodes = columns + tables
    save(lake, COLUMNS, nodes, column_id=np.arange(nodes), dataset_id=np.concatenate([owner, np.arange(tables)]),
         field=called + ["*"] * tables,
         tags=[["PII"] if i in pii else [] for i in range(columns)] + [[]] * tables)  # fmt: skip
    save(lake, JOBS, tables, job_id=np.arange(tables), namespace=["jobs"] * tables,
         name=[f"build_{n}" for n in names], last_state=["COMPLETE"] * tables)  # fmt: skip
    save(lake, EDGES, every, dataset_id=job, fingerprint=texts(fingerprint), source_dataset_id=owner[source],
         source_id=source, target_id=np.where(rows_level, columns + job, target),
         type=np.where(indirect, "INDIRECT", "DIRECT"), subtype=subtype, masking=random.random(every) < 0.04,
         description=pa.array(np.char.add("f", (source % 997).astype(str))),
         use=np.where(indirect, "filter", "value"))  # fmt: skip
    save_history(lake, np.unique(fingerprint), called)
    keep = ~indirect & ~retired
    name_of = np.array(names, dtype=object)
    of_columns = {"id": np.arange(columns), "namespace": ["lake"] * columns, "name": name_of[owner], "field": called}
    return {"source": source[keep], "target": target[keep], "names": pa.table(of_columns)}


def save_history(lake: Path, fingerprints: np.ndarray, called: list[str]) -> None:
    """Each job has two versions; the second one lacks the last group of edges. Each dataset has one schema."""
    tables, count = len(called) // WIDTH, len(fingerprints)
    job, group = fingerprints // GROUPS, fingerprints % GROUPS
    facts = {"runs": np.full(count, 9), "first_seen": DAY0 + group % 20 * DAY, "first_run": ["first"] * count,
             "last_seen": np.full(count, DAY0 + 30 * DAY), "last_run": ["last"] * count}  # fmt: skip
    reported = structs(fingerprint=texts(fingerprints), **facts)
    current = np.flatnonzero(group != GROUPS - 1)
    starts = np.searchsorted(job, np.arange(tables + 1)), np.searchsorted(job[current], np.arange(tables + 1))
    lists = [lists_of(reported, starts[0]), lists_of(reported.take(pa.array(current)), starts[1])]
    until = pa.array(np.full(2 * tables, DAY0 + 25 * DAY), mask=np.arange(2 * tables) >= tables)
    save(lake, LINEAGE_VERSIONS, 2 * tables, job_id=np.tile(np.arange(tables), 2), valid_to=until,
         dataset_id=np.tile(np.arange(tables), 2), version=np.repeat([0, 1], tables),
         is_current=np.repeat([False, True], tables), reported=pa.concat_arrays(lists))  # fmt: skip
    ordinal = np.arange(len(called))
    schema = structs(column_id=ordinal, name=called, type=["string"] * len(called), tags=[[]] * len(called))
    schemas = lists_of(schema, np.append(np.arange(tables) * WIDTH, [len(called)] * (count + 1)))
    both = tables + count
    names = [*(f"schema{n}" for n in range(tables)), *texts(fingerprints).to_pylist()]
    save(lake, MENTIONS, both, digest=names, role=["O"] * both, kind=["TABLE"] * both, tags=[[]] * both,
         dataset_id=np.append(np.arange(tables), job), symlinks=[[]] * both, columns=schemas,
         schema_digest=[*names[:tables], *[None] * count],
         fingerprint=[*[None] * tables, *names[tables:]])  # fmt: skip
    save(lake, OBSERVATIONS, both, job_id=np.append(np.arange(tables), job), digest=names, kind=["write"] * both,
         runs=np.full(both, 9), first_seen=np.full(both, DAY0), last_seen=np.full(both, DAY0 + 30 * DAY),
         last_run=["last"] * both, part=["p"] * both)  # fmt: skip


def texts(numbers: np.ndarray) -> pa.Array:
    """Digests of 32 characters."""
    return pa.compute.binary_join_element_wise("0123456789abcdef01234567", pa.array(numbers).cast(pa.string()), "-")


def structs(**members: Any) -> pa.Array:
    times = {"first_seen", "last_seen"}
    arrays = [
        pa.array(values).cast(pa.timestamp("us", tz="UTC")) if name in times else pa.array(values)
        for name, values in members.items()
    ]
    return pa.StructArray.from_arrays(arrays, list(members))


def lists_of(values: pa.Array, starts: np.ndarray) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(starts.astype(np.int32)), values)


def save(lake: Path, table: Table, count: int, /, **columns: Any) -> None:
    """One stored table; what is not given is null. One that is there from an earlier run stays."""
    if (lake / table.path / "_delta_log").exists():
        return
    shape = arrow_schema(table)
    arrays = []
    for field in shape:
        given = columns.get(field.name)
        if given is None:
            arrays.append(pa.nulls(count, field.type))
        elif pa.types.is_timestamp(field.type):
            arrays.append(pa.array(given, pa.int64()).cast(field.type))
        else:
            arrays.append(pa.array(given).cast(field.type))
    write_deltalake(str(lake / table.path), pa.table(arrays, schema=shape), mode="overwrite")
