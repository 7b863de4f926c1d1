"""Tables, jobs and runs: lists, cards and search groups, as people see them in the terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from colline.errors import AmbiguousNameError, ColumnError
from colline.flat import flat_tables
from colline.graph import Lineage, open_lake
from colline.graph.inventory_rows import WrittenDataset
from colline.graph.snapshot import publish
from tests.graph.graph_lakes import day, shop


def lines(answer: object) -> list[str]:
    """The output without the headline's time."""
    return [re.sub("; as of [0-9TZ:-]+$", "", line) for line in str(answer).splitlines()]


def add_columns(lake: Path, monkeypatch: pytest.MonkeyPatch, **values: dict[str, Any]) -> None:
    """Publishes a snapshot from tables with further columns, `jobs_sql={"kpi": "select 1"}`, by the row's name."""
    tables, versions = flat_tables.read_flat(lake)
    for key, by_name in values.items():
        name, _, column = key.partition("_")
        rows, label = tables[name], "field" if name == "columns" else "name"
        added = [by_name.get(row) for row in rows.column(label).to_pylist()]
        rows = rows.drop_columns([column]) if column in rows.schema.names else rows
        tables[name] = rows.append_column(column, pa.array(added))
    monkeypatch.setattr(flat_tables, "read_flat", lambda _: (tables, versions))
    publish.publish(lake)


def test_tables_are_listed_with_columns_and_neighbours(lineage: Lineage) -> None:
    assert lines(lineage.tables("customers")) == [
        "2 tables",
        "table             kind   layer   columns  up  down  last written          last read",
        "bronze.customers  TABLE  bronze        3   0     1  2026-01-11T00:00:00Z",
        "silver.customers  TABLE  silver        6   1     2  2026-01-11T00:00:00Z  2025-06-15T00:00:00Z",
    ]
    assert [row["label"] for row in lineage.tables(layer="gold").rows] == ["gold.contacts", "gold.daily_revenue"]
    assert lineage.tables("nothing").verdict == "no table has such a name"


def test_jobs_are_listed_with_their_last_run(lineage: Lineage) -> None:
    assert lines(lineage.jobs("revenue")) == [
        "1 job",
        "job            last run  started               owner    runs",
        "daily_revenue  COMPLETE  2026-01-11T00:00:00Z  finance    10",
    ]
    assert [row["name"] for row in lineage.jobs(state="FAIL").rows] == ["kpi"]


def test_table_card_shows_columns_neighbours_writers_and_readers(lineage: Lineage) -> None:
    assert lines(lineage.show("gold.daily_revenue")) == [
        "gold.daily_revenue has 2 columns; written by daily_revenue; read by 2 jobs",
        "kind: TABLE",
        "layer: gold",
        "column  type    up  down  decided by  decides",
        "total   string   1     1           3        0",
        "region  string   1     0           3        0",
        "built on          layer   columns  jobs",
        "silver.customers  silver        2  daily_revenue",
        "silver.orders     silver        2  daily_revenue",
        "built on it   layer     columns  jobs",
        "platinum.kpi  platinum        1  kpi",
        "written by     owner    last run  last success",
        "daily_revenue  finance  COMPLETE  2026-01-11T00:00:00Z",
        "read by    uses   columns  last read             live",
        "kpi        value        1  2026-01-11T00:00:00Z  yes",
        "dashboard  value        1  2026-01-10T00:00:00Z  yes",
    ]


def test_job_card_shows_inputs_outputs_and_runs(lineage: Lineage) -> None:
    assert lines(lineage.show("daily_revenue", kind="job")) == [
        "daily_revenue reads 3 tables and writes 1 table; last run COMPLETE at 2026-01-11T00:00:00Z; typically 30 min",
        "owner: finance",
        "integration: SPARK",
        "started               state     duration  run",
        "2026-01-11T00:00:00Z  COMPLETE    30 min  run-2",
        "2026-01-10T00:00:00Z  COMPLETE      72 s  run-1",
        "reads               layer   columns  last written",
        "gold.daily_revenue  gold          2  2026-01-11T00:00:00Z",
        "silver.customers    silver        6  2026-01-11T00:00:00Z",
        "silver.orders       silver        3  2026-01-11T00:00:00Z",
        "writes              layer  columns  last written",
        "gold.daily_revenue  gold         2  2026-01-11T00:00:00Z",
    ]
    [failed] = lineage.show("kpi", kind="job").runs
    assert failed["error"] == "no such column\n  at line 1" and failed["seconds"] == pytest.approx(3.6)


