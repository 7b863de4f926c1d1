"""Large and unusual graphs: a column with a million edges, ten thousand start columns, a cycle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from colline.graph import Lineage, open_lake
from colline.graph.render.tree import tree_lines
from colline.graph.snapshot.array_file import write
from colline.graph.snapshot.publish import compose
from colline.lake.flat_shapes import FLAT_TABLES
from colline.lake.table_reader import arrow_schema
from tests.graph.graph_lakes import LakeWriter

MANY, WIDTH = 1_000_000, 1000
DAY = 1_767_225_600_000_000


def table(shape: str, count: int, /, **columns: Any) -> Any:
    """A table of the lake; columns that are not given are null."""
    arrays = []
    schema = arrow_schema(next(table for table in FLAT_TABLES if table.path == shape))
    for field in schema:
        given = columns.get(field.name)
        values = pa.nulls(count, field.type) if given is None else pa.array(given)
        is_time = pa.types.is_timestamp(field.type) and given is not None
        arrays.append(values.cast(pa.int64()).cast(field.type) if is_time else values.cast(field.type))
    return pa.table(arrays, schema=schema)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Lineage:
    """`hub.key` feeds a million columns, and each of them feeds `sink.total`."""
    tables = MANY // WIDTH + 2
    names = ["hub", "sink", *(f"t{n:04}" for n in range(tables - 2))]
    ids = np.arange(MANY + 2)
    owner = np.concatenate([[0, 1], 2 + np.arange(MANY) // WIDTH])
    fields = ["key", "total", *(f"c{n % WIDTH:03}" for n in range(MANY))]
    seen = {"first_seen": np.full(MANY + 2, DAY), "last_seen": np.full(MANY + 2, DAY)}
    path = np.array(names, dtype=object)[owner]
    home = {"namespace": ["lake"] * (MANY + 2), "name": path, "field": fields, "kind": ["column"] * (MANY + 2)}
    ends = {
        "source_id": np.concatenate([np.zeros(MANY), ids[2:]]),
        "target_id": np.concatenate([ids[2:], np.ones(MANY)]),
    }
    how = {"type": ["DIRECT"] * 2 * MANY, "subtype": ["IDENTITY"] * 2 * MANY, "job_id": np.zeros(2 * MANY)}
    since = np.full(2 * MANY, DAY)
    read = {
        "datasets": table("datasets", tables, id=np.arange(tables), namespace=["lake"] * tables, name=names),
        "columns": table("columns", MANY + 2, id=ids, dataset_id=owner, **home, **seen),
        "jobs": table("jobs", 1, id=[0], namespace=["jobs"], name=["spread"], last_state=["COMPLETE"]),
        "edges": table("edges", 2 * MANY, **ends, **how, first_seen=since, last_seen=since),
        "reads": table("reads", 0),
        "coverage": table("coverage", 0),
    }
    folder = tmp_path_factory.mktemp("hub")
    arrays, meta = compose(read)
    write(folder / "snapshot" / "1", arrays, meta)
    (folder / "snapshot" / "CURRENT").write_text("1")
    return open_lake(folder)


def test_million_edges_are_answered_and_omitted_rows_are_counted(hub: Lineage) -> None:
    down = hub.downstream("hub.key", limit=3)
    assert down.totals == {"columns": MANY + 1, "datasets": 1001, "jobs": 1, "depth": 2, "hops": 2}
    assert [c["label"] for c in down.columns] == ["t0000.c000", "t0000.c001", "t0000.c002"]
    assert (down.left_out, down.of[0]["down"], len(down.edges)) == (MANY - 2, MANY, 3)
    up = hub.upstream("sink.total", limit=2)
    assert (up.totals["columns"], up.left_out, up.of[0]["up"]) == (MANY + 1, MANY - 1, MANY)
    paths = hub.paths("hub.key", "sink.total", k=2)
    assert (paths.totals["paths"], paths.totals["shown"], paths.left_out) == (MANY, 2, MANY - 2)
    assert hub.impact("hub.key", limit=1).totals["columns"] == MANY + 1
    assert hub.droppable("hub.key").rows[0]["why"] == "is read by spread (value)"


def test_ten_thousand_columns_give_one_answer(hub: Lineage) -> None:
    datasets = [f"t{n:04}.*" for n in range(10)]
    answer = hub.downstream(datasets)
    assert len(answer.of) == 10 * WIDTH and [c["label"] for c in answer.columns] == ["sink.total"]
    assert hub.pii(datasets).landings[0]["sources"] == 10 * WIDTH


def test_cycle_is_visited_once_and_drawn_once(tmp_path: Path) -> None:
    lake = LakeWriter()
    for here, there in (("a", "b"), ("b", "c"), ("c", "a"), ("b", "b"), ("a", "c")):
        lake.edge(f"gold.ring.{here}", f"gold.ring.{there}", "turn")
    answer = open_lake(lake.write(tmp_path / "lake")).downstream("ring.a")
    assert [(c["field"], c["distance"]) for c in answer.columns] == [("b", 1), ("c", 1)]
    assert [line.guide + line.label for line in tree_lines(answer)] == [
        "gold.ring.a",
        "├─ gold.ring.b",
        "│  └─ gold.ring.c",
        "└─ gold.ring.c",
    ]
