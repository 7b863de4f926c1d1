"""What capture costs, as ratios inside one run: wall time, listener thread, analysis, bytes, and the OpenLineage jar.

`python bench/capture.py [--rounds N] [--queries N] [--no-jar]`
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from given.queries import make_tables, queries

JAR = "io.openlineage:openlineage-spark_2.13:1.53.0"
JAR_CLASS = "io.openlineage.spark.agent.OpenLineageSparkListener"


def session(home: Path, extra: dict[str, str] | None = None) -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("bench")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={home}",
        "spark.driver.memory": "2g",
        **(extra or {}),
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def run_all(spark: Any, texts: list[str], folder: Path) -> list[float]:
    taken = []
    for place, text in enumerate(texts):
        began = time.perf_counter()
        spark.sql(text).write.mode("overwrite").parquet(str(folder / f"q{place}"))
        taken.append(time.perf_counter() - began)
    return taken


def listener(spark: Any, name: str) -> dict[str, float]:
    """Spark's own timer of the time a listener took on its thread."""
    bus = spark._jsc.sc().listenerBus()
    registry = bus.metrics().metricRegistry()
    timers = registry.getTimers()
    key = next((k for k in timers.keySet() if k.endswith(name)), None)
    if key is None:
        raise SystemExit(f"Spark has no timer for a listener called {name}")
    timer = timers.get(key)
    seen = timer.getSnapshot()
    return {
        "events": timer.getCount(),
        "p95_ms": seen.get95thPercentile() / 1e6,
        "total_ms": seen.getMean() * timer.getCount() / 1e6,
    }


def run_colline(texts: list[str], rounds: int, home: Path) -> dict[str, Any]:
    import colline
    from colline.capture.analyze import analyzed_plan

    spark = session(home)
    make_tables(spark)
    run_all(spark, texts, home / "warm")
    without, within = [], []
    events: list[Any] = []
    stats: Any = None
    timer: dict[str, float] = {}
    for _ in range(rounds):
        without.append(run_all(spark, texts, home / "off"))
        watch = colline.attach(spark, transport={"type": "memory"})
        within.append(run_all(spark, texts, home / "on"))
        watch.flush(60)
        timer = listener(spark, ".QueryListener")
        events, stats = list(watch.events), watch.stats
        watch.detach()
    best = [sum(min(times) for times in zip(*rounds_, strict=True)) for rounds_ in (within, without)]
    analysis, lineage = [], []
    for text in texts:
        for kept, work in (
            (analysis, lambda t=text: analyzed_plan(t, spark)),
            (lineage, lambda t=text: colline.lineage(t, spark)),
        ):
            began = time.perf_counter()
            work()
            kept.append(time.perf_counter() - began)
    spark.stop()
    return {
        "queries": len(texts),
        "wall_ratio": best[0] / best[1],
        "listener": timer,
        "analysis_ms": statistics.median(analysis) * 1e3,
        "lineage_extra_ms": statistics.median(b - a for a, b in zip(analysis, lineage, strict=True)) * 1e3,
        "bytes_per_edge": size_per_edge(events),
        "stats": str(stats),
    }


def size_per_edge(events: list[Any]) -> dict[str, float]:
    """Bytes of the ends of runs over the edges in them: as the facet lists them, and source by output column."""
    size = listed = meant = 0
    for event in events:
        facets = [output.get("facets", {}).get("columnLineage") for output in event.get("outputs", [])]
        found = [_edges(facet) for facet in facets if facet]
        if found and event["eventType"] == "COMPLETE":
            size += len(json.dumps(event, separators=(",", ":")))
            listed += sum(each[0] for each in found)
            meant += sum(each[1] for each in found)
    return {"listed": size / max(listed, 1), "meant": size / max(meant, 1)}


def _edges(facet: dict[str, Any]) -> tuple[int, int]:
    direct = sum(len(field["inputFields"]) for field in facet["fields"].values())
    rows = len(facet.get("dataset", []))
    return direct + rows, direct + rows * len(facet["fields"])


def jar(texts: list[str], home: Path) -> dict[str, Any]:
    spark = session(
        home,
        {
            "spark.jars.packages": JAR,
            "spark.extraListeners": JAR_CLASS,
            "spark.openlineage.transport.type": "file",
            "spark.openlineage.transport.location": str(home / "events.ndjson"),
            "spark.openlineage.columnLineage.datasetLineageEnabled": "true",
        },
    )
    make_tables(spark)
    run_all(spark, texts, home / "out")
    spark._jsc.sc().listenerBus().waitUntilEmpty()
    found = {"listener": listener(spark, JAR_CLASS)}
    spark.stop()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--no-jar", action="store_true")
    parser.add_argument("--part", choices=["own", "jar"])
    options = parser.parse_args()
    texts = queries()[: options.queries]
    if options.part:
        with tempfile.TemporaryDirectory() as folder:
            part = (
                run_colline(texts, options.rounds, Path(folder)) if options.part == "own" else jar(texts, Path(folder))
            )
        print("RESULT " + json.dumps(part))
        return
    mine = _part("own", options)
    print(f"{mine['queries']} queries written to parquet")
    print(f"wall time with capture / without: {mine['wall_ratio']:.3f} (promised ≤ 1.03)")
    print(f"listener thread, 95th percentile: {mine['listener']['p95_ms']:.3f} ms (promised ≤ 1)")
    extra, analysis = mine["lineage_extra_ms"], mine["analysis_ms"]
    print(
        f"lineage beyond analysis / analysis, median: {extra / analysis:.2f} ({extra:.1f} ms / {analysis:.1f} ms; < 1)"
    )
    size = mine["bytes_per_edge"]
    print(f"bytes of event per edge from source to output column: {size['meant']:.0f} (promised ≤ 300)")
    print(f"bytes of event per entry of the lineage facet: {size['listed']:.0f}")
    if not options.no_jar:
        theirs = _part("jar", options)
        total, other = mine["listener"]["total_ms"] / options.rounds, theirs["listener"]["total_ms"]
        print(f"listener thread, of the OpenLineage jar: {total / other:.3f} ({total:.0f} ms / {other:.0f} ms; ≤ 0.1)")


def _part(name: str, options: argparse.Namespace) -> dict[str, Any]:
    words = [
        sys.executable,
        __file__,
        "--part",
        name,
        "--rounds",
        str(options.rounds),
        "--queries",
        str(options.queries),
    ]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("RESULT "))
    result: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
    return result


if __name__ == "__main__":
    main()
