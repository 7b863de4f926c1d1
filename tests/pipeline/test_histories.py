"""A history says the same however it is split: what is told once for many runs is what each of them tells."""

from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.lakes import dataset, event, lake_of
from tests.pipeline.histories import history
from tests.pipeline.lake_view import gold, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# `make pipeline-faults COLLINE_HISTORIES=20` plays more
HISTORIES = int(os.environ.get("COLLINE_HISTORIES", "1"))


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_history_in_one_batch_gives_what_it_gives_in_three(
    spark: SparkSession, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from colline.pipeline import reading

    events = history(seed)
    third = len(events) // 3
    parts = [events[first:last] for first, last in pairwise([0, third, 2 * third, len(events)])]
    in_three = lake_of(spark, tmp_path / "three", *parts)
    # as a batch of many runs is done: those in more than one task
    monkeypatch.setattr(reading, "MANY_LINES", 0)
    in_one = lake_of(spark, tmp_path / "one", events)
    assert gold(in_one) == gold(in_three)
    assert _outputs(in_one) == _outputs(in_three)


def _outputs(lake: Path) -> dict[str, list[dict[str, Any]]]:
    """What each job goes on from, by its name, with datasets by theirs."""
    names = {row["id"]: row["name"] for row in table(lake, "silver/datasets")}
    jobs = {row["name"]: row["outputs"] or [] for row in table(lake, "gold/jobs")}
    return {
        job: sorted(({**output, "dataset_id": names[output["dataset_id"]]} for output in outputs), key=str)
        for job, outputs in jobs.items()
    }


def test_a_run_whose_end_never_comes_is_unfinished_by_time_alone(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from colline.pipeline import runs

    began = datetime.now(timezone.utc) - timedelta(hours=1)
    lake_of(spark, tmp_path, [event("START", began.isoformat(), run="open", outputs=[dataset("shop/open", "a int")])])
    assert [row["state"] for row in table(tmp_path, "silver/runs")] == ["RUNNING"]
    monkeypatch.setattr(runs, "UNFINISHED_AFTER", timedelta(seconds=1))
    lake_of(spark, tmp_path, [])
    assert [row["state"] for row in table(tmp_path, "silver/runs")] == ["UNFINISHED"]
    assert [row["last_state"] for row in table(tmp_path, "gold/jobs")] == ["UNFINISHED"]
    assert [row["kind"] for row in table(tmp_path, "gold/coverage")] == ["unfinished_run"]
