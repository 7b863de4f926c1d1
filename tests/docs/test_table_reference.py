"""The reference of the tables lists what the code defines."""

from __future__ import annotations

import re

import pytest

from colline.lake.flat_shapes import FLAT_TABLES
from colline.lake.tables import TABLES, fields_of
from tests.docs.pages import DOCS

REFERENCE = (DOCS / "reference" / "tables.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", FLAT_TABLES, ids=lambda table: table.path)
def test_reference_lists_every_column_of_a_view(table) -> None:  # type: ignore[no-untyped-def]  # parametrized
    [section] = re.findall(rf"^### {table.path}\n(.*?)(?=^#|\Z)", REFERENCE, re.S | re.M)
    assert re.findall(r"^\| `(\w+)` \|", section, re.M) == list(fields_of(table))


def test_reference_lists_every_stored_table() -> None:
    [section] = re.findall(r"^## Stored tables\n(.*)", REFERENCE, re.S | re.M)
    assert re.findall(r"^\| `(\w+/\w+)` \|", section, re.M) == [table.path for table in TABLES]
