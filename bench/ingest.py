"""Rates of the pipeline beside the same Spark reading the same files, in one run. Prints ratios, judges nothing.

    python bench/ingest.py [--events 48000] [--jobs 100] [--past 1000 100000] [--batch 1000] [--only ab] [--folder F]

Events have 100 columns and 160 edges (about 50 KB). (a) full ingest against read + explode + count, of events written
in each of the ways that producers write them, and (a tenth as many) of events of which no two are alike; (c) rebuild
against ingest; then a small batch, and nothing new; (b) the same batch into a lake with much history against one with
little.
What (b) has of history beyond its first thousand events is put into the tables directly. Seconds of the processor stand
beside those of the clock, since a computer has other work. A JVM compiles what it runs: rates are those of one that has
done a few ingests, and the first of them is told by itself. The default is one batch of a thousand files,
scaled to two processors and a quarter of an hour; `--events 100000 --past 10000 1000000` is the whole thing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

COLUMNS, EDGES = 100, 160
EVENTS_PER_FILE = 50
START = time.time() - 40 * 86_400


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


def _as_jar(event: dict[str, Any]) -> str:
    return json.dumps(event, separators=(",", ":"))


def _as_spec(event: dict[str, Any]) -> str:
    after = {"producer": event["producer"], "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json"}
    return json.dumps({**{key: value for key, value in event.items() if key != "producer"}, **after})


def _as_python(event: dict[str, Any]) -> str:
    return json.dumps(event, sort_keys=True)


# how a producer writes an event: the datasets last, as the Spark jar and colline do; as the spec's examples are; all
# keys in order, as openlineage-python does
WAYS: dict[str, Callable[[dict[str, Any]], str]] = {
    "datasets last": _as_jar,
    "as the spec shows": _as_spec,
    "keys sorted": _as_python,
}


def land(folder: Path, count: int, jobs: int, start: float, way: str = "datasets last") -> int:
    """Files of 50 events; how many bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    total = 0
    for first in range(0, count, EVENTS_PER_FILE):
        numbers = range(first, min(count, first + EVENTS_PER_FILE))
        lines = [WAYS[way](event(i % jobs, i, start + i / jobs)) for i in numbers]
        text = "\n".join(lines) + "\n"
        total += len(text)
        (folder / f"{first:09d}-{uuid.uuid4()}-{len(lines)}events.ndjson").write_text(text)
    return total


class Clock:
    """Seconds of the clock, and of the processor, that an action of a Spark session takes."""

    def __init__(self, spark: Any) -> None:
        self.stat = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/stat")

    def __call__(self, action: Any) -> tuple[float, float]:
        began, used = time.monotonic(), self._used()
        action()
        return time.monotonic() - began, self._used() - used

    def _used(self) -> float:
        """Processor seconds of the JVM so far; 0 where the system does not tell."""
        if not self.stat.exists():
            return 0.0
        fields = self.stat.read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def told(name: str, seconds: tuple[float, float], over: tuple[float, float], more: str = "") -> None:
    """Print a ratio by the clock, and by the processor."""
    by_processor = f"{over[1] / seconds[1]:.2f}" if seconds[1] and over[1] else "-"
    spent = f"{seconds[0]:.1f} s against {over[0]:.1f} s"
    print(
        f"{name}: {over[0] / seconds[0]:.2f} by the clock, {by_processor} by the processor ({spent}){more}", flush=True
    )


def baseline(spark: Any, folder: Path) -> None:
    """The same files with the explicit schema, edges exploded and counted."""
    from pyspark.sql import functions as F

    from colline.events.spark_schema import FIELDS, INPUTS, SCHEMA_FIELDS

    facets = f"struct<schema:struct<fields:{SCHEMA_FIELDS}>,columnLineage:struct<fields:{FIELDS},dataset:{INPUTS}>>"
    rows = spark.read.schema(f"outputs array<struct<namespace:string,name:string,facets:{facets}>>")
    fields = rows.json(str(folder)).select(F.explode("outputs").alias("o"))
    fields = fields.select(F.explode("o.facets.columnLineage.fields").alias("k", "v"))
    edges = fields.select(F.explode("v.inputFields")).count()
    print("edges counted:", edges, flush=True)


def commits(lake: Path) -> int:
    """How many commits the lake's tables have had."""
    return sum(1 for _ in lake.glob("*/*/_delta_log/*.json"))


def grown(spark: Any, lake: Path, times: int) -> None:
    """Give a lake as many times its history: runs of earlier days, what they said, and edges retired since."""
    from colline.lake.tables import EDGES as EDGE_TABLE
    from colline.lake.tables import OBSERVATIONS, RUNS
    from colline.pipeline.store import Store

    store = Store(spark, str(lake))
    older = spark.range(1, times).withColumnRenamed("id", "k")
    run = "concat(substr(run_id, 1, 24), lpad(hex(k), 12, '0')) as run_id"
    day = "date_format(date_sub(to_date(part), cast(1 + k % 30 as int)), 'yyyy-MM-dd') as part"
    runs = store.read(RUNS).crossJoin(older)
    store.append(RUNS, runs.selectExpr(*_but(runs, "run_id", "part", "k"), run, day))
    said = store.read(OBSERVATIONS).crossJoin(older)
    store.append(OBSERVATIONS, said.selectExpr(*_but(said, "content", "k"), "concat(content, '-', k) as content"))
    edges = store.read(EDGE_TABLE).crossJoin(older.where("k <= 10"))
    retired = "first_seen as retired_at"
    store.append(EDGE_TABLE, edges.selectExpr(*_but(edges, "retired_at", "k"), retired))


