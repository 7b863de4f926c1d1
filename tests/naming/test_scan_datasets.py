"""The datasets and columns behind scans of several datasets, and behind queries that another database runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from colline.naming.dataset import NameContext
from colline.naming.scan_datasets import find_scan_inputs
from colline.plan.source import Source, SourceKind
from colline.trace import DatasetName

FILE = Path(__file__).parents[1] / "cases" / "names" / "queries.txt"
CASES = {
    block.splitlines()[0].removeprefix("case: "): block.splitlines()[1:]
    for block in FILE.read_text(encoding="utf-8").split("\n\n")
    if block.startswith("case:")
}


@pytest.mark.parametrize("title", CASES)
def test_query_has_the_columns_of_its_case(title: str) -> None:
    sql, *expected = CASES[title]
    url = "jdbc:oracle:thin:@//db.example:1521/x"
    options = (("url", url), ("dbtable", sql.removeprefix("sql: ")))
    inputs = find_scan_inputs(Source(SourceKind.JDBC, "jdbc", options=options), NameContext())
    if inputs is None:
        assert not expected
        return
    names = [*inputs.columns, *(["any"] if inputs.default_datasets else [])]
    found = [
        f"{name} <- {column.dataset.name.removeprefix('x.')}.{column.field} {transformation.effect.name.lower()}"
        for name in names
        for column, transformations in inputs.flow(name).dependencies.items()
        for transformation in list(transformations)[:1]
    ]
    found += [
        f"* <- {column.dataset.name.removeprefix('x.')}.{column.field} {effect.name.lower()}"
        for column, effect in inputs.row_effects
    ]
    assert sorted(found) == sorted(expected)


def test_several_folders_are_several_datasets_with_the_same_columns() -> None:
    inputs = find_scan_inputs(Source(SourceKind.PATH, "parquet", ("/data/a", "/data/b")), NameContext())
    assert inputs is not None
    assert inputs.datasets == (DatasetName("file", "/data/a"), DatasetName("file", "/data/b"))
    assert [column.dataset.name for column in inputs.flow("x").dependencies] == ["/data/a", "/data/b"]


def test_one_folder_is_one_dataset() -> None:
    assert find_scan_inputs(Source(SourceKind.PATH, "parquet", ("/data/a",)), NameContext()) is None


def test_unreadable_query_has_no_columns() -> None:
    options = (("url", "jdbc:postgresql://h/d"), ("query", "selec ( nothing"))
    assert find_scan_inputs(Source(SourceKind.JDBC, "jdbc", options=options), NameContext()) is None
