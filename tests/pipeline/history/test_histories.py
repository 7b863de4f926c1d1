"""The tables do not depend on how a history is split into batches."""

from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.lakes import dataset, event, lake_of
from tests.pipeline.histories import history
from tests.pipeline.lake_view import current, delta_rows, gold, table
from tests.pipeline.scenarios import output, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# `make pipeline-faults COLLINE_HISTORIES=20` tests more
HISTORIES = int(os.environ.get("COLLINE_HISTORIES", "1"))


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_history_in_one_batch_equals_history_in_three(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    events = history(seed)
    third = len(events) // 3
    parts = [events[first:last] for first, last in pairwise([0, third, 2 * third, len(events)])]
    in_three = lake_of(spark, tmp_path / "three", *parts)
    in_one = lake_of(spark, tmp_path / "one", events)
    assert gold(in_one) == gold(in_three)
    assert _outputs(in_one) == _outputs(in_three)


def _outputs(lake: Path) -> list[str]:
    """The rows that the next batch continues from."""
    current = (row for row in delta_rows(lake, "gold/lineage_versions") if row["is_current"])
    names = ("job_id", "dataset_id", "fingerprints", "last_write")
    return sorted(str({name: row[name] for name in names}) for row in current)


def test_run_without_final_event_becomes_unfinished_by_time(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from colline.pipeline import unfinished

    began = datetime.now(timezone.utc) - timedelta(hours=1)
    lake_of(spark, tmp_path, [event("START", began.isoformat(), run="open", outputs=[dataset("shop/open", "a int")])])
    assert [row["state"] for row in table(tmp_path, "silver/runs")] == ["RUNNING"]
    monkeypatch.setattr(unfinished, "UNFINISHED_AFTER", timedelta(seconds=1))
    lake_of(spark, tmp_path, [])
    assert [row["state"] for row in table(tmp_path, "silver/runs")] == ["UNFINISHED"]
    assert [row["last_state"] for row in table(tmp_path, "gold/jobs")] == ["UNFINISHED"]
    assert [row["kind"] for row in table(tmp_path, "gold/coverage")] == ["unfinished_run"]


def test_failure_after_completion_removes_the_lineage_of_the_run(spark: SparkSession, tmp_path: Path) -> None:
    def second_run(state: str, hour: int) -> list[Any]:
        return write("job", "second", 2, output("t", of="id"), end=state, hour=hour)[1:]

    first = [*write("job", "first", 1, output("t")), *second_run("COMPLETE", 0)]
    in_two = lake_of(spark, tmp_path / "two", first, second_run("FAIL", 2))
    assert current(in_two, "job") == {"orders.amount -> t.total DIRECT/AGGREGATION"}
    assert [row["last_state"] for row in table(in_two, "gold/jobs")] == ["FAIL"]
    assert gold(in_two) == gold(lake_of(spark, tmp_path / "one", [*first, *second_run("FAIL", 2)]))
