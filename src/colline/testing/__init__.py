"""Lineage in tests of PySpark code: a pytest plugin that no query has to run for.

    from colline.testing import assert_lineage

    def test_revenue(spark):
        assert_lineage(daily_revenue(spark), '''
            day   <- orders.placed_at  direct/transformation
            total <- orders.amount     direct/aggregation
            *     <- orders.placed_at  indirect/group_by
        ''')

    def test_nothing_moved(spark, lineage_snapshot):
        lineage_snapshot(daily_revenue(spark))

`lineage_snapshot` compares with a text file next to the test. `pytest --update-lineage` writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from colline.testing.lineage_lines import ExpectedLineageError, lineage_lines, parse_lines
from colline.testing.snapshot_files import compare_with_file, snapshot_file

if TYPE_CHECKING:
    from colline.trace import ColumnLineage

__all__ = ["ExpectedLineageError", "assert_lineage", "lineage_snapshot"]
__tracebackhide__ = True


def assert_lineage(query: Any, expected: str, *, spark: Any = None, only: Iterable[str] | None = None) -> None:
    """Fail unless a DataFrame, SQL text or `ColumnLineage` has exactly this lineage.

    `only` restricts the comparison to these output columns; `*` stands for the rows.
    """
    __tracebackhide__ = True
    wanted, names = parse_lines(expected), None if only is None else set(only)
    found = lineage_lines(_lineage(query, spark))
    if names is not None:
        found = [line for line in found if line.output in names]
        wanted = [line for line in wanted if line.output in names]
    missing = [line.text for line in wanted if line not in found]
    unexpected = [line.text for line in found if line not in wanted]
    if missing or unexpected:
        rows = [*(f"- {text}" for text in missing), *(f"+ {text}" for text in unexpected)]
        pytest.fail("the lineage differs (- expected, + found)\n" + "\n".join(rows), pytrace=False)


@pytest.fixture
def lineage_snapshot(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compares the lineage of a query with a file under version control: `lineage_snapshot(df, name="…")`."""
    updates = bool(request.config.getoption("--update-lineage"))
    used: set[Path] = set()

    def compare(query: Any, name: str = "", *, spark: Any = None) -> None:
        __tracebackhide__ = True
        file = snapshot_file(request.path, request.node.name, name)
        if file in used:
            pytest.fail(f"{file.name} is used twice in this test; hint: give each snapshot a name", pytrace=False)
        used.add(file)
        lines = [line.text_with_expression for line in lineage_lines(_lineage(query, spark))]
        difference = compare_with_file(file, lines, updates=updates)
        if difference:
            pytest.fail(difference, pytrace=False)

    return compare


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that writes the files of `lineage_snapshot`."""
    group = parser.getgroup("colline")
    group.addoption("--update-lineage", action="store_true", help="Write the lineage snapshots instead of comparing.")


def _lineage(query: Any, spark: Any) -> ColumnLineage:
    from colline import lineage
    from colline.trace import ColumnLineage

    return query if isinstance(query, ColumnLineage) else lineage(query, spark)
