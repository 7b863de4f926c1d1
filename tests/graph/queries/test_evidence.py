"""`droppable` and `unused` state what they are based on, and are only as sure as that."""

from __future__ import annotations

from pathlib import Path

import pytest

from colline.graph import Lineage, open_lake
from tests.graph.graph_lakes import LakeWriter, day, shop


def lake_with_history(days: float, **gap: str) -> LakeWriter:
    """One column that nobody reads, in a lake whose history has some days."""
    lake = LakeWriter()
    lake.edge("bronze.t.a", "silver.t.a", "copy", first_seen=day(0), last_seen=day(days))
    lake.edge("bronze.t.a", "silver.t.unread", "copy", first_seen=day(0), last_seen=day(days))
    lake.read("silver.t.a", "report", last_read=day(days))
    for name in ("copy", "report"):
        lake.job(name, last_started=day(days), last_ended=day(days), owner="finance")
    for rows in (lake.datasets, lake.columns):
        for row in rows.values():
            row.update(first_seen=day(0), last_seen=day(days))
    for row in lake.datasets.values():
        row.update(last_written=day(days))
    if gap:
        lake.gap(gap["kind"])
    return lake


@pytest.mark.parametrize(("days", "confidence"), [(45 / 86400, "low"), (6, "low"), (30, "medium"), (90, "high")])
def test_confidence_follows_the_length_of_the_history(tmp_path: Path, days: float, confidence: str) -> None:
    with open_lake(lake_with_history(days).write(tmp_path / "lake")) as lineage:
        [row] = lineage.droppable("silver.t.unread").rows
        assert (row["verdict"], row["confidence"]) == ("yes", confidence)
        assert {row["label"]: row["confidence"] for row in lineage.unused("silver.t").rows} == {
            "silver.t.unread": confidence
        }


def test_new_column_was_not_observed_longer_than_it_exists(tmp_path: Path) -> None:
    lake = lake_with_history(100)
    lake.column("silver.t.unread", first_seen=day(98))
    with open_lake(lake.write(tmp_path / "lake")) as lineage:
        assert lineage.droppable("silver.t.unread").rows[0]["confidence"] == "low"


def test_output_states_the_evidence(tmp_path: Path) -> None:
    with open_lake(lake_with_history(45 / 86400).write(tmp_path / "lake")) as lineage:
        lines = str(lineage.droppable("silver.t.unread")).splitlines()
        assert lines[0].startswith("yes, with low confidence: silver.t.unread was never read; as of ")
        assert " ".join(lines[3:]) == (
            "evidence: reads are recorded for 45 s (2026-01-01T00:00:00Z to 2026-01-01T00:00:45Z) from 2 jobs in "
            "shop (SPARK), 1 of them with queries that write nothing; not visible: BI tools that read the files or a "
            "JDBC endpoint, "
            "jobs that are not watched"
        )
        answer = lineage.unused("silver.t")
        assert (
            answer.verdict
            == "nobody reads 1 of 2 columns; not certain for 1 of those shown, with 45 s of recorded reads"
        )
        assert answer.evidence["queries"] == 1 and answer.evidence["sources"] == ["shop (SPARK)"]


def test_job_that_ran_without_events_makes_the_answer_unknown(tmp_path: Path) -> None:
    with open_lake(lake_with_history(100, kind="run_without_events").write(tmp_path / "lake")) as lineage:
        assert lineage.droppable("silver.t.unread").verdict == (
            "unknown: silver.t.unread has no known reader, but the lake: a job ran without sending events"
        )
        assert lineage.droppable("silver.t.a").rows[0]["verdict"] == "no"
        answer = lineage.unused("silver.t")
        assert [(row["confidence"], row["why"]) for row in answer.rows] == [
            ("unknown", "a job ran without sending events")
        ]
        assert answer.verdict.endswith("; unknown for 1 of those shown: a job ran without sending events")


def test_impact_begins_with_broken_jobs_and_live_readers(lineage: Lineage) -> None:
    lines = str(lineage.impact("silver.customers.region", change="rename")).splitlines()
    assert lines[0].startswith("renaming silver.customers.region breaks 1 job and affects 3 columns")
    assert lines[1:6] == [
        "job            owner    breaks  hop  use              last run",
        "daily_revenue  finance  yes       1  value, group_by  COMPLETE",
        "kpi                               2  group_by         FAIL",
        "query      live  column                    use    last read",
        "dashboard  yes   gold.daily_revenue.total  value  2026-01-10T00:00:00Z",
    ]
    assert lines[6].startswith("hop  column")


def test_diff_without_times_is_the_last_change(tmp_path: Path) -> None:
    with open_lake(shop().write(tmp_path / "lake")) as lineage:
        last = lineage.diff()
        assert last.verdict == "last change at 2026-01-06T00:00:00Z: 1 removed: 1 edge"
        assert [row["target"]["label"] for row in last.removed] == ["gold.daily_revenue.total"]
        assert lineage.diff(dataset="gold.contacts").verdict.startswith(
            "last change at 2026-01-05T00:00:00Z: 2 removed"
        )
        assert lineage.diff(to="2026-01-05").verdict.startswith("last change at 2026-01-05T00:00:00Z")
