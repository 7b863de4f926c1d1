"""What capture costs a client of a remote Spark Connect server, per call, inside one run.

`python bench/connect_client.py [--calls N]`

The time that colline takes on the user's thread is measured in every call: copying the plan before it is sent, reading
the responses, and noting the end. The limit is for processor time, because wall time depends on what else runs. Calls
with and without capture are made in turns, and their times are compared. What is asked of the server once per table
happens on other threads and is not part of a call.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.capture.captured_events import Nowhere
from tests.capture.connect.remote_server import remote_server

import colline
from colline.capture.connect.client import request_hooks
from colline.capture.connect.resolver.resolver_client import SharedResolver

LIMIT_MS = 2.0
ROUNDS = 4


def time_observer(observer: Any, spent: list[float], wall: list[float]) -> None:
    """Replace the observer's methods by ones that add up the processor and wall time of each call."""

    def add_timer(method: Callable[..., Any], *, is_start: bool = False) -> Callable[..., Any]:
        def call_and_time(*arguments: Any) -> Any:
            if is_start:
                spent.append(0.0)
                wall.append(0.0)
            began, began_wall = time.thread_time(), time.perf_counter()
            try:
                return method(*arguments)
            finally:
                spent[-1] += (time.thread_time() - began) * 1000
                wall[-1] += (time.perf_counter() - began_wall) * 1000

        return call_and_time

    observer.on_start = add_timer(observer.on_start, is_start=True)
    observer.on_response = add_timer(observer.on_response)
    observer.on_end = add_timer(observer.on_end)


def queries(session: Any) -> dict[str, Callable[[], Any]]:
    """Calls of three sizes."""
    wide = session.table("sold").selectExpr(*(f"amount + {number} as c{number}" for number in range(500)))
    return {
        "a query of one table": lambda: session.table("sold").where("id > 3").select("id", "amount").collect(),
        "a write with a group": lambda: (
            session.table("sold").groupBy("id").sum("amount").write.format("noop").mode("overwrite").save()
        ),
        "a query of 500 expressions": lambda: wide.limit(1).collect(),
    }


def take(call: Callable[[], Any], count: int) -> list[float]:
    taken = []
    for _ in range(count):
        began = time.perf_counter()
        call()
        taken.append((time.perf_counter() - began) * 1000)
    return taken


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def main(count: int) -> int:
    from pyspark.sql.connect.session import SparkSession

    observers: list[Any] = []
    original = request_hooks.RequestHooks.__init__

    def remember(self: Any, client: Any, observer: Any, errors: Any) -> None:
        observers.append(observer)
        original(self, client, observer, errors)

    request_hooks.RequestHooks.__init__ = remember  # type: ignore[method-assign]
    user = SharedResolver()  # one resolver process for all rounds
    worst = 0.0
    with remote_server() as address:
        session = SparkSession.builder.remote(address).create()
        session.sql("create table sold using parquet as select id, id * 2.0 as amount from range(100)").collect()
        print(f"{'ms per call in colline':<28} {'p50':>9} {'p95':>9} {'wall p50':>9} {'wall p95':>9}   with / without")
        for name, call in queries(session).items():
            take(call, 10)
            spent: list[float] = []
            wall: list[float] = []
            plain: list[float] = []
            captured: list[float] = []
            for _ in range(ROUNDS):
                plain += take(call, count // ROUNDS)
                watch: Any = colline.attach(session, transport=Nowhere())
                call()  # asks for the schema and location of the table
                watch.flush(120)
                time_observer(observers[-1], spent, wall)
                captured += take(call, count // ROUNDS)
                watch.detach(120)
            worst = max(worst, p95(spent))
            ratio = statistics.median(captured) / statistics.median(plain)
            figures = (statistics.median(spent), p95(spent), statistics.median(wall), p95(wall))
            print(f"{name:<28} {' '.join(f'{each:>9.3f}' for each in figures)} {ratio:>16.2f}", flush=True)
        session.client.close()
    user.close()
    print(f"largest p95: {worst:.3f} ms, limit {LIMIT_MS} ms")
    return 0 if worst <= LIMIT_MS else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=200)
    sys.exit(main(parser.parse_args().calls))
