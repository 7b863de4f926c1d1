"""The dataset of the lake that a name or an address in a file stands for."""

from __future__ import annotations

import pytest

from colline.graph import open_lake
from colline.importers.known_tables import FixedTableList, KnownTable, LakeTableList, NoTables
from colline.importers.table_resolution import TableResolver
from colline.semantic_models.source_address import SourceAddress
from colline.trace import DatasetName
from tests.graph.graph_lakes import LakeWriter

DAILY = KnownTable(DatasetName("s3://lake", "gold/daily"), ("day", "total"), is_written=True)
ORDERS = KnownTable(DatasetName("postgres://db:5432", "shop.public.orders"), ("id",), is_written=True)
MODEL = KnownTable(DatasetName("powerbi", "Sales/daily"), ("day",), is_written=True)
COPIES = [
    KnownTable(DatasetName("s3://one", "raw/events"), is_written=True),
    KnownTable(DatasetName("s3://two", "raw/events"), is_written=True),
]


def resolver(*tables: KnownTable) -> TableResolver:
    return TableResolver(FixedTableList(tables), "database", frozenset(["powerbi"]))


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        (("shop", "gold", "daily"), DAILY),
        (("gold", "Daily"), DAILY),
        (("daily",), DAILY),
        (("shop", "dbo", "daily"), DAILY),
        (("public", "orders"), ORDERS),
        (("orders",), ORDERS),
        (("silver", "daily"), None),
        (("shop", "silver", "daily"), None),
    ],
)
def test_a_suffix_of_the_name_is_enough_if_schemas_agree(parts: tuple[str, ...], found: KnownTable | None) -> None:
    tables = resolver(DAILY, ORDERS, MODEL)
    table = tables.find(parts)
    assert table.name == (found.name if found is not None else DatasetName("database", ".".join(parts)))
    assert table.columns == (found.columns if found is not None else ())
    assert list(tables.resolutions.unknown) == ([] if found is not None else [".".join(parts)])


def test_a_name_that_fits_two_tables_is_ambiguous() -> None:
    tables = resolver(*COPIES)
    assert tables.find(("raw", "events")).name == DatasetName("database", "raw.events")
    assert tables.resolutions.ambiguous == {"raw.events": ("s3://one raw/events", "s3://two raw/events")}


def test_the_exact_address_comes_first() -> None:
    address = SourceAddress(ORDERS.name, ("shop", "public", "orders"))
    other = KnownTable(DatasetName("s3://lake", "public/orders"), is_written=True)
    assert resolver(ORDERS, other).find_source(address).name == ORDERS.name


def test_the_name_that_an_earlier_import_gave_to_an_address_does_not_hide_the_table() -> None:
    address = SourceAddress(DatasetName("sqlserver://srv:1433", "shop.gold.daily"), ("shop", "gold", "daily"))
    earlier = KnownTable(address.name, ("day",))
    assert resolver(earlier, DAILY).find_source(address).name == DAILY.name
    assert resolver(earlier).find_source(address).name == earlier.name


def test_a_table_that_the_files_define_comes_before_the_lake() -> None:
    tables = TableResolver(NoTables(), "database")
    tables.define(DatasetName("database", "shop.gold.totals"), ("a",))
    assert tables.find(("gold", "totals")).columns == ("a",)


def test_tables_are_found_in_a_real_lake(tmp_path: pytest.TempPathFactory) -> None:
    lake = LakeWriter()
    links = [{"namespace": "hive://h:9083", "name": "sales.daily", "type": "TABLE"}]
    lake.dataset("gold.daily", symlinks=links)
    lake.column("gold.daily.total")
    lake.column("gold.daily.day")
    lake.dataset("silver.gone", dropped_at=lake.datasets["gold.daily"]["last_seen"])
    lake.column("silver.gone.x")
    with open_lake(lake.write(tmp_path / "lake")) as opened:  # type: ignore[operator]
        tables = LakeTableList(opened)
        daily = DatasetName("file", "/lake/gold/daily")
        assert [each.name for each in tables.find_by_ending(("sales", "daily"))] == [daily]
        found = tables.find_exact(daily)
        assert found is not None
        assert (found.columns, found.is_written) == (("total", "day"), True)
        assert tables.find_exact(DatasetName("file", "/lake/gold/weekly")) is None
        assert tables.datasets_in("file") == [daily]
