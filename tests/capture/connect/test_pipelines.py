"""Spark Declarative Pipelines on a local server: every flow is a run with its lineage."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.spark

SPECIFICATION = """
name: shop
storage: {folder}/storage
libraries:
  - glob:
      include: flows/**
"""
SQL = """
create materialized view large as select id, upper(region) as area from orders where amount > 1;
"""
PYTHON = """
from pyspark import pipelines as dp
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.active()

@dp.materialized_view
def orders():
    return spark.range(5).select("id", F.lit("n").alias("region"), (F.col("id") * 2).alias("amount"))

@dp.materialized_view
def totals():
    return spark.table("large").groupBy("area").agg(F.sum("id").alias("total"))
"""


@pytest.mark.skipif(find_spec("pyspark.pipelines") is None, reason="this Spark has no declarative pipelines")
def test_each_flow_is_a_run_with_its_lineage(tmp_path: Path) -> None:
    (tmp_path / "flows").mkdir()
    (tmp_path / "spark-pipeline.yml").write_text(SPECIFICATION.format(folder=tmp_path.as_uri()))
    (tmp_path / "flows" / "large.sql").write_text(SQL)
    (tmp_path / "flows" / "others.py").write_text(PYTHON)
    environ = {
        **os.environ,
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "PYSPARK_PYTHON": sys.executable,
        "COLLINE_ATTACH": "1",
        "COLLINE_LAKE": str(tmp_path / "lake"),
    }
    done = subprocess.run(
        ["spark-pipelines", "run"], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False, timeout=400
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert flows(tmp_path / "lake") == {
        "orders": {"id": [], "region": [], "amount": []},
        "large": {"id": ["orders.id"], "area": ["orders.region"]},
        "totals": {"area": ["large.area"], "total": ["large.id"]},
    }


def flows(lake: Path) -> dict[str, dict[str, list[str]]]:
    """The lineage of each completed run that writes: target → column → source columns."""
    lines = [line for path in lake.rglob("*.ndjson") for line in path.read_text("utf-8").splitlines()]
    events: list[dict[str, Any]] = [json.loads(line) for line in lines]
    completed = [event for event in events if event["eventType"] == "COMPLETE" and event["outputs"]]
    assert len({event["run"]["runId"] for event in completed}) == len(completed)
    found = {}
    for event in completed:
        [output] = event["outputs"]
        fields = output["facets"]["columnLineage"]["fields"]
        found[output["name"].rsplit("/", 1)[-1]] = {
            name: [f"{each['name'].rsplit('/', 1)[-1]}.{each['field']}" for each in entry["inputFields"]]
            for name, entry in fields.items()
        }
    return found
