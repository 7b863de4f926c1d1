"""A client that cannot analyze plans: its events carry them, and the ingest puts the lineage into the lake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import colline
from colline.capture.connect.client import remote_capture
from colline.capture.watch import Watch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.delta]

REASON = "this Python has no pyspark with Spark's jars"


def landed_events(lake: Path) -> list[dict[str, Any]]:
    texts = (path.read_text(encoding="utf-8") for path in sorted(lake.rglob("*.ndjson")))
    return [json.loads(line) for text in texts for line in text.splitlines()]


def capture_jobs(remote: SparkSession, lake: Path) -> None:
    watch = colline.attach(remote, lake=str(lake), namespace="tests")
    assert isinstance(watch, Watch)
    remote.table("orders").where("amount > 1").createOrReplaceTempView("large")
    with colline.job("nightly"):
        remote.sql("select lower(region) as area, id from large").write.mode("overwrite").saveAsTable("areas")
    with colline.job("script"):
        remote.sql("begin declare n int default 3; insert into orders select n, email, 0.5 from customers; end")
    watch.detach(60)


def source_columns(lake: Path, column: str) -> list[str]:
    found = colline.open(str(lake)).upstream(column).to_dict()
    return sorted(f"{each['name'].rsplit('/', 1)[-1]}.{each['field']}" for each in found["columns"] if each["distance"])


def test_the_lake_has_the_lineage_of_a_client_without_java(
    spark: SparkSession, remote: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from colline.pipeline.upkeep.rebuild import rebuild

    monkeypatch.setattr(remote_capture, "why_unavailable", lambda: REASON)
    lake = tmp_path / "lake"
    lake.mkdir()
    capture_jobs(remote, lake)
    sent = landed_events(lake)
    plans = [event["job"]["name"] for event in sent if "colline_plan" in event["run"].get("facets", {})]
    assert plans == ["nightly", "script"]
    assert not [event for event in sent for each in event.get("outputs", ()) if "columnLineage" in each["facets"]]

    summary = colline.ingest(str(lake), spark=spark)
    assert (summary.events, summary.quarantined) == (len(sent) + 2, 0)
    assert source_columns(lake, "areas.area") == ["orders.region"]
    coverage = colline.open(str(lake)).coverage().to_dict()["rows"]
    steps = [(row["job"]["name"], row["detail"]) for row in coverage if row["kind"].replace(" ", "_") == "opaque_step"]
    assert [job for job, _ in steps] == ["script"]
    assert "plan not resolved: the statement CompoundBody is executed while it is analyzed" in steps[0][1]

    assert colline.ingest(str(lake), spark=spark).batches == 0
    rebuild(str(lake), spark=spark)
    assert source_columns(lake, "areas.area") == ["orders.region"]
    assert len(landed_events(lake)) == len(sent) + 2
