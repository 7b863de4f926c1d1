"""Real processes, really killed; disks really full. `make faults N=500` kills as many as you like."""

from __future__ import annotations

import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from colline.config import settings_from, transport_from
from colline.transport import Carrier, LocalFiles
from colline.transport.batching import Pace
from colline.transport.lake_sink import LakeSink
from tests.transport.peers import http_peer

pytestmark = pytest.mark.faults

HERE = Path(__file__).parent
KILLS = int(os.environ.get("COLLINE_FAULTS", "24"))


class Victim:
    """A process that emits until it is killed. `taken` maps each accepted number to when it was emitted, `waiting` is
    how many of them its counters called not delivered at last.
    """

    def __init__(self, transport: dict[str, Any], first: int, pause: float = 0.0) -> None:
        command = [sys.executable, str(HERE / "killed_emitter.py"), json.dumps(transport), str(first), str(pause)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        self.taken: dict[int, float] = {}
        self.waiting = 0
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.endswith(b"\n"):
                number, when, waiting = line.split()
                self.taken[int(number)], self.waiting = float(when), int(waiting)

    def kill(self) -> float:
        """When it was killed; every number it said is in `taken` afterwards."""
        now = time.time()
        self._process.send_signal(signal.SIGKILL)
        assert self._process.wait() == -signal.SIGKILL
        self._reader.join()
        return now


def killed_over_and_over(transport: dict[str, Any], kills: int) -> set[int]:
    """Every event that any of the victims got taken."""
    rng, taken = random.Random(), set[int]()
    for _ in range(kills):
        victim = Victim(transport, first=max(taken, default=-1) + 1)
        time.sleep(rng.uniform(0.0, 0.25))
        victim.kill()
        taken |= victim.taken.keys()
    return taken


def drained(transport: dict[str, Any]) -> Any:
    """The statistics of a last process that adopts what is left and delivers it."""
    last = transport_from(settings_from({"transport": transport}, environ={}))
    last.close(60)
    return last.stats


def landed(base: Path) -> Counter[int]:
    """How often each number is in the lake; a half file or a half line would not parse."""
    found: Counter[int] = Counter()
    for path in base.rglob("*.ndjson"):
        if not path.name.startswith("."):
            lines = path.read_bytes().split(b"\n")
            assert lines.pop() == b""
            assert path.name.endswith(f"-{len(lines)}events.ndjson")
            found.update(json.loads(line)["n"] for line in lines)
    return found


def test_with_a_spool_no_accepted_event_is_lost_by_kill_9(tmp_path: Path) -> None:
    transport = {
        "type": "lake", "base": str(tmp_path / "lake"), "batchSize": 20, "flushIntervalSeconds": 0.05,
        "spool": str(tmp_path / "spool"), "spoolMaxBytes": 1 << 30,
    }  # fmt: skip
    taken = killed_over_and_over(transport, max(1, KILLS * 2 // 3))
    stats = drained(transport)
    found = landed(tmp_path / "lake")
    assert len(taken) > 1000
    assert taken - found.keys() == set()
    assert (stats.spooled, stats.failed, stats.dropped) == (0, 0, 0)
    assert list((tmp_path / "spool").iterdir()) == []


def test_with_a_spool_no_accepted_event_is_lost_on_the_way_to_a_server(tmp_path: Path) -> None:
    with http_peer() as peer:
        transport = {"type": "http", "url": peer.url, "spool": str(tmp_path), "spoolMaxBytes": 1 << 30}
        taken = killed_over_and_over(transport, max(1, KILLS // 3))
        drained(transport)
        assert len(taken) > 100
        assert taken - {event["n"] for event in peer.events} == set()


def test_without_a_spool_the_loss_is_at_most_one_flush_interval_and_was_counted_as_waiting(tmp_path: Path) -> None:
    interval, slack = 0.3, 2.0  # slack: a busy machine needs time to write what is due
    transport = {"type": "lake", "base": str(tmp_path), "batchSize": 10_000, "flushIntervalSeconds": interval}
    first, lost = 0, 0
    for _ in range(2):
        victim = Victim(transport, first, pause=0.002)
        time.sleep(random.uniform(3.0, 4.0))
        at = victim.kill()
        missing = victim.taken.keys() - landed(tmp_path).keys()
        assert all(victim.taken[number] > at - interval - slack for number in missing)
        assert len(missing) < len(victim.taken)
        assert len(missing) <= victim.waiting  # a file may have landed before it was counted, never the other way
        lost += len(missing)
        first = max(victim.taken) + 1
    assert lost > 0  # otherwise this test shows nothing


def test_two_thousand_writers_at_once_never_collide(tmp_path: Path) -> None:
    """Four processes, five hundred transports each, all closing at the same moment."""
    code = (
        "import sys, threading\n"
        "from colline.config import settings_from, transport_from\n"
        "settings = settings_from({'lake': sys.argv[1]}, environ={})\n"
        "transports = [transport_from(settings) for _ in range(500)]\n"
        "for number, transport in enumerate(transports):\n"
        "    transport.emit({'n': int(sys.argv[2]) * 500 + number})\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "for transport in transports: transport.begin_close(60)\n"
        "for transport in transports: transport.close(60)\n"
        "assert all(transport.stats.sent == 1 for transport in transports)\n"
    )
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for number in range(4)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"go\n")
        writer.stdin.close()
    assert [writer.wait(120) for writer in writers] == [0, 0, 0, 0]
    assert landed(tmp_path) == Counter(range(2000))
    assert len(list(tmp_path.rglob("*.ndjson"))) == 2000


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    over, sizes = threading.Event(), set[int]()

    def look() -> None:
        while not over.is_set():
            names = [path for path in tmp_path.rglob("*.ndjson") if not path.name.startswith(".")]
            sizes.update(path.stat().st_size for path in names)

    reader = threading.Thread(target=look)
    reader.start()
    for number in range(60):
        LocalFiles().write_whole(str(tmp_path / f"{number}.ndjson"), b"x" * 2_000_000)
    over.set()
    reader.join()
    assert sizes == {2_000_000}


def run_on_a_small_disk(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The script's end, with a file system of one megabyte mounted at the folder for it alone."""
    folder.mkdir()
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    inside = f'mount -t tmpfs -o size=1m none "{folder}" && exec "{sys.executable}" -c "$SCRIPT" "{folder}"'
    probe = ["unshare", *user, "--mount", "sh", "-c", f'mount -t tmpfs -o size=1m none "{folder}"']
    if shutil.which("unshare") is None or subprocess.run(probe, check=False, capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount a file system of their own")
    return subprocess.run(
        ["unshare", *user, "--mount", "sh", "-c", inside],
        check=False, capture_output=True, text=True, env={**os.environ, "SCRIPT": script}, timeout=120,
    )  # fmt: skip


FULL = """
import json, logging, os, sys, time
from pathlib import Path
from colline.config import settings_from, transport_from
logging.basicConfig(level=logging.WARNING, stream=sys.stdout, format="%(message)s")
disk = Path(sys.argv[1])
def built(**given): return transport_from(settings_from({"transport": given}, environ={}))
def fill():
    with open(disk / "filling", "wb", buffering=0) as filling:
        try:
            while True: filling.write(b"x" * 4096)
        except OSError: pass
def events(base):
    return sorted(json.loads(line)["n"] for path in Path(base).rglob("[!.]*.ndjson") for line in path.open())
"""


def test_a_full_disk_under_the_lake_delays_events_and_leaves_no_half_file(tmp_path: Path) -> None:
    script = FULL + (
        "t = built(type='lake', base=str(disk / 'lake'), batchSize=10, flushIntervalSeconds=0, backoffSeconds=0.01,"
        " breakerSeconds=0.05)\n"
        "fill()\n"
        "for n in range(100): t.emit({'n': n, 'filling': 'x' * 1000})\n"
        "assert not t.flush(1.0)\n"
        "assert list(disk.rglob('*.ndjson*')) == [], list(disk.rglob('*'))\n"
        "(disk / 'filling').unlink()\n"
        "t.close(20)\n"
        "assert events(disk) == list(range(100)), t.stats\n"
        "assert t.stats.sent == 100 and t.stats.is_whole\n"
    )
    done = run_on_a_small_disk(script, tmp_path / "disk")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("cannot deliver and rests") == 1
    assert "No space left on device" in done.stdout


def test_a_full_disk_under_a_file_leaves_whole_lines(tmp_path: Path) -> None:
    script = FULL + (
        "path = disk / 'events.ndjson'\n"
        "t = built(type='file', location=str(path), backoffSeconds=0.01, breakerSeconds=0.05, queueCapacity=5000)\n"
        "for n in range(2000): t.emit({'n': n, 'filling': 'x' * 1000})\n"
        "assert not t.flush(2.0)\n"
        "lines = path.read_bytes().split(b'\\n')\n"
        "assert lines.pop() == b'' and 0 < len(lines) < 2000\n"
        "assert [json.loads(line)['n'] for line in lines] == list(range(len(lines)))\n"
        "t.close(0.5)\n"
        "assert t.stats.sent == len(lines) and t.stats.failed == 2000 - len(lines), t.stats\n"
    )
    done = run_on_a_small_disk(script, tmp_path / "disk")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_full_disk_under_the_spool_keeps_events_in_memory_and_says_so_once(tmp_path: Path) -> None:
    script = FULL + (
        f"lake = {str(tmp_path / 'lake')!r}\n"
        "t = built(type='lake', base=lake, batchSize=100000, flushIntervalSeconds=600, spool=str(disk / 'spool'))\n"
        "for n in range(3000): t.emit({'n': n, 'filling': 'x' * 1000})\n"
        "assert 0 < t.stats.spooled < 3000 and t.stats.queued == 3000 - t.stats.spooled, t.stats\n"
        "t.close(20)\n"
        "assert t.stats.sent == 3000 and t.stats.is_whole, t.stats\n"
        "assert events(lake) == list(range(3000))\n"
    )
    done = run_on_a_small_disk(script, tmp_path / "disk")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("events wait in memory") == 1


def test_permission_denied_costs_events_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A folder below a file: refused for everybody, the superuser included."""
    (tmp_path / "lake").write_text("not a folder")
    pace = Pace(batch_size=5, flush_seconds=0.01)
    carrier = Carrier("lake", LakeSink(str(tmp_path / "lake"), "landing", LocalFiles()), pace)
    with caplog.at_level(logging.WARNING):
        for number in range(20):
            carrier.emit({"n": number})
        carrier.close(0.5)
    assert (carrier.stats.failed, carrier.stats.sent) == (20, 0)
    assert "20 failed" in caplog.text
