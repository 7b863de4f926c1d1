"""Bronze gives back each line's halves as they were cut, and tells which rows a batch wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.lakes import land
from tests.pipeline.jar import EVENTS
from tests.pipeline.scenarios import BAD
from tests.pipeline.test_heads import compact, odd_lines, told

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from colline.environment.hadoop_files import HadoopFiles
    from colline.pipeline.store import Store

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
MAPPED = "spark.databricks.delta.properties.defaults.columnMapping.mode"
LONG = 40_000


@dataclass(frozen=True)
class Place:
    """A lake whose bronze one batch wrote, and the lines it wrote."""

    store: Store
    files: HadoopFiles
    lines: DataFrame


@pytest.fixture(scope="module")
def place(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    from colline.environment.hadoop_files import HadoopFiles
    from colline.pipeline.bronze import write_bronze
    from colline.pipeline.ingest_settings import pipeline_session
    from colline.pipeline.landing import lines_of
    from colline.pipeline.parse import Limits
    from colline.pipeline.store import Stamp, Store

    lake = tmp_path_factory.mktemp("a lake [of] {its, own} 50%20*")
    long = compact(told(1, spark_plan={"text": "x" * LONG}))
    nights = [compact(told(n, version=n, rows=n)) for n in range(20)]
    # bytes that are no text, in the half that is kept as text
    no_text = compact(told(2)).encode().replace(b'"COMPLETE"', b'"COMP\xffLETE"')
    landed = land(lake, [*nights, *map(compact, EVENTS), long, no_text, *odd_lines(), *BAD])
    with pipeline_session(spark) as session:
        lines = lines_of(session, [landed.as_uri()])
        assert lines is not None
        store = Store(session, str(lake), Stamp("a stream", 7))
        write_bronze(store, lines, Limits())
        yield Place(store, HadoopFiles(session), lines)


def _rows(halves: DataFrame) -> list[dict[str, Any]]:
    found = halves.selectExpr("file", "position", "received_at", "body", "cast(head as binary) as head").collect()
    return sorted((row.asDict() for row in found), key=lambda row: (row["file"], row["position"]))


def test_halves_are_those_of_the_lines(place: Place) -> None:
    from colline.pipeline.bronze import halves, lines, written
    from colline.pipeline.heads import halved
    from colline.pipeline.parse import Limits

    rows = written(place.store, place.files)
    assert rows is not None
    cut = _rows(halved(place.lines, Limits()))
    assert _rows(halves(rows, Limits())) == cut
    assert {row["body"] is None for row in cut} == {True, False}
    # one that is most of its line is not kept, nor one that is no text; both are cut again
    others = rows.where("rule is null")
    assert (others.count(), others.where("head is not null").count()) == (2, 0)
    assert [len(row["head"]) > LONG for row in cut if row["head"]].count(True) == 1
    texts = [
        sorted(row["raw"] for row in of.selectExpr("hex(raw) as raw").collect()) for of in (lines(rows), place.lines)
    ]
    assert texts[0] == texts[1]


def test_lines_that_were_cut_by_another_rule_are_cut_anew(place: Place) -> None:
    from colline.pipeline.bronze import halves, written
    from colline.pipeline.heads import halved, rule
    from colline.pipeline.parse import Limits

    rows, short = written(place.store, place.files), Limits(bytes=2_000)
    assert rows is not None
    assert rule(short) != rule(Limits())
    anew = _rows(halves(rows, short))
    assert anew == _rows(halved(place.lines, short))
    assert anew != _rows(halves(rows, Limits()))


def test_lines_that_are_kept_in_halves_are_not_read(place: Place) -> None:
    from colline.pipeline.bronze import halves, written
    from colline.pipeline.parse import Limits

    rows = written(place.store, place.files)
    assert rows is not None
    kept = rows.where("rule is not null")
    # had anyone looked at their bytes, these would be other halves
    spoiled = kept.withColumn("raw", kept["raw"].substr(1, 5))
    assert _rows(halves(spoiled, Limits())) == _rows(halves(kept, Limits()))


def test_a_batch_finds_its_own_rows_after_those_of_others(place: Place) -> None:
    from colline.pipeline.bronze import write_bronze, written
    from colline.pipeline.parse import Limits
    from colline.pipeline.store import Stamp

    store, few = place.store, place.lines.limit(3)
    later = replace(store, stamp=Stamp("a stream", 8))
    write_bronze(later, few, Limits())
    counts = [rows.count() for rows in (written(store, place.files), written(later, place.files)) if rows is not None]
    assert counts == [place.lines.count(), 3]
    # one that was not written, and one without a stamp
    assert written(replace(store, stamp=Stamp("a stream", 9)), place.files) is None
    assert written(replace(store, stamp=None), place.files) is None


def test_files_whose_columns_have_other_names_are_not_read(place: Place, tmp_path: Path) -> None:
    from colline.lake.tables import BRONZE
    from colline.pipeline.bronze import halves, write_bronze, written
    from colline.pipeline.parse import Limits

    session, mapped = place.store.spark, replace(place.store, lake=str(tmp_path))
    session.conf.set(MAPPED, "name")
    try:
        write_bronze(mapped, place.lines, Limits())
    finally:
        session.conf.unset(MAPPED)
    assert written(mapped, place.files) is None
    assert len(_rows(halves(mapped.read(BRONZE), Limits()))) == place.lines.count()


def test_a_batch_finds_its_rows_in_a_lake_with_a_colon_in_its_name(place: Place, tmp_path: Path) -> None:
    from colline.pipeline.bronze import write_bronze, written
    from colline.pipeline.parse import Limits

    store = replace(place.store, lake=str(tmp_path / "at 10:30"))
    write_bronze(store, place.lines.limit(3), Limits())
    rows = written(store, place.files)
    assert rows is not None
    assert rows.count() == 3
    for file in (tmp_path / "at 10:30").rglob("*.parquet"):  # as after upkeep that keeps no old files
        file.unlink()
    assert written(store, place.files) is None
