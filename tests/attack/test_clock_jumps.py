"""A clock that jumps while the server runs. libfaketime changes the time of day, not the monotonic clock."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.attack.table import SEED, Attack, times
from tests.server.serving import event, landed_lines, serving

pytestmark = pytest.mark.attack
LIBRARIES = (
    "/usr/lib/*/faketime/libfaketime.so.1",
    "/usr/lib/faketime/libfaketime.so.1",
    "/usr/lib64/faketime/libfaketime.so.1",
)
JUMPS = ("+0", "-2h", "+2h", "-900d", "+300d", "-30s", "+1d", "+0")


def fake_clock(setting: Path) -> tuple[str, ...]:
    """The start of a command whose clock is the real one, moved by the text in the file."""
    found = [path for pattern in LIBRARIES for path in Path("/").glob(pattern.removeprefix("/"))]
    if not found:
        pytest.skip("needs libfaketime; hint: apt-get install libfaketime")
    variables = {"LD_PRELOAD": found[0], "FAKETIME_TIMESTAMP_FILE": setting, "FAKETIME_NO_CACHE": 1}
    variables |= {"FAKETIME_DONT_FAKE_MONOTONIC": 1, "DONT_FAKE_MONOTONIC": 1}
    return ("env", *(f"{name}={value}" for name, value in variables.items()))


def test_clock_jumps_in_both_directions(tmp_path: Path, attack: Attack) -> None:
    setting, chance = tmp_path / "clock", random.Random(SEED)
    setting.write_text("+0")
    sent: set[str] = set()
    with (
        serving(tmp_path / "lake", "--seal-after", "0.2s", "--no-access-log", prefix=fake_clock(setting)) as server,
        attack("clock jumps under a running server", server) as row,
    ):
        for number, jump in enumerate(chance.choices(JUMPS, k=times(12, 500))):
            setting.write_text(jump)
            for part in range(4):
                job = f"job_{number}_{part}"
                status = server.client.post("/api/v1/lineage", json=event(job)).status_code
                row.count(status in (201, 422), (jump, status))  # 422: more than a year ahead of the server's clock
                sent.add(job)
            row.count(server.client.get("/readyz").status_code == 200, f"readyz after {jump}")
        row.measure(server.process.pid)
        server.stop()
        lines = landed_lines(server.lake)
        row.lost = sum(not any(f'"{job}"'.encode() in line.replace(b'\\"', b'"') for line in lines) for job in sent)
        row.count(len(lines) == len(sent), f"{len(lines)} lines of {len(sent)} events")
        days = {path.name for path in (server.lake / "landing").iterdir()}
        row.count(len(days) > 1, f"the clock did not move: {days}")
