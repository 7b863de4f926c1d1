"""The lake of the design size that benchmarks ask: 10 layers, power-law degrees, as the lake's Delta tables."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from deltalake import write_deltalake

from colline.lake.table_reader import answer_schema

LAYERS, WIDTH = 10, 100  # layers of the graph, columns of a dataset
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
    first, last = np.full(tables, DAY0), np.full(tables, DAY0 + 30 * DAY)
    save(lake, "silver/datasets", tables, id=np.arange(tables), namespace=["lake"] * tables, name=names,
         kind=["TABLE"] * tables, layer=[n.split("/")[0] for n in names], first_seen=first, last_seen=last)  # fmt: skip
    fields = [f"{WORDS[i % 10]}_{WORDS[i // 10 % 10]}_{i // 10}" for i in range(WIDTH * 10)]
    nodes = columns + tables
    pii = set(random.choice(per_layer * 2, 1000, replace=False).tolist())
    name_of = np.array(names, dtype=object)
    called = [fields[(i % WIDTH) * 10 + i % 7] for i in range(columns)]
    save(lake, "gold/columns", nodes, id=np.arange(nodes), dataset_id=np.concatenate([owner, np.arange(tables)]),
         kind=["column"] * columns + ["rows"] * tables, namespace=["lake"] * nodes,
         name=np.concatenate([name_of[owner], name_of]),
         field=called + ["*"] * tables,
         type=["string"] * nodes, tags=[["PII"] if i in pii else [] for i in range(columns)] + [[]] * tables,
         first_seen=np.full(nodes, DAY0), last_seen=np.full(nodes, DAY0 + 30 * DAY))  # fmt: skip
    save(lake, "gold/jobs", tables, id=np.arange(tables), namespace=["jobs"] * tables,
         name=[f"build_{n}" for n in names], last_state=["COMPLETE"] * tables)  # fmt: skip
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
    end = np.where(rows_level, columns + job, target)
    retired = np.arange(every) >= edges
    masked = random.random(every) < 0.04
    subtype = np.where(indirect, "FILTER", np.where(random.random(every) < 0.5, "IDENTITY", "TRANSFORMATION"))
    save(lake, "gold/edges", every, source_id=source, target_id=end, job_id=job,
         type=np.where(indirect, "INDIRECT", "DIRECT"), subtype=subtype, masking=masked,
         description=pa.array(np.char.add("f", (source % 997).astype(str))),
         first_seen=DAY0 + random.integers(0, 20, every) * DAY,
         last_seen=np.full(every, DAY0 + 30 * DAY),
         retired_at=pa.array(np.full(every, DAY0 + 25 * DAY), pa.int64(), mask=~retired))  # fmt: skip
    keep = ~indirect & ~retired
    of_columns = {"id": np.arange(columns), "namespace": ["lake"] * columns, "name": name_of[owner], "field": called}
    return {"source": source[keep], "target": target[keep], "names": pa.table(of_columns)}


def save(lake: Path, path: str, count: int, /, **columns: Any) -> None:
    """One table in its documented shape; what is not given is null. One that is there from an earlier run stays."""
    if (lake / path / "_delta_log").exists():
        return
    shape = answer_schema(path)
    arrays = []
    for field in shape:
        given = columns.get(field.name)
        if given is None:
            arrays.append(pa.nulls(count, field.type))
        elif pa.types.is_timestamp(field.type):
            arrays.append(pa.array(given, pa.int64()).cast(field.type))
        else:
            arrays.append(pa.array(given).cast(field.type))
    write_deltalake(str(lake / path), pa.table(arrays, schema=shape), mode="overwrite")
