"""Worker processes under load: each query gets its own answer, and a stopped or killed worker costs one query."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from colline.graph.queries.registry import REQUESTS
from colline.graph.queries.request_arguments import read_arguments
from colline.graph.snapshot.publish import publish
from colline.server.http_errors import Problem
from colline.server.query.worker import QueryRequest, QueryResponse
from colline.server.query.workers import QueryWorkers
from tests.server.serving import Server, serving

pytestmark = pytest.mark.anyio
QUERIES = 200
FORM = REQUESTS["columns-by-degree"]


async def query(workers: QueryWorkers, top: int) -> QueryResponse | Problem:
    arguments = read_arguments(FORM, [("top", str(top))])
    try:
        return await workers.answer(QueryRequest(FORM.name, b"", arguments))
    except Problem as problem:
        return problem


async def query_all(workers: QueryWorkers, disturb: Callable[[], None] | None = None) -> list[Any]:
    """Sends all queries at once, and disturbs the workers after the first answer."""
    responses: list[Any] = [None] * QUERIES
    is_disturbed = False

    async def send(number: int) -> None:
        nonlocal is_disturbed
        responses[number] = await query(workers, number % 9 + 1)
        if disturb is not None and not is_disturbed:
            is_disturbed = True
            disturb()

    async with anyio.create_task_group() as group:
        for number in range(QUERIES):
            group.start_soon(send, number)
    return responses


def worker_processes() -> list[int]:
    command = ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(os.getpid())]
    lines = subprocess.run(command, capture_output=True, check=False).stdout.decode().splitlines()
    return [int(line.split()[0]) for line in lines if "anyio.to_process" in line]


def send_signal(number: signal.Signals) -> None:
    os.kill(worker_processes()[0], number)


async def test_each_query_gets_its_own_answer(shop_served: Server) -> None:
    responses = await query_all(QueryWorkers(shop_served.lake, 2, timeout_seconds=60))
    bodies = {top: shop_served.client.get(FORM.path, params={"top": top}).content for top in range(1, 10)}
    assert [response.body for response in responses] == [bodies[number % 9 + 1] for number in range(QUERIES)]


async def test_stopped_worker_times_out_one_query(shop_served: Server) -> None:
    workers = QueryWorkers(shop_served.lake, 2, timeout_seconds=8)
    await query(workers, 1)
    responses = await query_all(workers, lambda: send_signal(signal.SIGSTOP))
    assert [each.code for each in responses if isinstance(each, Problem)] == ["too_slow"]


async def test_killed_worker_fails_one_query(shop_served: Server) -> None:
    workers = QueryWorkers(shop_served.lake, 2, timeout_seconds=60)
    await query(workers, 1)
    responses = await query_all(workers, lambda: send_signal(signal.SIGKILL))
    assert len([each for each in responses if isinstance(each, Problem)]) <= 1
    assert isinstance(await query(workers, 1), QueryResponse)


async def test_health_does_not_wait_for_the_workers(shop_served: Server) -> None:
    with serving(shop_served.lake, "--readers", "1") as server:
        assert server.client.get(FORM.path, params={"top": 1}).status_code == 200
        children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
        for process in children:
            os.kill(int(process), signal.SIGSTOP)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(anyio.to_thread.run_sync, _wait_for_nothing, server)
                await anyio.sleep(0.5)
                started = time.monotonic()
                assert server.client.get("/healthz").status_code == server.client.get("/readyz").status_code == 200
                assert time.monotonic() - started < 2
        finally:
            for process in children:
                os.kill(int(process), signal.SIGCONT)


def _wait_for_nothing(server: Server) -> None:
    """Occupies the only worker, which is stopped, until it continues."""
    import httpx

    with httpx.Client(base_url=server.address, timeout=3) as client, pytest.raises(httpx.ReadTimeout):
        client.get(FORM.path, params={"top": 2})


async def test_idle_worker_opens_a_new_snapshot_and_closes_the_old_one(shop_served: Server, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    for name in ("gold", "silver", "snapshot"):
        shutil.copytree(shop_served.lake / name, lake / name)
    with serving(lake, "--readers", "1") as server:
        first = server.client.get(FORM.path, params={"top": 1}).json()["snapshot"]
        newer = publish(lake).path.name
        assert newer != first
        deadline = time.monotonic() + 30
        while mapped_snapshots(server, lake) != {newer}:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def mapped_snapshots(server: Server, lake: Path) -> set[str]:
    """The snapshots that the workers of a server have mapped into memory."""
    processes = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    lines = [line for process in processes for line in Path(f"/proc/{process}/maps").read_text().splitlines()]
    return {Path(line.split()[5]).parent.name for line in lines if str(lake) in line and "/arrays" in line}
