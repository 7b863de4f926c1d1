"""Answers by table or by job."""

from __future__ import annotations

import pytest

from colline.errors import SettingError
from colline.graph import Lineage


def table(answer: object) -> list[str]:
    """The lines of the answer below the headline, without the evidence."""
    lines = str(answer).splitlines()[1:]
    return lines[: next((n for n, line in enumerate(lines) if line.startswith("evidence:")), len(lines))]


def test_droppable_by_table(lineage: Lineage) -> None:
    answer = lineage.droppable(["silver.customers", "platinum.kpi"], grain="table")
    assert answer.verdict == "1 of 2 tables can be dropped, 1 cannot, 0 unknown"
    assert table(answer) == [
        "table             droppable  confidence  columns  why",
        "silver.customers  no         high              6  4 of 6 columns are read",
        "    read by: daily_revenue, contacts · last read: 2025-06-15T00:00:00Z",
        "platinum.kpi      yes        medium            1  no column has a known reader",
    ]
    assert not answer.holds
    assert lineage.droppable("platinum.kpi", grain="table").verdict == (
        "yes, with medium confidence: platinum.kpi: no column has a known reader"
    )


def test_unused_by_table(lineage: Lineage) -> None:
    answer = lineage.unused(grain="table")
    assert (
        answer.verdict
        == "nobody reads 2 of 8 tables; not certain for 2 of those shown, with 310 days of recorded reads"
    )
    assert [(row["label"], row["columns"], row["confidence"]) for row in answer.rows] == [
        ("exports.mailing", 1, "medium"), ("platinum.kpi", 1, "medium"),
    ]  # fmt: skip


def test_impact_by_table_and_job_has_the_same_verdict(lineage: Lineage) -> None:
    by_column = lineage.impact("silver.customers.region")
    for grain, main in (("table", "datasets"), ("job", "jobs")):
        answer = lineage.impact("silver.customers.region", grain=grain)
        assert (answer.verdict, answer.main, answer.columns) == (by_column.verdict, main, [])
        assert getattr(answer, main) == getattr(by_column, main)
    assert lineage.impact("silver.customers.region", grain="table", limit=1).left_out == 1


def test_pii_by_table_counts_columns_by_verdict(lineage: Lineage) -> None:
    answer = lineage.pii("bronze.customers.email", indirect=False, grain="table")
    assert [(row["label"], row["clear"], row["masked"]) for row in answer.tables] == [
        ("gold.contacts", 1, 1), ("silver.customers", 1, 1), ("exports.mailing", 1, 0),
    ]  # fmt: skip
    assert [row["label"] for row in answer.exits] == ["exports.mailing"]


def test_unknown_grain_is_an_error(lineage: Lineage) -> None:
    with pytest.raises(SettingError, match="'job' is not a grain"):
        lineage.unused(grain="job")