def test_a_run_opens_with_what_it_wrote(tmp_path: Path) -> None:
    writer = shop()
    writer.runs.clear()
    lake = writer.write(tmp_path / "lake")

    def line(run: str, time: str, rows: int) -> bytes:
        statistics = {"rowCount": rows, "size": 4494}
        output = {
            "namespace": "file",
            "name": "/lake/gold/daily_revenue",
            "outputFacets": {"outputStatistics": statistics},
        }
        return json.dumps({"eventTime": time, "run": {"runId": run}, "outputs": [output]}).encode()

    lines = [
        line("run-2", "2026-01-02T01:00:00Z", 60),
        line("run-2", "2026-01-02T00:30:00Z", 1),
        line("run-3", "2026-01-02T01:00:00Z", 7),
        b'{"run": {"runId": "run-2"}, "outputs": "outputStatistics"}',
        b"\xff run-2 outputStatistics",
    ]
    runs = [
        {
            "run_id": f"run-{number}",
            "job_namespace": "shop",
            "job_name": "kpi",
            "state": "COMPLETE",
            "started_at": day(1),
            "ended_at": day(2),
        }
        for number in (2, 3, 4)
    ]
    write_deltalake(str(lake / "silver/runs"), pa.Table.from_pylist(runs))
    events = {"raw": lines, "run_part": pa.nulls(5, pa.string()), "dt": [day(2).date()] * 5}
    write_deltalake(str(lake / "bronze/events"), pa.table(events))
    lineage = open_lake(lake)
    [run] = lineage.runs(run="run-2").rows
    name, label = "/lake/gold/daily_revenue", "gold.daily_revenue"
    assert run["written"] == [WrittenDataset("file", name, label, "gold", rows=60, bytes=4494)]
    assert [each["written"] for each in lineage.runs().rows] == [[], [], []]
    assert lineage.runs(run="run-4").rows[0]["written"] == []


def test_a_run_opens_with_its_inputs_and_outputs(lineage: Lineage) -> None:
    [run] = lineage.runs(run="run-2").rows
    assert [each["label"] for each in (*run["inputs"], *run["outputs"])] == ["silver.orders", "gold.daily_revenue"]
    assert run["seconds"] == 1800
    assert lineage.runs(run="run-99").verdict == "no known run"


def test_cards_show_descriptions_code_and_former_schemas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = shop().write(tmp_path / "lake")
    fields = [{"name": "total", "type": "int"}, {"name": "old", "type": "string"}]
    newer = [{"name": "total", "type": "double"}, {"name": "region", "type": "string"}]
    schemas = [
        {"digest": "b", "first_seen": day(5), "last_seen": day(10), "fields": newer},
        {"digest": "a", "first_seen": day(0), "last_seen": day(4), "fields": fields},
    ]
    add_columns(
        lake,
        monkeypatch,
        datasets_schemas={"/lake/gold/daily_revenue": schemas},
        datasets_description={"/lake/gold/daily_revenue": "Revenue per day"},
        columns_description={"total": "the sum"},
        jobs_sql={"kpi": "\n  select 1\n  from t"},
        jobs_location={"kpi": "https://git/etl.py"},
        jobs_tags={"kpi": ["nightly"]},
    )
    with open_lake(lake) as lineage:
        assert lines(lineage.show("gold.daily_revenue"))[1:7] == [
            "description: Revenue per day",
            "kind: TABLE",
            "layer: gold",
            "column  type    up  down  decided by  decides  description",
            "total   string   1     1           3        0  the sum",
            "region  string   1     0           3        0",
        ]
        assert lines(lineage.show("gold.daily_revenue"))[-3:] == [
            "schema since          until                 columns  added   removed  changed",
            "2026-01-06T00:00:00Z  2026-01-11T00:00:00Z        2  region  old      total: int → double",
            "2026-01-01T00:00:00Z  2026-01-05T00:00:00Z        2",
        ]
        assert lines(lineage.show("kpi", kind="job"))[1:7] == [
            "tags: nightly",
            "integration: SPARK",
            "location: https://git/etl.py",
            "sql:",
            "select 1",
            "from t",
        ]


def test_table_is_written_by_the_jobs_whose_events_list_it(tmp_path: Path) -> None:
    lake = shop()
    flag = lake.dataset("gold.flags")
    lake.column("gold.flags.is_open")
    lake.job("set_flags", outputs=[{"dataset_id": flag}])
    with open_lake(lake.write(tmp_path / "lake")) as lineage:
        assert (
            lineage.show("gold.flags").verdict == "gold.flags has 1 column; written by set_flags; read by no known job"
        )
        assert [row["label"] for row in lineage.show("set_flags").outputs] == ["gold.flags"]


def test_search_finds_tables_and_jobs_in_groups(lineage: Lineage) -> None:
    answer = lineage.find("revenue")
    assert answer.verdict == "3 columns match 'revenue': 1 exact, 2 dataset; also 1 table and 1 job"
    assert [row["label"] for row in answer.tables] == ["gold.daily_revenue"]
    assert [row["name"] for row in answer.jobs] == ["daily_revenue"]
    assert lineage.find("revenue", layer="silver").verdict == "no column matches 'revenue'"
    assert lineage.find("gold.cont").tables[0]["label"] == "gold.contacts"
    only_a_job = lineage.find("mailing", tag=None)
    assert [row["name"] for row in only_a_job.jobs] == ["mailing"]


def test_unknown_or_ambiguous_name_is_an_error_with_a_hint(lineage: Lineage) -> None:
    with pytest.raises(AmbiguousNameError, match="name of a table and of a job"):
        lineage.show("daily_revenue")
    with pytest.raises(ColumnError, match=r"'kpi\.revenue' is a column"):
        lineage.show("kpi.revenue")
    with pytest.raises(ColumnError, match="no table or job is called 'zzz'"):
        lineage.show("zzz")
    with pytest.raises(ColumnError, match="no job is called 'dayly_revenue'") as raised:
        lineage.show("dayly_revenue", kind="job")
    assert raised.value.hint == "did you mean daily_revenue?"
    assert lineage.show("/lake/gold/contacts", namespace="file").table["label"] == "gold.contacts"
