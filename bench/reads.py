"""Reads over HTTP at the design size: depth-5 answers of random columns, asked by 20 clients at once.

    python bench/reads.py [--columns 1000000] [--edges 5000000] [--lake DIR] [--requests 2000]

The lake is that of bench/graph.py. Every request asks another column; the answer has up to 100 rows with their edges.
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

CLIENTS, PORT = 20, 5394


def names(lake: Path, count: int) -> list[str]:
    """Whole names of random columns."""
    with open_lake(lake) as lineage:
        view = lineage.view()
        nodes = random.Random(3).sample(range(view.arrays.meta["nodes"]), count * 2)
        kept = [node for node in nodes if not view.arrays["node.rows"][node]][:count]
        return [view.names.full(node) for node in kept]


def cpu_seconds(process: int) -> dict[str, float]:
    """CPU time so far of the server, and of its readers together; by /proc, so on Linux only."""
    spent = {"server": 0.0, "readers": 0.0}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        whose = "server" if stat.parent.name == str(process) else "readers" if fields[1] == str(process) else None
        if whose:
            spent[whose] += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent


async def client(asked: list[str], times: list[float], sizes: list[int]) -> None:
    """One keep-alive connection that asks one column after the other until none are left."""
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    while asked:
        path = f"/api/v1/downstream?column={quote(asked.pop(), safe='')}&depth=5"
        started = time.perf_counter()
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        times.append(time.perf_counter() - started)
        sizes.append(length)
    writer.close()


async def load(asked: list[str]) -> tuple[list[float], list[int]]:
    times: list[float] = []
    sizes: list[int] = []
    await asyncio.gather(*(client(asked, times, sizes) for _ in range(CLIENTS)))
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
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lake = given.lake or Path(folder) / "lake"
        if not (lake / "snapshot").is_dir():
            write(lake, given.columns, given.edges)
            publish(lake)
        asked = names(lake, given.requests)
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
            asyncio.run(load(asked[:200]))  # the first answers map the arrays
            before, mine, started = cpu_seconds(server.pid), time.process_time(), time.perf_counter()
            times, sizes = asyncio.run(load(list(asked)))
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
    told = ", ".join(f"{found / len(times) * 1e3:.2f} ms in the {who}" for who, found in spent.items())
    share = sum(spent.values()) / seconds / (os.cpu_count() or 1)
    print(f"CPU an answer: {told}; {share:.0%} of the machine was ours, load {os.getloadavg()[0]:.1f}")
    print(f"reads: depth-5 answer p99 {p99:.1f} ms at {CLIENTS} clients (aim 50)")


if __name__ == "__main__":
    main()
