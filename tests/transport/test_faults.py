"""Killed processes and full disks. `make faults N=500` sets the number of kills."""

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
from colline.transport import BatchingTransport, LocalFileSystem
from colline.transport.batching import BatchingPolicy
from colline.transport.sinks.lake_sink import LakeSink
from tests.transport.peers import http_peer

pytestmark = pytest.mark.faults

HERE = Path(__file__).parent
KILLS = int(os.environ.get("COLLINE_FAULTS", "24"))


class Victim:
    """A process that emits until it is killed.

    `accepted` maps the number of each accepted event to its time. `waiting` is the last count of undelivered events.
    """

    def __init__(self, transport: dict[str, Any], first: int, pause: float = 0.0) -> None:
        command = [sys.executable, str(HERE / "killed_emitter.py"), json.dumps(transport), str(first), str(pause)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        self.accepted: dict[int, float] = {}
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
                self.accepted[int(number)], self.waiting = float(when), int(waiting)

    def kill(self) -> float:
        """Kill the process and read the rest of its output. Returns the time of the kill."""
        now = time.time()
        self._process.send_signal(signal.SIGKILL)
        assert self._process.wait() == -signal.SIGKILL
        self._reader.join()
        return now


def kill_repeatedly(transport: dict[str, Any], kills: int) -> set[int]:
    """The numbers of all accepted events of several killed processes."""
    rng, accepted = random.Random(), set[int]()
    for _ in range(kills):
        victim = Victim(transport, first=max(accepted, default=-1) + 1)
        time.sleep(rng.uniform(0.0, 0.25))
        victim.kill()
        accepted |= victim.accepted.keys()
    return accepted


def deliver_rest(transport: dict[str, Any]) -> Any:
    """The counters of a process that adopts and delivers the remaining events."""
    last = transport_from(settings_from({"transport": transport}, environ={}))
    last.close(60)
    return last.stats


def count_landed(base: Path) -> Counter[int]:
    """How often each number is in the lake. An incomplete file or line would not parse."""
    found: Counter[int] = Counter()
    for path in base.rglob("*.ndjson"):
        if not path.name.startswith("."):
            lines = path.read_bytes().split(b"\n")
            assert lines.pop() == b""
            assert path.name.endswith(f"-{len(lines)}events.ndjson")
            found.update(json.loads(line)["n"] for line in lines)
    return found


def test_kill_9_loses_no_accepted_event_with_a_spool(tmp_path: Path) -> None:
    transport = {
        "type": "lake", "base": str(tmp_path / "lake"), "batchSize": 20, "flushIntervalSeconds": 0.05,
        "spool": str(tmp_path / "spool"), "spoolMaxBytes": 1 << 30,
    }  # fmt: skip
    accepted = kill_repeatedly(transport, max(1, KILLS * 2 // 3))
    stats = deliver_rest(transport)
    found = count_landed(tmp_path / "lake")
    assert len(accepted) > 1000
    assert accepted - found.keys() == set()
    assert (stats.spooled, stats.failed, stats.dropped) == (0, 0, 0)
    assert list((tmp_path / "spool").iterdir()) == []


def test_kill_9_loses_no_event_of_an_http_transport_with_a_spool(tmp_path: Path) -> None:
    with http_peer() as peer:
        transport = {"type": "http", "url": peer.url, "spool": str(tmp_path), "spoolMaxBytes": 1 << 30}
        accepted = kill_repeatedly(transport, max(1, KILLS // 3))
        deliver_rest(transport)
        assert len(accepted) > 100
        assert accepted - {event["n"] for event in peer.events} == set()


def test_kill_9_without_a_spool_loses_at_most_one_flush_interval(tmp_path: Path) -> None:
    interval, slack = 0.3, 2.0  # slack: a busy machine writes late
    transport = {"type": "lake", "base": str(tmp_path), "batchSize": 10_000, "flushIntervalSeconds": interval}
    first, lost = 0, 0
    for _ in range(2):
        victim = Victim(transport, first, pause=0.002)
        time.sleep(random.uniform(3.0, 4.0))
        at = victim.kill()
        missing = victim.accepted.keys() - count_landed(tmp_path).keys()
        assert all(victim.accepted[number] > at - interval - slack for number in missing)
        assert len(missing) < len(victim.accepted)
        assert len(missing) <= victim.waiting  # a file may exist before it is counted, but not vice versa
        lost += len(missing)
        first = max(victim.accepted) + 1
    assert lost > 0  # otherwise the test proves nothing


def test_two_thousand_concurrent_writers_do_not_collide(tmp_path: Path) -> None:
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
    assert count_landed(tmp_path) == Counter(range(2000))
    assert len(list(tmp_path.rglob("*.ndjson"))) == 2000


def test_a_reader_never_sees_an_incomplete_file(tmp_path: Path) -> None:
    over, sizes = threading.Event(), set[int]()

    def observe_sizes() -> None:
        while not over.is_set():
            names = [path for path in tmp_path.rglob("*.ndjson") if not path.name.startswith(".")]
            sizes.update(path.stat().st_size for path in names)

    reader = threading.Thread(target=observe_sizes)
    reader.start()
    for number in range(60):
        LocalFileSystem().write_atomically(str(tmp_path / f"{number}.ndjson"), b"x" * 2_000_000)
    over.set()
    reader.join()
    assert sizes == {2_000_000}


def run_on_a_small_disk(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the script with a file system of one megabyte that is mounted only for it."""
    folder.mkdir()
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    inside = f'mount -t tmpfs -o size=1m none "{folder}" && exec "{sys.executable}" -c "$SCRIPT" "{folder}"'
    probe = ["unshare", *user, "--mount", "sh", "-c", f'mount -t tmpfs -o size=1m none "{folder}"']
    if shutil.which("unshare") is None or subprocess.run(probe, check=False, capture_output=True).returncode:
        pytest.skip("mounting a file system is not allowed on this machine")
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


def test_a_full_disk_of_the_lake_delays_events_and_leaves_no_incomplete_file(tmp_path: Path) -> None:
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
        "assert t.stats.sent == 100 and t.stats.is_lossless\n"
    )
    done = run_on_a_small_disk(script, tmp_path / "disk")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("circuit open for") == 1
    assert "No space left on device" in done.stdout


def test_a_full_disk_leaves_only_complete_lines_in_a_file(tmp_path: Path) -> None:
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


def test_a_full_disk_of_the_spool_keeps_events_in_memory_and_is_logged_once(tmp_path: Path) -> None:
    script = FULL + (
        f"lake = {str(tmp_path / 'lake')!r}\n"
        "t = built(type='lake', base=lake, batchSize=100000, flushIntervalSeconds=600, spool=str(disk / 'spool'))\n"
        "for n in range(3000): t.emit({'n': n, 'filling': 'x' * 1000})\n"
        "assert 0 < t.stats.spooled < 3000 and t.stats.queued == 3000 - t.stats.spooled, t.stats\n"
        "t.close(20)\n"
        "assert t.stats.sent == 3000 and t.stats.is_lossless, t.stats\n"
        "assert events(lake) == list(range(3000))\n"
    )
    done = run_on_a_small_disk(script, tmp_path / "disk")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("events wait in memory") == 1


def test_a_destination_that_cannot_be_written_only_loses_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A folder below a file cannot be created, not even by the superuser."""
    (tmp_path / "lake").write_text("not a folder")
    policy = BatchingPolicy(batch_size=5, flush_seconds=0.01)
    transport = BatchingTransport("lake", LakeSink(str(tmp_path / "lake"), "landing", LocalFileSystem()), policy)
    with caplog.at_level(logging.WARNING):
        for number in range(20):
            transport.emit({"n": number})
        transport.close(0.5)
    assert (transport.stats.failed, transport.stats.sent) == (20, 0)
    assert "20 failed" in caplog.text
