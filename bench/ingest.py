"""Rates of the pipeline beside the same Spark reading the same files, in one run. Prints ratios, judges nothing.

    python bench/ingest.py [--events 4000] [--jobs 100] [--past 400 4000] [--batch 400] [--folder FOLDER]

Events have 100 columns and 160 edges (about 44 KB). (a) full ingest against read + explode + count; (b) the same batch
into a lake with much history against one with little; (c) rebuild against ingest; then a small batch, and nothing new.
The default is scaled to two processors and a few minutes; `--events 100000 --past 10000 1000000 --batch 1000` is the
whole thing.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

COLUMNS, EDGES = 100, 160
EVENTS_PER_FILE = 50


def event(job: int, run: int, at: float) -> dict[str, Any]:
    """A COMPLETE event of 100 output columns with 160 edges."""
    source = f"warehouse/schema_{job % 20}/source_table_number_{job:05d}"

    def inputs(column: int) -> list[dict[str, Any]]:
        wanted = 2 if column < EDGES - COLUMNS else 1
        return [
            {
                "namespace": "s3://company-data-lake-production",
                "name": source,
                "field": f"source_column_{(column + k) % COLUMNS:03d}",
                "transformations": [
                    {
                        "type": "DIRECT",
                        "subtype": "TRANSFORMATION",
                        "description": f"upper(source_column_{column:03d})",
                        "masking": False,
                    }
                ],
            }
            for k in range(wanted)
        ]

    names = [f"target_column_{c:03d}" for c in range(COLUMNS)]
    schema = {"fields": [{"name": n, "type": "string"} for n in names]}
    lineage = {"fields": {n: {"inputFields": inputs(c)} for c, n in enumerate(names)}, "dataset": []}
    millis = int(at * 1000) + run
    run_id = uuid.UUID(int=(millis << 80) | (7 << 76) | (2 << 62) | (job << 32) | run)
    return {
        "eventType": "COMPLETE",
        "eventTime": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(millis / 1000)) + f".{millis % 1000:03d}Z",
        "producer": "https://example.org/bench",
        "run": {"runId": str(run_id), "facets": {}},
        "job": {"namespace": "bench", "name": f"job_{job:05d}", "facets": {}},
        "inputs": [{"namespace": "s3://company-data-lake-production", "name": source, "facets": {"schema": schema}}],
        "outputs": [
            {
                "namespace": "s3://company-data-lake-production",
                "name": f"warehouse/target/{job:05d}",
                "facets": {"schema": schema, "columnLineage": lineage},
            }
        ],
    }


def land(folder: Path, count: int, jobs: int, start: float) -> int:
    """Files of 50 events; how many bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    total = 0
    for first in range(0, count, EVENTS_PER_FILE):
        lines = [
            json.dumps(event(i % jobs, i, start + i / jobs)) for i in range(first, min(count, first + EVENTS_PER_FILE))
        ]
        text = "\n".join(lines) + "\n"
        total += len(text)
        (folder / f"{first:09d}-{uuid.uuid4()}-{len(lines)}events.ndjson").write_text(text)
    return total


def timed(action: Any) -> float:
    began = time.monotonic()
    action()
    return time.monotonic() - began


def baseline(spark: Any, folder: Path) -> None:
    """The same files with the explicit schema, edges exploded and counted."""
    from pyspark.sql import functions as F

    from colline.pipeline.wire import EVENT

    rows = spark.read.text(str(folder)).select(F.from_json("value", EVENT).alias("e"))
    outputs = rows.select(F.explode("e.outputs").alias("o")).select(
        F.explode("o.facets.columnLineage.fields").alias("k", "v")
    )
    print("edges counted:", outputs.select(F.explode("v.inputFields")).count())


def commits(lake: Path) -> int:
    """How many commits the lake's tables have had."""
    return sum(1 for _ in lake.glob("*/*/_delta_log/*.json"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=4_000)
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--past", type=int, nargs=2, default=[400, 4_000])
    parser.add_argument("--batch", type=int, default=400)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "colline-bench-ingest")
    given = parser.parse_args()
    shutil.rmtree(given.folder, ignore_errors=True)
    from colline.pipeline.ingest import ingest
    from colline.pipeline.rebuild import rebuild
    from colline.pipeline.session import session_for

    spark = session_for("bench")
    now = time.time() - 40 * 86_400
    warm = given.folder / "warm"
    land(warm / "landing", 50, 5, now)
    ingest(str(warm), spark=spark)  # classes loaded, code compiled

    lake = given.folder / "full"
    size = land(lake / "landing", given.events, given.jobs, now)
    print(f"{given.events} events, {size / given.events / 1024:.0f} KB each")
    base = timed(lambda: baseline(spark, lake / "landing"))
    full = timed(lambda: ingest(str(lake), spark=spark))
    rates = f"{given.events / full:.0f}/s, {given.events / base:.0f}/s"
    print(f"(a) ingest / read+explode: {base / full:.2f} of its rate ({rates})")
    again = timed(lambda: rebuild(str(lake), spark=spark))
    print(f"(c) rebuild / ingest rate: {full / again:.2f}")
    land(lake / "landing", 20, 20, now + 86_400)
    before = commits(lake)
    small = timed(lambda: ingest(str(lake), spark=spark))
    print(f"    20 more events: {small:.1f} s, {commits(lake) - before} commits")
    print(f"    nothing new: {timed(lambda: ingest(str(lake), spark=spark)):.1f} s")

    seconds = []
    for past in given.past:
        lake = given.folder / f"past-{past}"
        land(lake / "landing", past, given.jobs, now)
        ingest(str(lake), spark=spark)
        land(lake / "landing", given.batch, given.jobs, now + 30 * 86_400)
        seconds.append(timed(lambda where=lake: ingest(str(where), spark=spark)))
    ratio = seconds[1] / seconds[0]
    shutil.rmtree(given.folder, ignore_errors=True)
    print(f"(b) {given.batch} events after {given.past[1]} / after {given.past[0]}: {ratio:.2f} times the seconds")


if __name__ == "__main__":
    main()
