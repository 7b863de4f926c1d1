"""Faults: wall time of a job whose events cannot be delivered, compared with the same job without events.

The job waits for an engine and computes a little, step by step, and emits one event of 100 columns per step, as a Spark
driver does. Each fault runs at the same time as the job without events, so that a busy machine meets both;
the ratio is of the job from its first step to its last, the median of several pairs, with the settings a user gets by
default. The time of the exit is a figure of its own: there the rest is
delivered, for `shutdown_timeout` (10 s) at most, and nothing waits for a peer that is known to fail.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 250
PAIRS = 5

JOB = """
import hashlib, json, logging, sys, time
logging.getLogger("colline").setLevel(logging.CRITICAL)
from colline.config import settings_from, transport_from
given, steps, event = json.loads(sys.argv[1]), int(sys.argv[2]), sys.stdin.buffer.read()
if given and given.pop("slow", None):
    from colline.transport.filesystem import LocalFileSystem
    whole = LocalFileSystem.write_atomically
    LocalFileSystem.write_atomically = lambda *these: (time.sleep(3), whole(*these))
transport = transport_from(settings_from({"transport": given}, environ={})) if given else None
started, emitting = time.monotonic(), 0.0
for step in range(steps):
    time.sleep(0.018)
    for _ in range(200):
        hashlib.sha256(event[:4096]).digest()
    if transport is not None:
        before = time.perf_counter()
        transport.emit(event)
        emitting += time.perf_counter() - before
print(started, time.monotonic(), emitting)
"""


def event() -> bytes:
    one = {"namespace": "s3://warehouse", "name": "sales/orders", "field": "x", "transformations": [{"type": "DIRECT"}]}
    fields = {f"column_{number}": {"inputFields": [one, one]} for number in range(100)}
    return json.dumps({"outputs": [{"facets": {"columnLineage": {"fields": fields}}}]}).encode()


class Job:
    """The job in a process of its own: what it took, what its exit took, which share of it was spent inside `emit`."""

    def __init__(self, given: dict[str, Any] | None, prefix: list[str]) -> None:
        command = [*prefix, sys.executable, "-c", JOB, json.dumps(given), str(STEPS)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        printed, _ = self._process.communicate(event())
        started, ended, emitting = map(float, printed.split())
        self.seconds, self.leaving = ended - started, time.monotonic() - ended
        self.share = emitting / self.seconds

    def wait(self) -> Job:
        self._thread.join()
        return self


def pair(given: dict[str, Any] | None, prefix: list[str]) -> tuple[float, float, float]:
    """Ratio of the job with events to the job without; of the first, the share inside `emit` and the exit's seconds."""
    jobs = [Job(given, prefix), Job(None, [])]
    with_events, without = [job.wait() for job in jobs]
    return with_events.seconds / without.seconds, with_events.share, with_events.leaving


@contextmanager
def server(status: int | None) -> Iterator[str]:
    """A server that answers with a status, or never."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if status is None:
                time.sleep(600)
            self.send_response(status or 500)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    live = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    live.daemon_threads = True
    threading.Thread(target=live.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{live.server_port}"
    live.shutdown()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def faults(folder: Path) -> Iterator[tuple[str, dict[str, Any] | None, list[str]]]:
    yield "nothing wrong, lake", {"type": "lake", "base": str(folder / "well")}, []
    spooled = {"type": "lake", "base": str(folder / "spooled"), "spool": str(folder / "spool")}
    yield "nothing wrong, lake with spool", spooled, []
    yield "storage takes 3 s a file", {"type": "lake", "base": str(folder / "slow"), "slow": True}, []
    disk = folder / "disk"
    disk.mkdir()
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    mount = f'mount -t tmpfs -o size=64k none "{disk}" && exec "$@"'
    small = ["unshare", *user, "--mount", "sh", "-c", mount, "sh"]
    if subprocess.run([*small, "true"], check=False, capture_output=True).returncode == 0:
        yield "disk full", {"type": "lake", "base": str(disk)}, small
        yield "disk full under the spool", {"type": "lake", "base": str(folder / "b"), "spool": str(disk / "s")}, small
    (folder / "file").write_text("")
    yield "permission denied", {"type": "lake", "base": str(folder / "file" / "lake")}, []
    yield "name does not resolve", {"type": "http", "url": "http://no-such-host.invalid:5000"}, []
    yield "connection refused", {"type": "http", "url": f"http://127.0.0.1:{free_port()}"}, []
    with server(500) as url:
        yield "server answers 500", {"type": "http", "url": url}, []
    with server(None) as url:
        yield "server hangs", {"type": "http", "url": url}, []
    properties = {"bootstrap.servers": f"127.0.0.1:{free_port()}"}
    yield "broker away", {"type": "kafka", "topicName": "t", "properties": properties}, []


def main() -> None:
    print(f"a job of {STEPS} steps, one event of {len(event()) / 1024:.0f} KB each; wall time with / without events")
    with tempfile.TemporaryDirectory() as folder:
        for name, given, prefix in faults(Path(folder)):
            found = [pair(given, prefix) for _ in range(PAIRS)]
            ratio, share, leaving = (statistics.median(each) for each in zip(*found, strict=True))
            print(f"  {name:<32} {ratio:6.3f}   in emit {share:7.3%}   exit {leaving:4.1f} s", flush=True)


main()
