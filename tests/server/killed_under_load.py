"""Fifty clients that post until the server is killed under them."""

from __future__ import annotations

import asyncio
import random
import signal
import uuid
from pathlib import Path

import httpx

from tests.server.serving import event, serving

CLIENTS, KILLS = 50, 5


async def _post_until_dead(http: httpx.AsyncClient, answered: set[str], client: int) -> None:
    """One client: events of many sizes, one after the other, until the server is gone."""
    sizes = random.Random(client)
    while True:
        run = str(uuid.uuid4())
        bulk = {"bulk": {"text": "x" * sizes.choice([10, 3000, 40_000])}}
        sent = event("storm") | {"run": {"runId": run, "facets": bulk}}
        try:
            answer = await http.post("/api/v1/lineage", json=sent)
        except httpx.HTTPError:
            return
        assert answer.status_code == 201
        answered.add(run)


async def _post(address: str, answered: set[str]) -> None:
    limits = httpx.Limits(max_connections=CLIENTS, max_keepalive_connections=CLIENTS)
    async with httpx.AsyncClient(base_url=address, timeout=30, limits=limits) as http:
        await asyncio.gather(*(_post_until_dead(http, answered, client) for client in range(CLIENTS)))


async def storm(lake: Path, kills: int = KILLS) -> set[str]:
    """The run ids that were answered 201, over several lives of a server that each ended with kill -9."""
    answered: set[str] = set()
    for kill in range(kills):
        with serving(lake, "--seal-after", "0.3s", "--no-access-log") as server:
            enough = len(answered) + 3 * CLIENTS
            posting = asyncio.create_task(_post(server.address, answered))
            while len(answered) < enough and not posting.done():
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.4 * random.Random(kill).random())  # somewhere in the life of a segment
            server.process.send_signal(signal.SIGKILL)
            await posting
    return answered
