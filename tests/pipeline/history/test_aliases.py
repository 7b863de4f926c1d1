"""A catalog name that is moved to another dataset: all runs that named it belong to the new one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.lakes import dataset, event, lake_of, lineage, source
from tests.pipeline.lake_view import current, gold, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
LINK = {"identifiers": [{"namespace": "hive", "name": "db.t", "type": "TABLE"}]}


def _location_writer(name: str, day: int) -> dict[str, Any]:
    """A run that writes a location and reports that `db.t` is there."""
    lineage_facet = lineage(total=[source("shop/orders", "amount")])
    out = dataset(f"lake/{name}", "total double", columnLineage=lineage_facet, symlinks=LINK)
    return event("COMPLETE", f"2026-11-{day:02d}T00:00:00Z", run=f"{name} {day}", job=f"jobs/{name}", outputs=[out])


def _reader(day: int) -> dict[str, Any]:
    """A run that reads and writes by the name in the catalog."""
    lineage_facet = lineage(total=[source("hive/db.t", "total")])
    return event(
        "COMPLETE",
        f"2026-11-{day:02d}T00:00:00Z",
        run=f"reader {day}",
        job="jobs/reader",
        inputs=[dataset("hive/db.t", "total double")],
        outputs=[dataset("shop/out", "total double", columnLineage=lineage_facet)],
    )


def _writer(day: int) -> dict[str, Any]:
    lineage_facet = lineage(total=[source("shop/orders", "id")])
    out = dataset("hive/db.t", "total double", columnLineage=lineage_facet)
    return event("COMPLETE", f"2026-11-{day:02d}T00:00:00Z", run=f"writer {day}", job="jobs/writer", outputs=[out])


def test_runs_of_a_moved_catalog_name_belong_to_the_new_dataset(spark: SparkSession, tmp_path: Path) -> None:
    events = [_location_writer("here", 1), _reader(1), _writer(1), _location_writer("there", 2), _writer(3)]
    lake = lake_of(spark, tmp_path / "many", *([each] for each in events))
    assert current(lake, "reader") == {"there.total -> out.total DIRECT/IDENTITY"}
    assert current(lake, "writer") == {"orders.id -> there.total DIRECT/IDENTITY"}
    live = [d["name"] for d in table(lake, "silver/datasets") if d["merged_into"] is None]
    assert "db.t" not in live
    assert gold(lake) == gold(lake_of(spark, tmp_path / "one", events))


def test_late_event_does_not_move_a_catalog_name(spark: SparkSession, tmp_path: Path) -> None:
    lake = lake_of(spark, tmp_path, [_location_writer("here", 3), _reader(1)], [_location_writer("there", 1)])
    assert current(lake, "reader") == {"here.total -> out.total DIRECT/IDENTITY"}


def test_name_returns_to_the_earlier_dataset_when_the_run_that_moved_it_fails(
    spark: SparkSession, tmp_path: Path
) -> None:
    moved = _location_writer("there", 2)
    failed = {**moved, "eventType": "FAIL", "eventTime": "2026-11-02T01:00:00Z"}
    # another run of the failed one's job, whose link counts as before
    first = [_location_writer("here", 1), _location_writer("there", 1), _writer(1), moved]
    lake = lake_of(spark, tmp_path / "many", first, [failed], [_writer(3)])
    assert gold(lake) == gold(lake_of(spark, tmp_path / "one", [*first, failed, _writer(3)]))
    only = lake_of(spark, tmp_path / "only", [_location_writer("here", 1), _writer(1), moved], [failed])
    assert current(only, "writer") == {"orders.id -> here.total DIRECT/IDENTITY"}
