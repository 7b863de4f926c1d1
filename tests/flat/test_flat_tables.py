"""The flat tables that a snapshot is built from are those of the SQL views."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from colline.errors import LakeError
from colline.flat.flat_tables import read_flat
from colline.lake.tables import COLUMNS, DATASETS
from colline.lake.views import flat_frames, register_views
from tests.flat.stored_lakes import RandomLake, random_rows, write_stored

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


def rows_of(table: pa.Table) -> list[str]:
    return sorted(map(str, table.to_pylist()))


@pytest.mark.delta
def test_flat_tables_equal_the_views(spark: SparkSession, tmp_path: Path) -> None:
    lake = write_stored(tmp_path / "lake", random_rows(range(30)))
    found = read_flat(lake)[0]
    assert all(table.num_rows >= 30 for table in found.values())
    for name, frame in flat_frames(spark, str(lake)).items():
        assert rows_of(found[name]) == rows_of(frame.toArrow().cast(found[name].schema)), name


@pytest.mark.delta
def test_views_are_registered_under_a_prefix(spark: SparkSession, tmp_path: Path) -> None:
    lake = write_stored(tmp_path / "lake", RandomLake(1).rows)
    names = register_views(spark, str(lake), prefix="lineage_")
    assert sorted(names) == sorted(f"lineage_{name}" for name in read_flat(lake)[0])
    found = spark.sql("select count(*) as n from lineage_edges").first()
    assert found is not None and found.n == read_flat(lake)[0]["edges"].num_rows


@pytest.mark.delta
def test_views_of_an_empty_folder_are_an_error(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="no lake at"):
        register_views(spark, str(tmp_path))


@pytest.mark.parametrize(("table", "what"), [(DATASETS, "datasets"), (COLUMNS, "columns")])
def test_two_names_with_one_id_are_an_error(tmp_path: Path, table: Any, what: str) -> None:
    rows = RandomLake(2).rows
    other = rows[table][-1] | {"name": "another", "field": "another"}
    rows[table].append({name: value for name, value in other.items() if name in rows[table][-1]})
    lake = write_stored(tmp_path / "lake", rows)
    with pytest.raises(LakeError, match=f"two {what} of the lake have the same id"):
        read_flat(lake)


def test_lake_without_rows_is_empty(tmp_path: Path) -> None:
    assert {name: table.num_rows for name, table in read_flat(tmp_path)[0].items()} == dict.fromkeys(
        ("datasets", "columns", "jobs", "edges", "reads", "coverage"), 0
    )
