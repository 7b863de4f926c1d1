"""Memory over many captured queries: Python objects and JVM heap at each tenth of the way. See `make memory`."""

from __future__ import annotations

import gc
import os
import resource
import sys

import colline


class Nowhere:
    def emit(self, event: object) -> None:
        pass


def main(count: int) -> int:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
    }
    builder = SparkSession.builder.master("local[1]").appName("memory")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    watch = colline.attach(spark, transport=Nowhere())
    runtime = spark._jvm.java.lang.Runtime.getRuntime()
    for _ in range(300):  # what is remembered of recent queries is bounded: filled now, so that it grows no more
        spark.range(1).selectExpr(*(f"id + {number} as c{number}" for number in range(100))).collect()
    print(f"{'queries':>8} {'python objects':>15} {'python MB (peak)':>17} {'jvm MB':>8}")
    seen = []
    for tenth in range(1, 11):
        for number in range(count // 10):
            spark.range(3).selectExpr("id", f"id + {number} as next").collect()
        watch.flush(60)
        gc.collect()
        spark._jvm.java.lang.System.gc()
        used = (runtime.totalMemory() - runtime.freeMemory()) >> 20
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        seen.append((len(gc.get_objects()), used))
        print(f"{tenth * count // 10:>8} {seen[-1][0]:>15} {peak:>17} {used:>8}", flush=True)
    stats = watch.stats
    watch.detach()
    spark.stop()
    print(f"{stats.runs.completed} completed, {stats.open} open, {stats.failures} faults")
    grown = seen[-1][0] / seen[len(seen) // 2][0], seen[-1][1] / max(seen[len(seen) // 2][1], 1)
    print(f"second half: python objects x{grown[0]:.2f}, jvm heap x{grown[1]:.2f}")
    return 0 if grown[0] < 1.2 and grown[1] < 1.5 and stats.open == 0 else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000))
