"""Exports of Unity Catalog's lineage tables as CSV, Parquet and Delta."""

from __future__ import annotations

import csv
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyarrow import parquet

from colline.importers.formats import ImportOptions, ImportResult, read_definitions
from colline.importers.known_tables import FixedTableList, KnownTable, NoTables
from colline.trace import DatasetName
from tests.importers.definition_lines import job_lines

COLUMNS = (
    "account_id", "metastore_id", "workspace_id", "entity_type", "entity_id", "entity_run_id", "source_table_full_name",
    "source_table_catalog", "source_table_schema", "source_table_name", "source_path", "source_type",
    "source_column_name", "target_table_full_name", "target_table_catalog", "target_table_schema", "target_table_name",
    "target_path", "target_type", "target_column_name", "created_by", "event_time", "event_date", "record_id",
    "event_id", "statement_id", "entity_metadata",
)  # fmt: skip


def row(source: str, target: str, at: str, **more: str | None) -> dict[str, Any]:
    """A row: `main.silver.orders.amount` → `main.gold.daily.total`; an empty side is null."""
    tables = {}
    for side, name in (("source", source), ("target", target)):
        table, _, column = name.rpartition(".")
        tables |= {f"{side}_table_full_name": table or None, f"{side}_column_name": column or None}
    facts = {"entity_type": "JOB", "entity_id": "17", "entity_run_id": "r1", "created_by": "ann@example.com"}
    return {**dict.fromkeys(COLUMNS), **facts, **tables, "event_time": at, **more}


ROWS = [
    row("main.silver.orders.amount", "main.gold.daily.total", "2026-03-01T10:00:00.000Z"),
    row("main.silver.orders.tax", "main.gold.daily.total", "2026-03-01T10:00:01.000Z"),
    row("main.silver.orders.day", "main.gold.daily.day", "2026-03-01T10:00:00.000Z"),
    row(
        "main.gold.daily.total", "", "2026-03-02T09:00:00Z",
        entity_type=None, entity_id=None, entity_run_id=None, statement_id="s1",
        entity_metadata='{"dashboard_id": "d-9"}',
    ),
    row("", "main.silver.orders.amount", "2026-03-01T08:00:00Z", entity_type="NOTEBOOK", entity_id="n1",
        entity_run_id="r0", source_path="abfss://raw@acme.dfs.core.windows.net/orders/"),
]  # fmt: skip


def write_csv(folder: Path, rows: list[dict[str, Any]]) -> None:
    with (folder / "column_lineage.csv").open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


def arrow(rows: list[dict[str, Any]]) -> pa.Table:
    times = [{**each, "event_time": datetime.fromisoformat(each["event_time"].replace("Z", "+00:00"))} for each in rows]
    types = {name: pa.string() for name in COLUMNS} | {"event_time": pa.timestamp("us", "UTC")}
    return pa.Table.from_pylist(times, pa.schema(list(types.items())))


def write_parquet(folder: Path, rows: list[dict[str, Any]]) -> None:
    parquet.write_table(arrow(rows), folder / "column_lineage.parquet")


def write_delta(folder: Path, rows: list[dict[str, Any]]) -> None:
    write_deltalake(str(folder / "column_lineage"), arrow(rows))


def read(folder: Path) -> ImportResult:
    return read_definitions(folder, NoTables(), ImportOptions(namespace="unitycatalog://adb-1"))


@pytest.mark.parametrize("write", [write_csv, write_parquet, write_delta])
def test_rows_of_one_run_are_the_lineage_of_a_job(tmp_path: Path, write: Any) -> None:
    write(tmp_path, ROWS)
    load, daily, dashboard = read(tmp_path).definitions.jobs
    assert [job.name for job in (load, daily, dashboard)] == ["notebook/n1", "job/17", "dashboard/d-9"]
    assert daily.seen_at == datetime(2026, 3, 1, 10, 0, 1, tzinfo=timezone.utc)
    assert (daily.integration, daily.owners) == ("UNITY_CATALOG", ("ann@example.com",))
    assert job_lines(daily) == [
        "main.gold.daily.day <- main.silver.orders.day direct/transformation",
        "main.gold.daily.total <- main.silver.orders.amount direct/transformation",
        "main.gold.daily.total <- main.silver.orders.tax direct/transformation",
    ]
    [entry, _] = daily.outputs[0].lineage.fields["total"]  # type: ignore[union-attr]
    assert entry.transformations[0].description == "untyped: Unity Catalog does not record how"
    assert [name.dataset.name for name in load.inputs] == [
        DatasetName("abfss://raw@acme.dfs.core.windows.net", "orders")
    ]
    [reads] = dashboard.inputs
    assert [read.field for read in reads.reads] == ["total"]


