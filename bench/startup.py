"""How long small commands take: help, questions on a small lake, an ingest with nothing new, `colline explain`.

Times are CPU seconds of the process and of those it starts, the smallest of several runs. Commands without Spark are
compared with an empty Python, `colline explain` with an empty Spark session. An archive of loaded classes (Java's CDS)
would take another 30 % off `explain`, but is 140 MB large and differs for each Spark, so it is not used.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 5
BECOME_SUBREAPER = 36  # prctl: a JVM that outlives its parent is waited for, so that its time counts
ROOT = Path(__file__).resolve().parent.parent


EMPTY_SESSION = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
spark.sql("select 1").collect()
spark.stop()
"""
SCRIPT = """
create table orders (id int, customer_id int, region string, amount double);
create table customers (id int, email string, city string);
insert into totals select region, sum(amount) as total from orders group by region;
create table report as select c.city, sha2(c.email, 256) as who, o.amount from orders o
  join customers c on o.customer_id = c.id;
select city, total from report join totals on region = city;
"""


def cpu_seconds(*command: str, runs: int = RUNS) -> float:
    """The smallest CPU time of several runs of a command."""
    found = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *command], check=False, capture_output=True)
        _wait_for_orphans()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def _wait_for_orphans() -> None:
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def _ingested_lake(folder: Path) -> Path:
    """A lake with an event that was ingested."""
    from tests.lakes import dataset, event, land

    lake = folder / "ingested"
    land(lake, [event("COMPLETE", "2026-01-31T12:00:00Z", run="one", outputs=[dataset("shop/a", "a int")])])
    subprocess.run([sys.executable, "-m", "colline", "ingest", "--lake", str(lake)], check=True, capture_output=True)
    return lake


def compare_explain(folder: Path) -> None:
    """`colline explain` of five statements, next to the start of an empty Spark session."""
    (folder / "job.sql").write_text(SCRIPT, encoding="utf-8")
    empty = cpu_seconds("-c", EMPTY_SESSION, runs=2)
    explain = cpu_seconds("-m", "colline", "explain", str(folder / "job.sql"), runs=2)
    print(f"{'empty Spark session':<32} {empty:6.3f} s")
    print(f"{'colline explain, 5 statements':<32} {explain:6.3f} s  {explain / empty:5.2f} x an empty Spark session")


def main() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(BECOME_SUBREAPER, 1, 0, 0, 0)
    sys.path.insert(0, str(ROOT))
    from tests.graph.graph_lakes import shop

    from colline.graph.snapshot.publish import publish

    with tempfile.TemporaryDirectory() as folder:
        lake = shop().write(Path(folder) / "lake")
        publish(lake)
        at = ("--lake", str(lake))
        commands = {
            "python -c pass": ("-c", "pass"),
            "import numpy": ("-c", "import numpy"),
            "colline --help": ("-m", "colline", "--help"),
            "colline find": ("-m", "colline", "find", "email", *at),
            "colline upstream": ("-m", "colline", "upstream", "contacts.email", *at),
            "colline tables": ("-m", "colline", "tables", *at),
            "colline runs": ("-m", "colline", "runs", *at),
            "colline quarantine list": ("-m", "colline", "quarantine", "list", *at),
            "colline ingest, nothing new": ("-m", "colline", "ingest", "--lake", str(_ingested_lake(Path(folder)))),
        }
        base = cpu_seconds(*commands["python -c pass"])
        for name, command in commands.items():
            seconds = cpu_seconds(*command)
            print(f"{name:<32} {seconds:6.3f} s  {seconds / base:5.1f} x an empty Python")
        compare_explain(Path(folder))


if __name__ == "__main__":
    main()
