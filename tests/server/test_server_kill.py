"""kill -9 while fifty clients post: what was answered 201 is landed, whole and exactly once, after the next start."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import uuid
from collections import Counter
from pathlib import Path

import httpx
import pytest
from serving import event, landed, serving

CLIENTS, KILLS = 50, 5


async def _post_until_dead(http: httpx.AsyncClient, answered: set[str], client: int) -> None:
    """One client: events of many sizes, one after the other, until the server is gone."""
    sizes = random.Random(client)
    while True:
        run = str(uuid.uuid4())
        try:
            answer = await http.post("/api/v1/lineage", json=event("x" * sizes.choice([10, 3000, 60_000]), run))
        except httpx.HTTPError:
            return
        assert answer.status_code == 201
        answered.add(run)


async def _storm(address: str, answered: set[str]) -> None:
    limits = httpx.Limits(max_connections=CLIENTS, max_keepalive_connections=CLIENTS)
    async with httpx.AsyncClient(base_url=address, timeout=10, limits=limits) as http:
        await asyncio.gather(*(_post_until_dead(http, answered, client) for client in range(CLIENTS)))


@pytest.mark.faults
@pytest.mark.anyio
async def test_no_answered_event_is_lost_or_doubled_by_kill_9(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    answered: set[str] = set()
    for kill in range(KILLS):
        with serving(lake, "--seal-after", "0.3s", "--no-access-log") as server:
            before = len(answered)
            storm = asyncio.create_task(_storm(server.address, answered))
            while len(answered) < before + 3 * CLIENTS and not storm.done():
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.4 * random.Random(kill).random())  # somewhere in the life of a segment
            server.process.send_signal(signal.SIGKILL)
            await storm
    with serving(lake) as server:
        assert server.stop() in (0, -signal.SIGTERM)
    runs = Counter(json.loads(line)["run"]["runId"] for line in landed(lake))
    assert len(answered) > 3 * CLIENTS * KILLS
    assert {run: count for run, count in runs.items() if count != 1} == {}
    assert answered - set(runs) == set()
    assert list((lake / "_server" / "spool").glob("*.open")) == []
