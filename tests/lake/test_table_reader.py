"""Arrow types are derived from the table schemas."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colline.lake.table_reader import arrow_schema, arrow_type
from colline.lake.tables import TABLES, fields_of


def test_nested_types_are_converted() -> None:
    found = arrow_type("array<struct<name:string,uses:array<string>,counts:map<string,bigint>>>")
    counts = pa.map_(pa.string(), pa.int64())
    member = pa.struct([("name", pa.string()), ("uses", pa.list_(pa.string())), ("counts", counts)])
    assert found == pa.list_(member)


def test_an_unknown_type_is_an_error() -> None:
    with pytest.raises(ValueError, match="no Arrow type for 'interval'"):
        arrow_type("interval")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.path)
def test_every_column_of_every_table_has_an_arrow_type(table) -> None:  # type: ignore[no-untyped-def]  # parametrized
    assert arrow_schema(table).names == list(fields_of(table))
