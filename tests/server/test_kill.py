"""kill -9 while fifty clients send: every acknowledged event is in landing exactly once after a restart."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path

import pytest

from tests.server.killed_under_load import CLIENTS, KILLS
from tests.server.serving import landed_lines, serving

pytestmark = pytest.mark.faults


def test_kill_9_neither_loses_nor_duplicates_acknowledged_events(storm_lake: tuple[Path, set[str]]) -> None:
    lake, answered = storm_lake
    with serving(lake) as server:
        assert server.stop() in (0, -signal.SIGTERM)
    runs = Counter(json.loads(line)["run"]["runId"] for line in landed_lines(lake) if b'"storm"' in line)
    assert len(answered) >= 3 * CLIENTS * KILLS
    assert {run: count for run, count in runs.items() if count != 1} == {}
    assert answered - set(runs) == set()
    assert list((lake / "_server" / "spool").glob("*.open")) == []
