"""The examples in the reference of the tables run, and find what they are meant to find."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import DOCS
from tests.graph.graph_lakes import shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BLOCK = re.compile(r"^```(?:python|sql)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.delta
def test_examples_find_exposures_unused_columns_and_stale_tables(spark: SparkSession, tmp_path: Path) -> None:
    lake = shop().write(tmp_path / "lake")
    register, *examples = BLOCK.findall((DOCS / "reference" / "tables.md").read_text("utf-8"))
    exec(register.replace("/data/lake", str(lake)), {"spark": spark})
    exposed, unused, freshness, earlier = ([tuple(row) for row in spark.sql(text).collect()] for text in examples)
    assert exposed == [
        ("/lake/silver/customers", 1, 1),
        ("/lake/gold/contacts", 1, 2),
        ("/lake/exports/mailing", 1, 3),
    ]
    assert {(name, field) for name, field, _ in unused} == {
        ("/lake/exports/mailing", "address"),
        ("/lake/gold/contacts", "key"),
        ("/lake/gold/daily_revenue", "region"),
        ("/lake/platinum/kpi", "revenue"),
        ("/lake/silver/customers", "fax"),
        ("/lake/silver/customers", "nickname"),
        ("/lake/silver/orders", "id"),
    }
    assert len(freshness) == 8
    assert all(hours > 0 for *_, hours in freshness)
    total = {(source, subtype, text) for _, source, target, subtype, text in earlier if target == "total"}
    assert total == {
        ("amount", "AGGREGATION", "sum(amount)"),
        ("amount", "AGGREGATION", "sum(amount * 2)"),
        ("total", "TRANSFORMATION", "total + old"),
    }
