"""Processes that are killed at random moments: no acknowledged event is lost, and none is ingested twice."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.attack.table import Attack, times
from tests.server.killed_under_load import storm
from tests.server.serving import landed_lines, serving

pytestmark = pytest.mark.attack


def test_killed_servers(tmp_path: Path, attack: Attack) -> None:
    kills = times(2, 25)
    lake = tmp_path / "lake"
    with attack(f"kill -9 of a server with fifty clients, {kills} times") as row:
        acknowledged = asyncio.run(storm(lake, kills))
        with serving(lake) as server:
            row.measure(server.process.pid)
            server.stop()
        runs = Counter(json.loads(line)["run"]["runId"] for line in landed_lines(lake) if b'"storm"' in line)
        for run in acknowledged:
            row.count(runs[run] <= 1, f"{run} landed {runs[run]} times")
        row.lost = len(acknowledged - set(runs))
