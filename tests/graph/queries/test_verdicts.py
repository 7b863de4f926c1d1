"""Verdicts that must not mislead: conditions, values without input columns, hidden hops, names of tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from colline.errors import AmbiguousNameError, ColumnError
from colline.graph import Lineage, open_lake
from tests.graph.graph_lakes import LakeWriter, day, shop


def revenue_lake() -> LakeWriter:
    """`orders` is count(*) of two joined tables, `currency` a constant, `noted_at` read by nobody."""
    lake = LakeWriter()
    lake.edge("silver.payments.amount", "gold.revenue.total", "build_revenue", "AGGREGATION", description="sum(amount)")
    lake.edge("silver.orders.day", "gold.revenue.day", "build_revenue")
    for column, how in (("silver.orders.id", "JOIN"), ("silver.payments.order_id", "JOIN"),
                        ("silver.orders.status", "FILTER"), ("silver.orders.day", "GROUP_BY")):  # fmt: skip
        lake.edge(column, "gold.revenue.*", "build_revenue", how)
    lake.column("gold.revenue.orders", type="bigint")
    lake.job("build_revenue", outputs=[{"dataset_id": lake.dataset("gold.revenue")}])
    lake.edge("gold.revenue.total", "platinum.board.total", "publish")
    lake.edge("gold.revenue.orders", "platinum.board.orders", "publish")
    lake.edge("gold.revenue.day", "platinum.board.*", "publish", "FILTER")
    return lake


@pytest.fixture
def revenue(tmp_path: Path) -> Lineage:
    return open_lake(revenue_lake().write(tmp_path / "lake"))


@pytest.mark.parametrize(
    ("column", "verdict"),
    [
        ("silver.orders.status", "no column takes the value of silver.orders.status; 5 columns and 2 jobs depend on it "
         "through conditions (`--indirect` lists them)"),
        ("gold.revenue.total", "1 column in 1 dataset is built on gold.revenue.total"),
        ("platinum.board.total", "nothing is built on platinum.board.total"),
    ],
)  # fmt: skip
def test_column_that_only_decides_is_never_nothing(revenue: Lineage, column: str, verdict: str) -> None:
    assert revenue.downstream(column).verdict == verdict
    depends = "depend" in verdict or "built on gold" in verdict
    assert revenue.impact(column).holds is not depends
    assert (revenue.droppable(column).rows[0]["verdict"] == "no") is depends
    [found] = [row for row in revenue.find(column).rows if row["label"] == column]
    assert bool(found["down"] + found["down_conditions"]) is depends


def test_impact_of_values_only_reports_the_conditions(revenue: Lineage) -> None:
    assert revenue.impact("silver.orders.status", indirect=False).verdict == (
        "dropping silver.orders.status affects no value; 5 columns and 2 jobs depend on it through conditions "
        "(leave out `--direct` to list them)"
    )
    by_table = revenue.downstream("silver.orders.status", grain="table")
    assert by_table.verdict.startswith("no table takes the value of silver.orders.status; 5 columns and 2 jobs depend")


def test_column_that_only_a_query_reads_is_not_unused(tmp_path: Path) -> None:
    lake = shop()
    lake.read("exports.mailing.address", "newsletter", last_read=day(10))
    with open_lake(lake.write(tmp_path / "lake")) as lineage:
        verdict = lineage.downstream("exports.mailing.address").verdict
        assert verdict == "no column takes the value of exports.mailing.address; 1 live query reads it"


def test_count_of_rows_has_a_writer_and_a_definition(revenue: Lineage) -> None:
    definition = "a constant, or a count of rows of silver.orders joined with silver.payments"
    assert revenue.upstream("gold.revenue.orders").verdict == (
        f"no column feeds gold.revenue.orders: {definition}, written by build_revenue; "
        "4 columns decide it through conditions (`--indirect` lists them)"
    )
    [row] = revenue.writers("gold.revenue.orders").rows
    assert (row["job"]["name"], row["definition"], row["inputs"]) == ("build_revenue", definition, [])
    assert revenue.writers("gold.revenue.orders").verdict == "1 job writes gold.revenue.orders"


def test_count_that_the_event_reports_is_not_called_a_constant(tmp_path: Path) -> None:
    lake = revenue_lake()
    lake.column("gold.revenue.orders", expression="count(*)")
    with open_lake(lake.write(tmp_path / "lake")) as lineage:
        definition = "count of rows of silver.orders joined with silver.payments"
        assert lineage.upstream("gold.revenue.orders").verdict.startswith(
            f"no column feeds gold.revenue.orders: {definition}, written by build_revenue; "
        )
        assert lineage.writers("gold.revenue.orders").rows[0]["definition"] == definition


@pytest.mark.parametrize(
    ("how", "description", "value"),
    [
        ("WINDOW", "rank() OVER (ORDER BY amount DESC)", "rank() OVER (ORDER BY amount DESC)"),
        ("CONDITIONAL", "(amount > 100)", "a constant chosen by (amount > 100)"),
    ],
)
def test_value_that_only_conditions_decide_is_not_called_a_count(
    tmp_path: Path, how: str, description: str, value: str
) -> None:
    lake = revenue_lake()
    lake.edge("silver.payments.amount", "gold.revenue.place", "build_revenue", how, description=description)
    with open_lake(lake.write(tmp_path / "lake")) as lineage:
        assert lineage.upstream("gold.revenue.place").verdict == (
            f"no column feeds gold.revenue.place: {value}, written by build_revenue; "
            "5 columns decide it through conditions (`--indirect` lists them)"
        )
        assert lineage.writers("gold.revenue.place").rows[0]["definition"] == value


def test_missing_lineage_is_not_called_a_constant(tmp_path: Path) -> None:
    lake = revenue_lake()
    lake.gap("opaque_step", job="build_revenue", dataset="gold.revenue")
    with open_lake(lake.write(tmp_path / "lake")) as lineage:
        assert lineage.upstream("gold.revenue.orders").verdict.startswith("unknown what feeds gold.revenue.orders")
        [row] = lineage.writers("gold.revenue.orders").rows
        assert (row["job"]["name"], row["definition"]) == ("build_revenue", "unknown: lineage is missing")


@pytest.mark.parametrize("grain", ["column", "table", "job"])
def test_answer_limited_by_depth_counts_all_hops(lineage: Lineage, grain: str) -> None:
    limited = lineage.downstream("bronze.customers.email", depth=1, grain=grain)
    assert limited.verdict.endswith("; 1 of 3 hops shown")
    assert (limited.totals["depth"], limited.totals["hops"]) == (1, 3)
    whole = lineage.downstream("bronze.customers.email", depth=3, grain=grain)
    assert "hops" not in whole.verdict and whole.totals["hops"] == 3


def test_other_questions_count_hops_that_are_not_shown(lineage: Lineage) -> None:
    assert lineage.impact("bronze.customers.email", depth=1).verdict.endswith("; 1 of 3 hops shown")
    assert lineage.pii("bronze.customers.email", depth=2).verdict.endswith("; 2 of 3 hops shown")
    limited = lineage.downstream("bronze.customers.email", limit=1)
    assert "4 more rows were left out; --limit 0 shows all" in str(limited)


def test_name_of_a_job_leads_to_show(lineage: Lineage) -> None:
    with pytest.raises(ColumnError, match="a job has this name: `colline show clean_customers` shows"):
        lineage.upstream("clean_customers")


def test_verdict_about_two_tables_names_the_tables(lineage: Lineage) -> None:
    assert lineage.paths("silver.customers", "gold.contacts").verdict.startswith(
        "2 paths from silver.customers to gold.contacts, "
    )
    assert lineage.compare("silver.customers", "gold.contacts").verdict.startswith(
        "silver.customers and gold.contacts share "
    )


def test_name_of_a_table_is_all_its_columns(lineage: Lineage) -> None:
    of_table = lineage.upstream("gold.contacts")
    assert of_table.columns == lineage.upstream("gold.contacts.*").columns
    assert of_table.verdict == "3 columns in 2 datasets feed gold.contacts"
    assert lineage.droppable("gold.contacts").totals["columns"] == 2
    assert lineage.pii("bronze.customers").of == lineage.pii("bronze.customers.*").of
    with pytest.raises(AmbiguousNameError, match="fits 2 datasets"):
        lineage.upstream("orders")