def test_the_same_run_has_the_same_id_in_every_import(tmp_path: Path) -> None:
    from colline.events.redact import NO_REDACTION
    from colline.importers.definition_events import definition_events

    write_csv(tmp_path, ROWS)
    at = datetime(2026, 4, 1, tzinfo=timezone.utc)
    one, other = (list(definition_events(read(tmp_path).definitions, at, NO_REDACTION)) for _ in range(2))
    assert one == other
    assert [event.event_time for event in one] == [
        "2026-03-01T08:00:00.000000Z",
        "2026-03-01T10:00:01.000000Z",
        "2026-03-02T09:00:00.000000Z",
    ]


def test_tables_of_the_lake_are_found_by_their_names(tmp_path: Path) -> None:
    write_csv(tmp_path, ROWS)
    known = KnownTable(DatasetName("s3://lake", "gold/daily"), ("total",), is_written=True)
    result = read_definitions(tmp_path, FixedTableList([known]), ImportOptions())
    assert result.resolutions.matched == {"main.gold.daily": known.name}


def test_table_lineage_without_columns_has_inputs_and_outputs(tmp_path: Path) -> None:
    names = [name for name in COLUMNS if not name.endswith("_column_name")]
    with (tmp_path / "table_lineage.csv").open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerow(ROWS[0])
    [job] = read(tmp_path).definitions.jobs
    assert job_lines(job) == ["main.gold.daily without lineage"]
    assert [each.dataset.name.name for each in job.inputs] == ["main.silver.orders"]


def test_a_row_without_a_time_is_reported(tmp_path: Path) -> None:
    write_csv(tmp_path, [ROWS[0], {**ROWS[1], "event_time": "yesterday"}])
    result = read(tmp_path)
    assert [(each.file, each.line) for each in result.definitions.problems] == [("column_lineage.csv", 3)]
    assert len(result.definitions.jobs) == 1


def test_other_csv_and_parquet_files_are_ignored(tmp_path: Path) -> None:
    write_csv(tmp_path, ROWS)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", "utf-8")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    result = read(tmp_path)
    assert result.counts == {"unity-catalog": 1}
    assert [each.file for each in result.definitions.problems] == ["broken.parquet"]


def parquet_export(path: Path, rows: int, **changed: Any) -> None:
    row = {
        "source_table_full_name": "main.silver.orders", "target_table_full_name": "main.gold.daily",
        "source_column_name": "amount", "target_column_name": "total", "event_time": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    table = pa.table({name: [value] * rows for name, value in {**row, **changed}.items()})
    parquet.write_table(table, path, compression="zstd")


def test_a_small_file_with_very_long_texts_is_refused(tmp_path: Path) -> None:
    parquet_export(tmp_path / "bomb.parquet", 5_000, created_by="x" * 200_000)
    parquet_export(tmp_path / "good.parquet", 3, a_column_that_is_not_read="y" * 200_000)
    assert (tmp_path / "bomb.parquet").stat().st_size < 100_000
    found = read_definitions(tmp_path, NoTables(), ImportOptions()).definitions
    assert [(each.file, each.message) for each in found.problems] == [
        ("bomb.parquet", "its rows could not be read: a text has more than 100,000 bytes")
    ]
    assert [job.name for job in found.jobs] == ["query/unknown"]


def test_a_damaged_part_of_a_parquet_file_is_reported_and_the_rest_is_imported(tmp_path: Path) -> None:
    parquet_export(tmp_path / "good.parquet", 3)
    parquet_export(tmp_path / "bad.parquet", 3)
    data = bytearray((tmp_path / "bad.parquet").read_bytes())
    data[4:200] = bytes(196)  # the pages of the first columns
    (tmp_path / "bad.parquet").write_bytes(data)
    found = read_definitions(tmp_path, NoTables(), ImportOptions()).definitions
    assert [each.file for each in found.problems] == ["bad.parquet"]
    assert len(found.jobs) == 1


def test_a_line_without_an_end_is_refused(tmp_path: Path) -> None:
    header = "source_table_full_name,target_table_full_name,event_time"
    (tmp_path / "a.csv").write_text(f"{header}\na.b.c,d.e.f,2026-01-01T00:00:00Z\n{'x' * 2_000_000}")
    found = read_definitions(tmp_path, NoTables(), ImportOptions()).definitions
    assert [(each.line, each.message) for each in found.problems] == [
        (3, "expected CSV: a line has more than 1,000,000 characters")
    ]
    assert len(found.jobs) == 1
