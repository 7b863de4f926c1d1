"""The processes that answer, asked for more at once than they can: none waits for longer than it must, none is lost."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import shutil
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from colline.graph.snapshot.publish import publish
from colline.server.endpoints import BY_NAME
from colline.server.parameters import read_parameters
from colline.server.query.worker import Asked, Found
from colline.server.query.workers import ReaderDiedError, Readers
from tests.server.serving import Server, serving

_MANY = 200
_HUBS = BY_NAME["hubs"]


@asynccontextmanager
async def _readers(lake: Path, seconds: float) -> AsyncIterator[Readers]:
    readers = Readers(lake, 2, {}, seconds)
    try:
        yield readers
    finally:
        readers.close()


async def _ask(readers: Readers, limit: int) -> tuple[Any, float]:
    """What came of a question, and after how long."""
    started = time.monotonic()
    values = read_parameters(_HUBS.parameters, [("limit", str(limit))])
    try:
        found = await readers.ask("answer", *Asked(_HUBS.name, b"", values))
    except (asyncio.TimeoutError, ReaderDiedError) as error:
        found = type(error)
    return found, time.monotonic() - started


async def _storm(lake: Path, number: signal.Signals, seconds: float) -> list[tuple[Any, float]]:
    """Ask much at once, send a signal to one of the processes while all have questions, and wait for every answer."""
    async with _readers(lake, seconds) as readers:
        await asyncio.gather(*(_ask(readers, 1) for _ in range(_MANY)))
        asked = [asyncio.create_task(_ask(readers, limit % 9 + 1)) for limit in range(_MANY)]
        await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        process = multiprocessing.active_children()[0]
        assert process.pid is not None
        os.kill(process.pid, number)
        return await asyncio.gather(*asked)


def test_each_asker_gets_the_answer_to_its_own_question(shop_served: Server) -> None:
    async def every() -> list[tuple[Any, float]]:
        async with _readers(shop_served.lake, 60) as readers:
            return await asyncio.gather(*(_ask(readers, limit % 9 + 1) for limit in range(_MANY)))

    bodies = [found.body for found, _ in asyncio.run(every())]
    alone = {limit: shop_served.client.get("/api/v1/hubs", params={"limit": limit}).content for limit in range(1, 10)}
    assert bodies == [alone[limit % 9 + 1] for limit in range(_MANY)]


def test_questions_behind_a_slow_one_are_answered_by_another_process(shop_served: Server) -> None:
    seconds = 8.0
    told = asyncio.run(_storm(shop_served.lake, signal.SIGSTOP, seconds))
    assert [found for found, _ in told if not isinstance(found, Found)] == [asyncio.TimeoutError]
    assert max(took for found, took in told if isinstance(found, Found)) < seconds


def test_a_process_that_dies_costs_the_question_it_was_at_only(shop_served: Server) -> None:
    told = asyncio.run(_storm(shop_served.lake, signal.SIGKILL, 60))
    assert [found for found, _ in told if not isinstance(found, Found)] == [ReaderDiedError]


def test_a_newer_snapshot_is_made_ready_and_the_older_let_go_before_anybody_asks(
    shop_served: Server, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    for name in ("gold", "silver", "snapshot"):
        shutil.copytree(shop_served.lake / name, lake / name)
    with serving(lake, "--readers", "1") as server:
        first = server.client.get("/api/v1/hubs").json()["snapshot"]
        newer = publish(lake).path.name
        assert newer != first
        _wait_until(lambda: _mapped(server, lake) == {newer})


def _mapped(server: Server, lake: Path) -> set[str]:
    """The snapshots that the readers of a server have mapped."""
    processes = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    lines = [line for process in processes for line in Path(f"/proc/{process}/maps").read_text().splitlines()]
    return {Path(line.split()[5]).parent.name for line in lines if str(lake) in line and "/arrays" in line}


def _wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)