def _but(rows: Any, *names: str) -> list[str]:
    return [name for name in rows.columns if name not in names]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=48_000)
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--past", type=int, nargs=2, default=[1_000, 100_000])
    parser.add_argument("--batch", type=int, default=1_000)
    parser.add_argument("--only", default="ab")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "colline-bench-ingest")
    given = parser.parse_args()
    shutil.rmtree(given.folder, ignore_errors=True)
    from colline.environment.spark_session import session_for

    spark = session_for("bench")
    warmed(spark, given.folder)
    if "a" in given.only:
        full(spark, given)
        others(spark, given)
    if "b" in given.only:
        past(spark, given)
    shutil.rmtree(given.folder, ignore_errors=True)


def warmed(spark: Any, folder: Path, times: int = 6, count: int = 500) -> None:
    """Ingest until classes are loaded and code is compiled; tells the first one, and the last."""
    clock = Clock(spark)
    for number in range(times):
        lake = folder / f"warm-{number}"
        land(lake / "landing", count, 50, START)
        base = clock(lambda lake=lake: baseline(spark, lake / "landing"))
        took = clock(lambda lake=lake: ingested(spark, lake))
        if number in {0, times - 1}:
            told(f"ingest no. {number + 1} of this JVM, {count} events", took, base)


def ingested(spark: Any, lake: Path) -> None:
    from colline.pipeline.ingest import ingest

    ingest(str(lake), spark=spark)


def full(spark: Any, given: argparse.Namespace) -> None:
    """(a), (c), a small batch, nothing new."""
    from colline.pipeline.idle import NOTE
    from colline.pipeline.rebuild import rebuild

    clock, lake = Clock(spark), given.folder / "full"
    size = land(lake / "landing", given.events, given.jobs, START)
    print(f"{given.events} events, {size / given.events / 1024:.0f} KB each; load {os.getloadavg()[0]:.1f}", flush=True)
    shutil.copytree(lake / "landing", given.folder / "twin" / "landing")
    # each twice: the second time its code is compiled
    for time_of, where in (("first", lake), ("second", given.folder / "twin")):
        base = clock(lambda: baseline(spark, lake / "landing"))
        took = clock(lambda folder=where: ingested(spark, folder))
        more = f", {given.events / took[0]:.0f} events/s, {time_of} time"
        told("(a) rate of ingest / of read + explode", took, base, more)
    shutil.rmtree(given.folder / "twin")
    told("(c) rate of rebuild / of ingest", clock(lambda: rebuild(str(lake), spark=spark)), took)
    land(lake / "landing", 20, 20, START + 86_400)
    before = commits(lake)
    small = clock(lambda: ingested(spark, lake))
    print(f"    20 more events: {small[0]:.1f} s, {commits(lake) - before} commits", flush=True)
    nothing = clock(lambda: ingested(spark, lake))
    (lake / NOTE).unlink()  # which says so without Spark
    asked = clock(lambda: ingested(spark, lake))
    print(f"    nothing new: {nothing[0]:.1f} s, by Spark {asked[0]:.1f} s; load {os.getloadavg()[0]:.1f}", flush=True)


def others(spark: Any, given: argparse.Namespace) -> None:
    """(a) of events that are written otherwise, and of events of which no two are alike."""
    clock, tenth = Clock(spark), given.events // 10
    kinds = [(way, given.events, given.jobs) for way in WAYS][1:]
    for number, (way, events, jobs) in enumerate([*kinds, ("datasets last", tenth, tenth)]):
        lake = given.folder / f"other-{number}"
        land(lake / "landing", events, jobs, START, way)
        base = clock(lambda where=lake: baseline(spark, where / "landing"))
        took = clock(lambda where=lake: ingested(spark, where))
        told(f"(a) {events} events of {jobs} jobs, {way}", took, base)
        shutil.rmtree(lake)


def past(spark: Any, given: argparse.Namespace) -> None:
    """(b)."""
    clock, seconds = Clock(spark), []
    for events in given.past:
        lake = given.folder / f"past-{events}"
        land(lake / "landing", min(given.past), given.jobs, START)
        ingested(spark, lake)
        if events > min(given.past):
            grown(spark, lake, events // min(given.past))
        land(lake / "landing", given.batch, given.jobs, START + 30 * 86_400)
        seconds.append(clock(lambda where=lake: ingested(spark, where)))
    few, many = seconds
    spent = f"{many[0] / few[0]:.2f} times the seconds, {many[1] / max(few[1], 0.01):.2f} times the processor's"
    print(f"(b) {given.batch} events after {given.past[1]} / after {given.past[0]}: {spent}", flush=True)


if __name__ == "__main__":
    main()
