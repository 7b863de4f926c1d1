"""Bronze stores the run part of each line, and identifies the rows that a batch wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.lakes import land
from tests.pipeline.parsing.test_raw_events import compact, nightly_event, odd_lines
from tests.pipeline.scenarios import BAD
from tests.pipeline.spark_jar import EVENTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from colline.environment.hadoop_files import HadoopFiles
    from colline.pipeline.delta_tables import LakeTables

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
MAPPED = "spark.databricks.delta.properties.defaults.columnMapping.mode"
LONG = 40_000


@dataclass(frozen=True)
class Place:
    """A lake whose bronze one batch wrote, and the lines it wrote."""

    tables: LakeTables
    files: HadoopFiles
    lines: DataFrame


@pytest.fixture(scope="module")
def place(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    from colline.environment.hadoop_files import HadoopFiles
    from colline.pipeline.delta_tables import LakeTables, Stamp
    from colline.pipeline.ingest_settings import pipeline_session
    from colline.pipeline.parsing.event_parsing import Limits
    from colline.pipeline.parsing.raw_events import write_bronze
    from colline.pipeline.sources.landing import lines_of

    lake = tmp_path_factory.mktemp("a lake [of] {its, own} 50%20*")
    long = compact(nightly_event(1, spark_plan={"text": "x" * LONG}))
    nights = [compact(nightly_event(n, version=n, rows=n)) for n in range(20)]
    # bytes that are not UTF-8, in the run part
    no_text = compact(nightly_event(2)).encode().replace(b'"COMPLETE"', b'"COMP\xffLETE"')
    landed = land(lake, [*nights, *map(compact, EVENTS), long, no_text, *odd_lines(), *BAD])
    with pipeline_session(spark) as session:
        lines = lines_of(session, [landed.as_uri()])
        assert lines is not None
        tables = LakeTables(session, str(lake), Stamp("a stream", 7))
        write_bronze(tables, lines, Limits())
        yield Place(tables, HadoopFiles(session), lines)


def _rows(lines: DataFrame) -> list[dict[str, Any]]:
    found = lines.selectExpr(
        "file", "position", "received_at", "payload", "cast(run_part as binary) as run_part"
    ).collect()
    return sorted((row.asDict() for row in found), key=lambda row: (row["file"], row["position"]))


def test_stored_run_parts_equal_recomputed_ones(place: Place) -> None:
    from colline.pipeline.parsing.event_parsing import Limits
    from colline.pipeline.parsing.raw_events import bronze_of_batch, lines_of_bronze, split, split_bronze

    rows = bronze_of_batch(place.tables, place.files)
    expected = _rows(split(place.lines, Limits()))
    assert _rows(split_bronze(rows, Limits())) == expected
    assert {row["payload"] is None for row in expected} == {True, False}
    # a run part that is most of its line is not stored, nor one that is not UTF-8: both lines are split again
    others = rows.where("split_rule is null")
    assert (others.count(), others.where("run_part is not null").count()) == (2, 0)
    assert [len(row["run_part"]) > LONG for row in expected if row["run_part"]].count(True) == 1
    texts = [
        sorted(row["raw"] for row in of.selectExpr("hex(raw) as raw").collect())
        for of in (lines_of_bronze(rows), place.lines)
    ]
    assert texts[0] == texts[1]


def test_lines_split_by_another_rule_are_split_again(place: Place) -> None:
    from colline.pipeline.parsing.event_parsing import Limits
    from colline.pipeline.parsing.raw_events import bronze_of_batch, split, split_bronze, split_rule

    rows, short = bronze_of_batch(place.tables, place.files), Limits(bytes=2_000)
    assert split_rule(short) != split_rule(Limits())
    again = _rows(split_bronze(rows, short))
    assert again == _rows(split(place.lines, short))
    assert again != _rows(split_bronze(rows, Limits()))


def test_lines_with_a_stored_run_part_are_not_read(place: Place) -> None:
    from colline.pipeline.parsing.event_parsing import Limits
    from colline.pipeline.parsing.raw_events import bronze_of_batch, split_bronze

    rows = bronze_of_batch(place.tables, place.files)
    kept = rows.where("split_rule is not null")
    # if their bytes were read, the run parts would differ
    spoiled = kept.withColumn("raw", kept["raw"].substr(1, 5))
    assert _rows(split_bronze(spoiled, Limits())) == _rows(split_bronze(kept, Limits()))


def test_batch_finds_its_own_rows(place: Place) -> None:
    from colline.pipeline.delta_tables import Stamp
    from colline.pipeline.parsing.event_parsing import Limits
    from colline.pipeline.parsing.raw_events import bronze_of_batch, write_bronze

    tables, few = place.tables, place.lines.limit(3)
    later = replace(tables, stamp=Stamp("a stream", 8))
    write_bronze(later, few, Limits())
    counts = [rows.count() for rows in (bronze_of_batch(tables, place.files), bronze_of_batch(later, place.files))]
    assert counts == [place.lines.count(), 3]
    assert bronze_of_batch(replace(tables, stamp=Stamp("a stream", 9)), place.files).count() == 0


def test_bronze_with_mapped_columns_is_read_by_delta(place: Place, tmp_path: Path) -> None:
    from colline.lake.tables import BRONZE
    from colline.pipeline.parsing.event_parsing import Limits
    from colline.pipeline.parsing.raw_events import bronze_of_batch, split_bronze, write_bronze

    session, mapped = place.tables.spark, replace(place.tables, lake=str(tmp_path))
    session.conf.set(MAPPED, "name")
    try:
        write_bronze(mapped, place.lines, Limits())
    finally:
        session.conf.unset(MAPPED)
    assert bronze_of_batch(mapped, place.files).count() == place.lines.count()
    assert len(_rows(split_bronze(mapped.read(BRONZE), Limits()))) == place.lines.count()


def test_batch_finds_its_rows_in_a_lake_with_a_colon_in_its_name(place: Place, tmp_path: Path) -> None:
    from colline.pipeline.parsing.event_parsing import Limits
    from colline.pipeline.parsing.raw_events import bronze_of_batch, write_bronze

    tables = replace(place.tables, lake=str(tmp_path / "at 10:30"))
    write_bronze(tables, place.lines.limit(3), Limits())
    rows = bronze_of_batch(tables, place.files)
    assert rows.count() == 3
