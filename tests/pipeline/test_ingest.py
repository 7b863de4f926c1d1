"""The tables after two ingests, with one job per rule, and after the same events came again."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from colline.lake.tables import DESCRIPTIONS, TABLES
from tests.lakes import land
from tests.pipeline.lake_view import current, edges, gold, table
from tests.pipeline.scenarios import BAD, BAD_REASONS, FIRST, SECOND, day, output, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.pipeline.conftest import Ingested

# a fixture ingests twice: on a busy machine that is minutes
pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def lake(ingested_twice: Ingested) -> Path:
    return ingested_twice.lake


ROWS = ("bronze/events", "bronze/quarantine", "silver/runs", "silver/mentions", "gold/observations")


def test_frames_of_a_batch_are_freed(ingested_twice: Ingested) -> None:
    assert ingested_twice.leaked == set()


def test_a_small_batch_is_one_commit_per_table_it_changes(ingested_twice: Ingested) -> None:
    found = ingested_twice.commits
    assert set(found) == {t.path for t in TABLES if t is not DESCRIPTIONS}
    assert set(found.values()) <= {0, 1}
    assert sum(found.values()) <= len(TABLES) - 2
    # nothing was wrong with its lines
    assert found["bronze/quarantine"] == 0


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc)


def history(lake: Path, job: str) -> list[tuple[str, str, datetime, datetime, datetime | None, int]]:
    return [
        (e["source"], e["subtype"], e["first_seen"], e["last_seen"], e["retired_at"], e["runs"])
        for e in edges(lake)
        if e["job"] == job
    ]


def test_the_same_lineage_again_changes_only_when_it_was_last_seen(lake: Path) -> None:
    assert history(lake, "same") == [("orders.amount", "AGGREGATION", instant(day(1, 1)), instant(day(2, 1)), None, 2)]


def test_changed_lineage_retires_what_it_no_longer_has(lake: Path) -> None:
    assert history(lake, "changed") == [
        ("orders.amount", "AGGREGATION", instant(day(1, 1)), instant(day(1, 1)), instant(day(2, 1)), 1),
        ("orders.amount", "TRANSFORMATION", instant(day(2, 1)), instant(day(2, 1)), None, 1),
    ]


def test_a_column_no_longer_written_is_retired_and_marked_removed(lake: Path) -> None:
    assert current(lake, "fewer") == {"orders.amount -> fewer.a DIRECT/IDENTITY"}
    removed = {c["field"]: c["removed_at"] for c in table(lake, "gold/columns") if c["name"] == "fewer"}
    assert removed == {"a": None, "b": instant(day(2, 1))}


def test_failed_run_changes_no_edge_even_with_a_later_complete(lake: Path) -> None:
    assert history(lake, "fails") == [("orders.amount", "AGGREGATION", instant(day(1, 1)), instant(day(1, 1)), None, 1)]
    job = next(j for j in table(lake, "gold/jobs") if j["name"] == "fails")
    assert (job["last_state"], job["last_failure"], job["last_success"]) == (
        "FAIL",
        instant(day(2, 1)),
        instant(day(1, 1)),
    )


def test_two_jobs_that_write_one_table_both_stay(lake: Path) -> None:
    assert current(lake, "one") == {"orders.amount -> both.total DIRECT/AGGREGATION"}
    assert current(lake, "two") == {"orders.amount -> both.total DIRECT/TRANSFORMATION"}


def test_branches_of_one_application_are_one_version_over_batches(lake: Path) -> None:
    assert current(lake, "branches") == {
        f"orders.{c} -> branches.total DIRECT/AGGREGATION" for c in ("amount", "id", "region")
    }


def test_a_late_run_takes_its_place_in_history(lake: Path) -> None:
    assert history(lake, "late") == [
        ("orders.amount", "AGGREGATION", instant(day(2, 1)), instant(day(2, 1)), instant(day(3, 1)), 1),
        ("orders.id", "AGGREGATION", instant(day(3, 1)), instant(day(3, 1)), None, 1),
    ]


def test_lineage_of_a_start_counts_when_the_end_comes_in_another_batch(lake: Path) -> None:
    assert current(lake, "split") == {"orders.amount -> split.total DIRECT/AGGREGATION"}


def test_compact_and_cartesian_forms_give_the_same_edges(lake: Path) -> None:
    compact = {e.replace("compact.", "x.") for e in current(lake, "compact")}
    assert compact == {e.replace("cartesian.", "x.") for e in current(lake, "cartesian")}
    assert compact == {
        "orders.amount -> x.a DIRECT/IDENTITY",
        "orders.email -> x.b DIRECT/TRANSFORMATION masked",
        "orders.region -> x.* INDIRECT/FILTER",
        "orders.id -> x.* INDIRECT/JOIN",
    }
    # a repeated input is one edge of one run
    assert [e["runs"] for e in edges(lake) if e["job"] == "cartesian"] == [1, 1, 1, 1]


def test_deprecated_transformation_types_are_read(lake: Path) -> None:
    assert current(lake, "legacy") == {
        "orders.id -> legacy.same DIRECT/IDENTITY",
        "orders.email -> legacy.hidden DIRECT/TRANSFORMATION masked",
    }


def test_sources_inside_the_facet_count_when_inputs_are_empty(lake: Path) -> None:
    assert current(lake, "merge") == {"orders.amount -> merged.total DIRECT/AGGREGATION"}


def test_the_newer_lineage_facet_is_read(lake: Path) -> None:
    assert current(lake, "newer") == {
        "orders.amount -> newer.a DIRECT/IDENTITY",
        "orders.region -> newer.* INDIRECT/FILTER",
    }


def test_an_overwrite_in_the_same_application_is_the_next_version(lake: Path) -> None:
    assert current(lake, "again") == {"orders.id -> again.total DIRECT/AGGREGATION"}


def test_a_stream_counts_while_it_runs(lake: Path) -> None:
    assert history(lake, "stream") == [("orders.amount", "AGGREGATION", instant(day(1)), instant(day(2)), None, 1)]


def test_a_catalog_name_and_the_location_behind_it_become_one_dataset(lake: Path) -> None:
    assert current(lake, "reader") == {"t.total -> reader.x DIRECT/IDENTITY"}
    live = [d for d in table(lake, "silver/datasets") if d["merged_into"] is None]
    assert [d["namespace"] for d in live if d["name"] in {"t", "db.t"}] == ["lake"]


def test_coverage_gaps_are_reported(lake: Path) -> None:
    jobs = {j["id"]: j["name"] for j in table(lake, "gold/jobs")}
    gaps = {(c["kind"], jobs[c["job_id"]], c["detail"]) for c in table(lake, "gold/coverage")}
    assert gaps == {
        ("no_column_lineage", "bare", ""),
        ("opaque_step", "opaque", "clean: Python code"),
        ("unfinished_run", "lost", "no end was reported"),
        ("unfinished_run", "stream", "no end was reported"),
    }


def test_job_and_dataset_events_count(lake: Path) -> None:
    assert current(lake, "design") == {"orders.amount -> design.total DIRECT/AGGREGATION"}
    assert {c["field"] for c in table(lake, "gold/columns") if c["name"] == "alone"} == {"x", "y"}


def test_query_without_output_has_reads(lake: Path) -> None:
    columns = {c["id"]: f"{c['name']}.{c['field']}" for c in table(lake, "gold/columns")}
    reads = {(columns[r["column_id"]], r["use"]) for r in table(lake, "gold/reads") if r["kind"] == "query"}
    assert reads == {("orders.email", "filter"), ("orders.email", "value")}


def test_bad_lines_are_in_quarantine_with_their_reason_and_place(lake: Path) -> None:
    rows = sorted(table(lake, "bronze/quarantine"), key=lambda r: r["position"])
    assert [r["reason"] for r in rows] == list(BAD_REASONS)
    assert [r["position"] for r in rows] == list(range(len(FIRST) - len(BAD), len(FIRST)))
    assert [r["detail"] for r in rows[6:10]] == ["$.inputs", None, *["inside a dataset or facet"] * 2]
    assert [r["line"] for r in rows[:10]] == [line for line in BAD if isinstance(line, str)]
    # they are in no other table
    assert not [d for d in table(lake, "silver/datasets") if d["name"] == "wrong"]
    wrong = {d["dataset_id"] for d in table(lake, "gold/datasets") if d["name"] == "wrong"}
    assert not [m for m in table(lake, "silver/mentions") if m["dataset_id"] in wrong]
    assert {r["event_id"] for r in rows} < {r["event_id"] for r in table(lake, "bronze/events")}


def test_bronze_has_every_line_byte_for_byte(lake: Path) -> None:
    rows = table(lake, "bronze/events")
    assert len(rows) == len(FIRST) + len(SECOND)
    first = sorted((r for r in rows if r["position"] < 3), key=lambda r: (r["received_at"], r["position"]))
    assert first[0]["raw"] == json.dumps(FIRST[0]).encode()


@contextmanager
def _user_at_work(spark: SparkSession) -> Iterator[list[dict[str, Any]]]:
    """What another thread of the session sees during the block: its settings, its catalog, a query."""
    seen: list[dict[str, Any]] = []
    done = threading.Event()

    def observe() -> None:
        while not done.wait(0.5):
            try:
                seen.append(
                    {
                        "settings": spark.conf.getAll,
                        "views": sorted(found.name for found in spark.catalog.listTables() if found.isTemporary),
                        "databases": [found.name for found in spark.catalog.listDatabases()],
                        "half": spark.sql("select 1 / 2 as half").first(),
                        "streams": spark.streams.active,
                    }
                )
            except Exception as error:  # noqa: BLE001 (reported by the assertion)
                seen.append({"failed": str(error)})

    spark.range(1).createOrReplaceTempView("a_view")
    thread = threading.Thread(target=observe)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()
        spark.catalog.dropTempView("a_view")


def test_repeated_events_in_another_file_change_no_row(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.ingest import ingest

    before = gold(lake)
    runs = sorted(str(r) for r in table(lake, "silver/runs"))
    land(lake, [*SECOND, *FIRST[: -len(BAD)]])
    with _user_at_work(spark) as seen:
        assert ingest(str(lake), spark=spark).batches == 1
    # the user's session did not change at any time
    assert len(seen) > 3
    assert all(each == seen[0] for each in seen), seen
    assert seen[0]["views"] == ["a_view"]
    assert gold(lake) == before
    assert sorted(str(r) for r in table(lake, "silver/runs")) == runs


def test_frames_of_rdds_belong_to_the_session_of_the_user(ingested_twice: Ingested, spark: SparkSession) -> None:
    frame = spark.sparkContext.parallelize([(1,)]).toDF(["a"])
    assert frame.sparkSession is spark
    assert spark.conf.get("spark.sql.codegen.factoryMode", "FALLBACK") == "FALLBACK"


def test_ingest_without_new_files_has_no_batch(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.ingest import ingest

    assert ingest(str(lake), spark=spark).batches == 0


def test_a_lost_checkpoint_is_rebuilt_from_bronze_with_the_same_ids_and_no_row_twice(
    spark: SparkSession, lake: Path
) -> None:
    from colline.pipeline.ingest import ingest

    before, ids = gold(lake), {(c["dataset_id"], c["field"]): c["id"] for c in table(lake, "gold/columns")}
    counts = {name: len(table(lake, name)) for name in ROWS}
    shutil.rmtree(lake / "_colline" / "checkpoints")
    ingest(str(lake), spark=spark)
    assert gold(lake) == before
    assert {(c["dataset_id"], c["field"]): c["id"] for c in table(lake, "gold/columns")} == ids
    assert {name: len(table(lake, name)) for name in ROWS} == counts


def test_a_moved_lake_without_its_checkpoint_has_no_line_twice(spark: SparkSession, lake: Path, tmp_path: Path) -> None:
    from colline.pipeline.ingest import ingest

    moved = tmp_path / "moved"
    shutil.copytree(lake, moved)
    shutil.rmtree(moved / "_colline" / "checkpoints")
    land(moved, [*write("after", "after", 3, output("after"))])
    assert ingest(str(moved), spark=spark).events == 2
    assert len(table(moved, "bronze/events")) == len(table(lake, "bronze/events")) + 2
    assert current(moved, "after") == {"orders.amount -> after.total DIRECT/AGGREGATION"}
