"""The events of every producer, in every form, become the same kind of edges."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from colline.graph import open_lake
from tests.lakes import land
from tests.pipeline import producers, spark_jar
from tests.pipeline.lake_view import current, edges, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]


@dataclass(frozen=True)
class Place:
    """A lake on a Hadoop file system of its own: its paths mean nothing to the machine."""

    address: str
    behind: Path
    landings: tuple[Path, ...]


@pytest.fixture(scope="module")
def place(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Events of every producer in two landing folders, and a mount table for the lake."""
    home, mounts = tmp_path_factory.mktemp("producers"), f"m{uuid.uuid4().hex}"
    (home / "behind").mkdir()
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    conf.set(f"fs.viewfs.mounttable.{mounts}.link./data", (home / "behind").as_uri())
    land(home / "came in", [*producers.events(), "{nonsense"])
    land(home / "other", spark_jar.EVENTS)
    return Place(f"viewfs://{mounts}/data/the lake", home / "behind" / "the lake", (home / "came in", home / "other"))


@pytest.fixture(scope="module")
def lake(spark: SparkSession, place: Place) -> Path:
    """The lake, fed from an address and from a path."""
    from colline.pipeline.ingest import ingest

    address, path = (folder / "landing" for folder in place.landings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLLINE_CACHE", str(place.behind.parent / "cache"))
        done = ingest(place.address, from_=[address.as_uri(), str(path)], spark=spark)
        assert ingest(place.address, from_=[address.as_uri(), str(path)], spark=spark).snapshot is None
    assert (done.batches, done.quarantined) == (2, 1)
    assert done.events == len(producers.events()) + len(spark_jar.EVENTS)
    with open_lake(place.behind) as published:  # in the lake, where every machine finds it
        assert published.overview().snapshot == done.snapshot
    assert len(table(place.behind, "bronze/events")) == done.events + 1
    return place.behind


def test_a_lake_on_another_file_system_has_one_writer_and_knows_its_folders_by_any_spelling(
    spark: SparkSession, place: Place, lake: Path
) -> None:
    from colline.lake.lock import LakeBusyError
    from colline.pipeline.ingest import ingest

    lock, spelled = lake / "_colline" / "ingest.lock", [f"file:{folder}/landing" for folder in place.landings]
    assert not lock.exists()
    lock.write_text("somebody else")
    with pytest.raises(LakeBusyError, match="somebody else"):
        ingest(place.address, from_=spelled, spark=spark)
    lock.unlink()
    assert ingest(place.address, from_=spelled, spark=spark).batches == 0


EDGES = {
    "nightly.load_orders": {"shop.public.orders.amount -> shop.public.daily.total DIRECT/AGGREGATION"},
    "shop.public.stg_orders": {"shop.public.orders.id -> shop.public.stg_orders.id DIRECT/TRANSFORMATION"},
    "shop.public.broken": set(),
    "enrich": set(),
    "20261101_000000_00001_abcde": {"shop.public.orders.amount -> hive.shop.copy.AMOUNT DIRECT/TRANSFORMATION"},
    "people": {
        "raw/people.id -> clean/people.same DIRECT/IDENTITY",
        "raw/people.email -> clean/people.hidden DIRECT/TRANSFORMATION masked",
    },
    "reader": {"clean/people.same -> /out/x.x DIRECT/TRANSFORMATION"},
    "declared": {"/in/t.a -> /out/declared.a DIRECT/IDENTITY", "/in/t.k -> /out/declared.* INDIRECT/FILTER"},
    "/out/static": {"/in/t.a -> /out/static.b DIRECT/IDENTITY", "/in/t.k -> /out/static.* INDIRECT/FILTER"},
}


@pytest.mark.parametrize("job", EDGES)
def test_a_producers_events_become_edges(lake: Path, job: str) -> None:
    assert current(lake, job) == EDGES[job]


def test_two_runs_of_one_ctas_are_one_write_with_the_edges_of_both(lake: Path) -> None:
    found = {e for e in current(lake, "shop_etl") if "revenue." in e}
    assert found == {
        "/data/warehouse/orders.amount -> /data/warehouse/revenue.total DIRECT/AGGREGATION",
        "/data/warehouse/orders.region -> /data/warehouse/revenue.region DIRECT/IDENTITY",
        "/data/warehouse/orders.day -> /data/warehouse/revenue.* INDIRECT/FILTER",
    }
    assert not [e for e in edges(lake) if e["job"] == "shop_etl" and e["retired_at"] is not None]


def test_direct_entries_of_the_dataset_list_are_row_effects(lake: Path) -> None:
    assert {e for e in current(lake, "shop_etl") if "both." in e} == {
        "/data/warehouse/orders.a -> /data/warehouse/both.a DIRECT/IDENTITY",
        "/data/warehouse/orders.a -> /data/warehouse/both.* INDIRECT/FILTER",
        "/data/warehouse/t2.d -> /data/warehouse/both.* INDIRECT/FILTER",
    }


def _runs(lake: Path, state: str) -> list[dict[str, Any]]:
    return [r for r in table(lake, "silver/runs") if r["state"] == state]


def test_complete_after_fail_is_a_failed_run_with_its_error(lake: Path) -> None:
    failed = {r["job_name"]: r["error"] for r in _runs(lake, "FAIL")}
    assert failed == {"shop_etl": "java.lang.RuntimeException: boom", "shop.public.broken": "relation is gone"}
    assert not [e for e in current(lake, "shop_etl") if "broken." in e]
    assert not [c for c in table(lake, "gold/columns") if c["name"] in {"/data/warehouse/broken", "/nowhere"}]


def test_merge_with_empty_inputs_and_unreported_failure_have_their_edges(lake: Path) -> None:
    found = current(lake, "shop_etl")
    assert "/data/warehouse/orders.v -> /data/warehouse/merged.v DIRECT/IDENTITY" in found
    assert "/data/warehouse/orders.y -> /data/warehouse/silent.y DIRECT/IDENTITY" in found


def test_outputs_without_column_lineage_are_gaps(lake: Path) -> None:
    names = {d["id"]: d["name"] for d in table(lake, "silver/datasets")}
    gaps = {names[c["dataset_id"]] for c in table(lake, "gold/coverage") if c["kind"] == "no_column_lineage"}
    # `whole` has a lineage facet that names datasets and no column
    assert gaps == {"visits", "/data/warehouse/text", "/out/whole"}


def test_a_location_has_one_spelling_and_its_catalog_name_is_a_symlink(lake: Path) -> None:
    found = {d["name"]: d for d in table(lake, "silver/datasets") if d["merged_into"] is None}
    assert found["clean/people"]["namespace"] == "s3://data"
    assert [(s["namespace"], s["name"]) for s in found["clean/people"]["symlinks"]] == [
        ("hive://meta:9083", "lake.people")
    ]
    assert "lake.people" not in found
    kinds = {name: found[name]["kind"] for name in ("visits", "shop.public.daily", "clean/people")}
    assert kinds == {"visits": "TOPIC", "shop.public.daily": "JDBC", "clean/people": "TABLE"}
