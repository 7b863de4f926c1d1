"""What scans of several datasets and of queries elsewhere are made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from colline.naming.dataset import NameContext
from colline.naming.scan_datasets import makeup_of
from colline.plan.source import Source, SourceKind
from colline.trace import DatasetName

FILE = Path(__file__).parents[1] / "cases" / "names" / "queries.txt"
CASES = {
    block.splitlines()[0].removeprefix("case: "): block.splitlines()[1:]
    for block in FILE.read_text(encoding="utf-8").split("\n\n")
    if block.startswith("case:")
}


@pytest.mark.parametrize("title", CASES)
def test_every_query_has_the_origins_its_case_says(title: str) -> None:
    sql, *expected = CASES[title]
    url = "jdbc:oracle:thin:@//db.example:1521/x"
    options = (("url", url), ("dbtable", sql.removeprefix("sql: ")))
    makeup = makeup_of(Source(SourceKind.JDBC, "jdbc", options=options), NameContext())
    if makeup is None:
        assert not expected
        return
    names = [*makeup.columns, *(["any"] if makeup.whole else [])]
    found = [
        f"{name} <- {way.dataset.name.removeprefix('x.')}.{way.field} {next(iter(how)).effect.name.lower()}"
        for name in names
        for way, how in makeup.flow(name).ways.items()
    ]
    found += [f"* <- {c.dataset.name.removeprefix('x.')}.{c.field} {how.name.lower()}" for c, how in makeup.rows]
    assert found == expected


def test_several_folders_are_several_datasets_with_the_same_columns() -> None:
    makeup = makeup_of(Source(SourceKind.PATH, "parquet", ("/data/a", "/data/b")), NameContext())
    assert makeup is not None
    assert makeup.datasets == (DatasetName("file", "/data/a"), DatasetName("file", "/data/b"))
    assert [column.dataset.name for column in makeup.flow("x").ways] == ["/data/a", "/data/b"]


def test_one_folder_is_nothing_special() -> None:
    assert makeup_of(Source(SourceKind.PATH, "parquet", ("/data/a",)), NameContext()) is None


def test_a_query_nobody_can_read_is_left_to_its_name() -> None:
    options = (("url", "jdbc:postgresql://h/d"), ("query", "selec ( nothing"))
    assert makeup_of(Source(SourceKind.JDBC, "jdbc", options=options), NameContext()) is None
