"""Quarantine, replay, upkeep, the lock and older lakes, on one small lake."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tests.lakes import land
from tests.pipeline.lake_view import current, gold, table
from tests.pipeline.scenarios import out, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]
LIMIT = 8_000


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One good run, and lines that are too far ahead in time and too large for these limits."""
    from colline.pipeline.ingest import ingest
    from colline.pipeline.parse import Limits
    from colline.pipeline.work import Options

    folder = tmp_path_factory.mktemp("lake")
    ahead = write("later", "later", 1, out("later"))
    for event in ahead:
        assert isinstance(event, dict)
        event["eventTime"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 30 * 86_400))
    # letters of two bytes: it is bytes that count
    large = write("large", "large", 1, out("large", documentation={"description": "\u00e9" * 5_000}))[1:]
    text = json.dumps(large[0], ensure_ascii=False)
    assert len(text) < LIMIT < len(text.encode())
    land(folder, [*write("good", "good", 1, out("good")), *ahead, "{nonsense", text])
    ingest(str(folder), spark=spark, options=Options(limits=Limits(days_ahead=1, bytes=LIMIT)))
    return folder


def test_quarantine_is_listed_with_reason_file_and_line(lake: Path) -> None:
    from colline.cli.quarantine import command

    done = CliRunner().invoke(command, ["list", "--lake", str(lake), "--json"])
    rows = json.loads(done.stdout)
    assert [(r["reason"], r["position"]) for r in rows] == [
        ("time_out_of_range", 2),
        ("time_out_of_range", 3),
        ("not_json", 4),
        ("too_large", 5),
    ]
    assert LIMIT < int(rows[3]["detail"]) == len(rows[3]["line"].encode())
    shown = CliRunner().invoke(command, ["show", rows[2]["id"][:10], "--lake", str(lake)])
    assert shown.stdout.splitlines()[1] == "{nonsense"


def test_what_is_an_event_by_now_is_replayed(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.ingest import ingest
    from colline.pipeline.quarantine import entries, replay

    assert replay(str(lake), spark=spark) == 3
    ingest(str(lake), spark=spark)
    for job in ("later", "large"):
        assert current(lake, job) == {f"orders.amount -> {job}.total DIRECT/AGGREGATION"}
    assert [e.reason for e in entries(str(lake))] == ["not_json"]


def test_maintain_compacts_and_keeps_every_answer(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.maintain import Keep, maintain

    before = gold(lake)
    landed = len(list((lake / "landing").rglob("*events.ndjson")))
    done = maintain(str(lake), spark=spark, keep=Keep(landing=0, old_files=0))
    assert gold(lake) == before
    assert done.landing_deleted >= landed > 0
    assert not list((lake / "landing").rglob("*events.ndjson"))


def test_a_lake_of_a_newer_version_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    from colline.errors import LakeError
    from colline.pipeline.ingest import ingest

    (tmp_path / "_colline").mkdir()
    (tmp_path / "_colline" / "lake.json").write_text('{"version": 99}')
    land(tmp_path, ["{}"])
    with pytest.raises(LakeError, match="newer colline"):
        ingest(str(tmp_path), spark=spark)


def test_a_table_without_a_newer_column_gets_it(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.files import Files
    from colline.pipeline.store import Store
    from colline.pipeline.tables import QUARANTINE
    from colline.pipeline.upgrade import upgraded

    store = Store(spark, str(lake))
    rows = store.read(QUARANTINE).drop("replayed_at")
    rows.localCheckpoint().write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(
        store.path(QUARANTINE)
    )
    assert upgraded(store, Files(spark)) is False
    assert "replayed_at" in table(lake, "bronze/quarantine")[0]


def test_an_older_lake_is_rebuilt_with_its_ids(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.files import Files
    from colline.pipeline.ingest import ingest
    from colline.pipeline.store import Store
    from colline.pipeline.tables import EDGES
    from colline.pipeline.upgrade import LAKE_VERSION, upgraded

    before, store, marker = gold(lake), Store(spark, str(lake)), lake / "_colline" / "lake.json"
    whole = store.read(EDGES).drop(*EDGES.parts).localCheckpoint().write.format("delta").mode("overwrite")
    whole.option("overwriteSchema", "true").partitionBy().save(store.path(EDGES))
    Files(spark).write(str(marker), '{"version": 1}')
    assert upgraded(store, Files(spark)) is True
    assert json.loads(marker.read_text()) == {"version": 1}
    ingest(str(lake), spark=spark)
    assert gold(lake) == before
    assert json.loads(marker.read_text()) == {"version": LAKE_VERSION}
