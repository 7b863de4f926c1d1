"""Speed of the pipeline as ratios within one run: `python bench/ingest.py [--only small,large] [--folder F]`.

Prints one row per measurement with its bound: small batches in one-row Delta appends of the same session, large ones
in reads of the same files by Spark (explicit schema, edges exploded and counted).

| part | measures |
|---|---|
| small | 20 events of known and new jobs, nothing new, `colline maintain`, in a lake of 100 jobs |
| large | the same 20 events and a late one in a lake of 20,000 jobs and 1,000,000 runs; its snapshot |
| distinct | 2,100 events that all differ |
| repeated | 48,000 events of 100 jobs, in the three orders of keys that producers write; a rebuild |
| cold | `colline ingest` as a command: 20 events, and nothing new |

The JVM is warmed up first, because it compiles what runs often.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY_SECONDS = 86_400
START = time.time() - 40 * DAY_SECONDS
EVENTS_PER_FILE = 50
SMALL_JOBS, COPIES, RUNS_PER_JOB = 100, 200, 50
ONE_ROW_APPENDS = 15
PARTS = ("small", "large", "distinct", "repeated", "cold")
NAMESPACE = "s3://company-data-lake-production"


@dataclass(frozen=True)
class Shape:
    """The size of an event: its columns, and how many inputs each has."""

    columns: int
    inputs: int  # of each column
    extra_inputs: int = 0  # columns with one more input

    @property
    def edges(self) -> int:
        """Edges of an event."""
        return self.columns * self.inputs + self.extra_inputs


# 50 KB per event; and the shape with which 20,000 jobs have 1,000,000 columns and 5,000,000 edges
WIDE = Shape(columns=100, inputs=1, extra_inputs=60)
DENSE = Shape(columns=25, inputs=10)


def event(job: int, run: int, at: float, shape: Shape = WIDE) -> dict[str, Any]:
    """A COMPLETE event of a job that reads one table and writes another."""
    source = f"warehouse/schema_{job % 20}/source_table_number_{job:05d}"

    def inputs(column: int) -> list[dict[str, Any]]:
        description = f"upper(source_column_{column:03d})"
        effect = {"type": "DIRECT", "subtype": "TRANSFORMATION", "description": description, "masking": False}
        count = shape.inputs + (column < shape.extra_inputs)
        fields = (f"source_column_{(column + k) % shape.columns:03d}" for k in range(count))
        return [{"namespace": NAMESPACE, "name": source, "field": f, "transformations": [effect]} for f in fields]

    def schema(kind: str) -> dict[str, Any]:
        return {"fields": [{"name": f"{kind}_column_{c:03d}", "type": "string"} for c in range(shape.columns)]}

    fields = {f"target_column_{c:03d}": {"inputFields": inputs(c)} for c in range(shape.columns)}
    facets = {"schema": schema("target"), "columnLineage": {"fields": fields, "dataset": []}}
    millis = int(at * 1000) + run
    run_id = uuid.UUID(int=(millis << 80) | (7 << 76) | (2 << 62) | (job << 32) | run)
    return {
        "eventType": "COMPLETE",
        "eventTime": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(millis / 1000)) + f".{millis % 1000:03d}Z",
        "producer": "https://example.org/bench",
        "run": {"runId": str(run_id), "facets": {}},
        "job": {"namespace": "bench", "name": f"job_{job:05d}", "facets": {}},
        "inputs": [{"namespace": NAMESPACE, "name": source, "facets": {"schema": schema("source")}}],
        "outputs": [{"namespace": NAMESPACE, "name": f"warehouse/target/{job:05d}", "facets": facets}],
    }


def datasets_last(event: dict[str, Any]) -> str:
    """As the Spark jar and colline write events."""
    return json.dumps(event, separators=(",", ":"))


def producer_last(event: dict[str, Any]) -> str:
    """As the examples of the specification."""
    after = {"producer": event["producer"], "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json"}
    return json.dumps({**{key: value for key, value in event.items() if key != "producer"}, **after})


def keys_sorted(event: dict[str, Any]) -> str:
    """As openlineage-python writes events."""
    return json.dumps(event, sort_keys=True)


def land(folder: Path, events: list[dict[str, Any]], write: Callable[[dict[str, Any]], str] = datasets_last) -> None:
    """Write events to the landing folder, 50 in a file."""
    folder.mkdir(parents=True, exist_ok=True)
    for first in range(0, len(events), EVENTS_PER_FILE):
        lines = [write(each) for each in events[first : first + EVENTS_PER_FILE]]
        (folder / f"{first:09d}-{uuid.uuid4()}-{len(lines)}events.ndjson").write_text("\n".join(lines) + "\n")


def runs_of(jobs: int, count: int, shape: Shape = WIDE) -> list[dict[str, Any]]:
    """Events whose jobs take turns."""
    return [event(number % jobs, number, START + number / jobs, shape) for number in range(count)]


@dataclass(frozen=True)
class Bench:
    """The session that is measured, and the folder of the lakes."""

    spark: SparkSession
    folder: Path

    def warm_up(self) -> None:
        """Ingest a few times: until then the JVM loads classes and compiles code."""
        for number in range(6):
            lake = self.folder / f"warm-up-{number}"
            land(lake / "landing", runs_of(50, 200 + number))
            self.count_edges(lake)
            self.ingest(lake)
            shutil.rmtree(lake)

    def append_seconds(self) -> float:
        """How long one row takes to be appended to a Delta table of this session."""
        rows, place = self.spark.range(1), str(self.folder / "one-row")
        appends = (
            measure(lambda: rows.write.format("delta").mode("append").save(place)) for _ in range(ONE_ROW_APPENDS)
        )
        return statistics.median(appends)

    def ingest(self, lake: Path) -> None:
        """Ingest what has landed."""
        from colline.pipeline.ingest import ingest

        ingest(str(lake), spark=self.spark)

    def count_edges(self, lake: Path) -> None:
        """Read the landed files with the explicit schema, and count their edges."""
        from pyspark.sql import functions as F

        from colline.events.spark_schema import FIELDS, INPUTS, SCHEMA_FIELDS

        facets = f"struct<schema:struct<fields:{SCHEMA_FIELDS}>,columnLineage:struct<fields:{FIELDS},dataset:{INPUTS}>>"
        rows = self.spark.read.schema(f"outputs array<struct<namespace:string,name:string,facets:{facets}>>")
        outputs = rows.json(str(lake / "landing")).select(F.explode("outputs").alias("o"))
        fields = outputs.select(F.explode("o.facets.columnLineage.fields").alias("name", "field"))
        fields.select(F.explode("field.inputFields")).count()


def measure(action: Callable[[], object]) -> float:
    """The seconds that the action takes."""
    started = time.monotonic()
    action()
    return time.monotonic() - started


def report(what: str, bound: str, measured: float | None, note: str) -> None:
    """Print a row of the table."""
    ratio = "" if measured is None else f"{measured:.2f}"
    print(f"| {what} | {bound} | {ratio} | {note} |", flush=True)


def batch_seconds(bench: Bench, lake: Path, day: int, times: int = 3) -> float:
    """The median time of a batch of 20 events, half of them of new jobs."""
    taken = []
    for number in range(times + 1):
        first_new = 1_000_000 + 1_000 * day + 10 * number
        jobs = [*range(10 * number, 10 * number + 10), *range(first_new, first_new + 10)]
        land(
            lake / "landing", [event(job, n, START + (day + number) * DAY_SECONDS, DENSE) for n, job in enumerate(jobs)]
        )
        taken.append(measure(lambda: bench.ingest(lake)))
    return statistics.median(taken[1:])


def small_lake(bench: Bench) -> Path:
    """A lake of 100 jobs that is kept for the parts that need it."""
    lake = bench.folder / "small"
    if not lake.exists():
        land(lake / "landing", runs_of(SMALL_JOBS, 2 * SMALL_JOBS, DENSE))
        bench.ingest(lake)
    return lake


def measure_small(bench: Bench) -> None:
    """20 events of known and new jobs, nothing new, and upkeep, in a small lake."""
    from colline.lake.layout import LANDED_FILES
    from colline.pipeline.upkeep.maintain import Keep, maintain

    lake = small_lake(bench)
    seconds, unit = batch_seconds(bench, lake, 2), bench.append_seconds()
    note = f"{seconds:.1f} s, an append {unit:.2f} s; load {os.getloadavg()[0]:.0f}"
    report("20 events, small lake, in one-row appends", "≤ 15", seconds / unit, note)
    nothing = measure(lambda: bench.ingest(lake))
    (lake / LANDED_FILES).unlink()
    by_spark = measure(lambda: bench.ingest(lake))
    report(
        "nothing new, warm, in appends", "≤ 3", nothing / unit, f"{nothing:.2f} s; without the note {by_spark:.1f} s"
    )
    kept = [measure(lambda: maintain(str(lake), spark=bench.spark, keep=Keep())) for _ in range(2)]
    report("maintain, small lake, seconds", "< 20", kept[0], f"again, with nothing due: {kept[1]:.1f} s")


def measure_large(bench: Bench) -> None:
    """20 events and a late one in a large lake, compared with the small one."""
    from colline.graph.snapshot.publish import publish

    few = batch_seconds(bench, small_lake(bench), 7)
    lake = bench.folder / "large"
    land(lake / "landing", runs_of(SMALL_JOBS, 2 * SMALL_JOBS, DENSE))
    bench.ingest(lake)
    enlarge(bench.spark, lake)
    print(f"    large lake: {sizes(bench.spark, lake)}", flush=True)
    many = batch_seconds(bench, lake, 2)
    published = publish(lake)
    note = f"{many:.1f} s against {few:.1f} s; its snapshot {published.seconds:.1f} s"
    report("20 events, large / small lake", "≤ 1.5", many / few, note)
    land(lake / "landing", [event(5, 7, START + DAY_SECONDS / 2, DENSE)])
    late = measure(lambda: bench.ingest(lake))
    report("one late event / 20 events, large lake", "≤ 2", late / many, f"{late:.1f} s")
    shutil.rmtree(lake)


def sizes(spark: SparkSession, lake: Path) -> str:
    """The rows of the tables of a lake."""
    from colline.lake.tables import COLUMNS, EDGES, JOBS, RUNS

    read = spark.read.format("delta")
    return ", ".join(f"{read.load(str(lake / t.path)).count():,} {t.path}" for t in (EDGES, COLUMNS, JOBS, RUNS))


def measure_distinct(bench: Bench) -> None:
    """Events that all differ: nothing is parsed once for many."""
    lake = bench.folder / "distinct"
    land(lake / "landing", runs_of(2_100, 2_100))
    read = measure(lambda: bench.count_edges(lake))
    taken = measure(lambda: bench.ingest(lake))
    report("2,100 events that all differ / read-and-count", "≤ 8", taken / read, f"{taken:.1f} s against {read:.1f} s")
    shutil.rmtree(lake)


def measure_repeated(bench: Bench) -> None:
    """Events of jobs whose lineage does not change, and their rebuild."""
    from colline.pipeline.upkeep.rebuild import rebuild

    for write in (datasets_last, producer_last, keys_sorted):
        lake = bench.folder / "repeated"
        land(lake / "landing", runs_of(100, 48_000), write)
        read = measure(lambda lake=lake: bench.count_edges(lake))
        taken = measure(lambda lake=lake: bench.ingest(lake))
        note = f"{taken:.1f} s against {read:.1f} s; {write.__name__}"
        report("48,000 events of 100 jobs, rate / rate of read-and-count", "≥ 0.4", read / taken, note)
        if write is datasets_last:
            again = measure(lambda lake=lake: rebuild(str(lake), spark=bench.spark))
            report("rebuild, rate / ingest rate", "≥ 1", taken / again, f"{again:.1f} s")
        shutil.rmtree(lake)


def measure_cold(bench: Bench) -> None:
    """`colline ingest` as a command, compared with a program that starts Spark and writes one row."""
    lake = bench.folder / "cold"
    land(lake / "landing", runs_of(SMALL_JOBS, SMALL_JOBS, DENSE))
    command = [sys.executable, "-m", "colline", "ingest", "--lake", str(lake)]
    run = lambda given: measure(lambda: subprocess.run(given, check=True, capture_output=True))  # noqa: E731
    run(command)
    program = (
        "from colline.environment.spark_session import session_for;"
        f" session_for('x').range(1).write.format('delta').mode('append').save({str(bench.folder / 'empty')!r})"
    )
    starts = [run([sys.executable, "-c", program]) for _ in range(3)]
    batches = []
    for number in range(3):
        land(lake / "landing", [event(job, job, START + number * DAY_SECONDS, DENSE) for job in range(90, 110)])
        batches.append(run(command))
    start, batch = statistics.median(starts), statistics.median(batches)
    report(
        "ingest of 20 events by command / start with one write", "≤ 2", batch / start, f"{batch:.1f} s, {start:.1f} s"
    )
    report("nothing new by command, seconds", "< 1", min(run(command) for _ in range(3)), "without starting Spark")
    shutil.rmtree(lake)


def enlarge(spark: SparkSession, lake: Path) -> None:
    """Multiply the jobs of a lake by 200 and their runs by 25 more, by copies of rows with other ids."""
    from colline.lake import tables as t
    from colline.pipeline.delta_tables import LakeTables

    tables, copies = LakeTables(spark, str(lake)), spark.range(COPIES).withColumnRenamed("id", "k")
    ids = ("job_id", "dataset_id", "source_dataset_id", "source_id", "target_id", "column_id")
    others: dict[t.Table, dict[str, str]] = {
        t.PAYLOADS: {"payload": other_text("payload")},
        t.MENTIONS: {"digest": other_text("digest"), "fingerprint": other_text("fingerprint")},
        t.EDGES: {"fingerprint": other_text("fingerprint")},
        t.DATASETS: {"name": other_text("name")},
        t.COLUMNS: {},
        t.OBSERVATIONS: {"digest": other_text("digest")},
        t.LINEAGE_VERSIONS: {
            "fingerprints": f"transform(fingerprints, f -> {other_text('f')})",
            "reported": f"transform(reported, r -> struct({other_text('r.fingerprint')} as fingerprint, r.runs,"
            " r.first_seen, r.first_run, r.last_seen, r.last_run))",
        },
        t.JOBS: {"name": other_text("name")},
        t.RUNS: {
            "run_id": "concat(substr(run_id, 1, 22), lpad(hex(r), 2, '0'), lpad(hex(k), 12, '0'))",
            "job_name": other_text("job_name"),
            "mentions": "transform(mentions, m -> struct(m.role, m.namespace, m.name, xxhash64(m.dataset_id, k) as"
            f" dataset_id, {other_text('m.digest')} as digest, {other_text('m.fingerprint')} as fingerprint,"
            " m.lifecycle, m.overwrite, m.links))",
            **{
                name: f"{name} - make_dt_interval(cast(r as int))"
                for name in t.fields_of(t.RUNS)
                if name.endswith(("_at", "_event"))
            },
            "part": "date_format(date_sub(to_date(part), cast(r as int)), 'yyyy-MM-dd')",
        },
    }
    for table, changed in others.items():
        is_runs = table is t.RUNS
        rows = tables.read(table).crossJoin(copies)
        rows = rows.crossJoin(spark.range(RUNS_PER_JOB // 2).withColumnRenamed("id", "r")) if is_runs else rows
        names = t.fields_of(table)
        changed |= {name: f"if(k = 0, {name}, xxhash64({name}, k))" for name in ids if name in names}
        added = rows.where("k > 0 or r > 0" if is_runs else "k > 0")
        tables.append(table, added.selectExpr(*(f"{changed.get(name, name)} as {name}" for name in names)))
    tables.wait()
    tables.close()


def other_text(name: str) -> str:
    """The text with the number of its copy; SQL."""
    return f"if(k = 0, {name}, concat({name}, '-', k))"


def main() -> None:
    """Measure the given parts."""
    parser = argparse.ArgumentParser(description="Measure the speed of the pipeline.")
    parser.add_argument("--only", default=",".join(PARTS), help=f"parts to measure: {','.join(PARTS)}")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "colline-bench-ingest")
    given = parser.parse_args()
    from colline.environment.spark_session import session_for

    measures = {part: globals()[f"measure_{part}"] for part in PARTS}
    shutil.rmtree(given.folder, ignore_errors=True)
    bench = Bench(session_for("bench"), given.folder)
    bench.warm_up()
    print("| what | bound | measured | seconds |\n|---|---|--:|---|", flush=True)
    for part in given.only.split(","):
        measures[part](bench)
    shutil.rmtree(given.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
