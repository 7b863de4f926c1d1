"""Queries over HTTP at the design size: 20 concurrent clients request depth-5 answers about random columns.

    python bench/reads.py [--columns 1000000] [--edges 5000000] [--lake DIR] [--requests 2000]

The lake is the one of bench/graph.py. Each request is about another column, and an answer has at
most 100 rows with their edges.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from given.design_lake import write

from colline.graph import open_lake
from colline.graph.snapshot.publish import publish

CLIENTS, PORT, MAX_P99_MS = 20, 5394, 100


def names(lake: Path, count: int) -> list[str]:
    """Full names of random columns."""
    with open_lake(lake) as lineage:
        view = lineage.view()
        nodes = random.Random(3).sample(range(view.arrays.meta["nodes"]), count * 2)
        kept = [node for node in nodes if not view.arrays["node.rows"][node]][:count]
        return [view.names.full_name(node) for node in kept]


def cpu_seconds(process: int) -> dict[str, float]:
    """CPU time of the server, and of all its workers, from /proc (Linux only)."""
    spent = {"server": 0.0, "workers": 0.0}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # the process has ended
            continue
        kind = "server" if stat.parent.name == str(process) else "workers" if fields[1] == str(process) else None
        if kind:
            spent[kind] += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent


async def client(columns: list[str], times: list[float], sizes: list[int]) -> None:
    """Sends one request after the other on one connection, until no column is left."""
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    while columns:
        path = f"/api/v1/downstream?column={quote(columns.pop(), safe='')}&depth=5"
        started = time.perf_counter()
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        times.append(time.perf_counter() - started)
        sizes.append(length)
    writer.close()


async def load(columns: list[str]) -> tuple[list[float], list[int]]:
    times: list[float] = []
    sizes: list[int] = []
    await asyncio.gather(*(client(columns, times, sizes) for _ in range(CLIENTS)))
    return times, sizes


def wait_until_up() -> None:
    for _ in range(300):
        try:
            asyncio.run(asyncio.wait_for(asyncio.open_connection("127.0.0.1", PORT), 1))
        except (OSError, asyncio.TimeoutError):
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the server did not start")


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--columns", type=int, default=1_000_000)
    options.add_argument("--edges", type=int, default=5_000_000)
    options.add_argument("--lake", type=Path)
    options.add_argument("--requests", type=int, default=2000)
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lake = arguments.lake or Path(folder) / "lake"
        if not (lake / "snapshot").is_dir():
            write(lake, arguments.columns, arguments.edges)
            publish(lake)
        columns = names(lake, arguments.requests)
        command = [
            sys.executable,
            "-m",
            "colline",
            "serve",
            "--lake",
            str(lake),
            "--port",
            str(PORT),
            "--no-access-log",
        ]
        server = subprocess.Popen([*command, "--no-access-log"], stderr=subprocess.DEVNULL)
        try:
            wait_until_up()
            asyncio.run(load(columns[:200]))  # the first answers map the arrays
            before, mine, started = cpu_seconds(server.pid), time.process_time(), time.perf_counter()
            times, sizes = asyncio.run(load(list(columns)))
            seconds, mine = time.perf_counter() - started, time.process_time() - mine
            spent = {who: found - before[who] for who, found in cpu_seconds(server.pid).items()} | {"clients": mine}
        finally:
            server.terminate()
            server.wait()
    times.sort()
    p99 = times[int(len(times) * 0.99)] * 1e3
    print(
        f"{len(times) / seconds:.0f} answers/s, {statistics.mean(sizes) / 1000:.1f} KB each;"
        f" median {statistics.median(times) * 1e3:.1f} ms"
    )
    cpu = ", ".join(f"{found / len(times) * 1e3:.2f} ms in the {who}" for who, found in spent.items())
    share = sum(spent.values()) / seconds / (os.cpu_count() or 1)
    print(f"CPU per answer: {cpu}; {share:.0%} of the machine was used, load {os.getloadavg()[0]:.1f}")
    print(f"reads: depth-5 answer p99 {p99:.1f} ms at {CLIENTS} clients (limit {MAX_P99_MS})")


if __name__ == "__main__":
    main()
