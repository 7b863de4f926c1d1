"""The http transport with a real `colline serve`: all events reach the lake, even if the server is killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from colline.config import settings_from, transport_from
from colline.transport import BatchingTransport
from tests.transport.peers import free_port


class Serving:
    """A running `colline serve` that can be killed and started again on its port."""

    def __init__(self, lake: Path) -> None:
        self.lake, self.port = lake, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        import urllib.error
        import urllib.request

        command = [
            sys.executable,
            "-m",
            "colline",
            "serve",
            "--create",
            "--lake",
            str(self.lake),
            "--port",
            str(self.port),
        ]
        self._process = subprocess.Popen([*command, "--seal-after", "1s", "--no-access-log"], stderr=subprocess.DEVNULL)
        until = time.monotonic() + 120
        while time.monotonic() < until:
            try:
                urllib.request.urlopen(f"{self.url}/healthz", timeout=2).close()
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
            else:
                return
        raise AssertionError("the server did not start")

    def end(self, how: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(how)
        self._process.wait(60)

    def valid_event_numbers(self) -> set[int]:
        """The numbers of the valid events in the landing folder, which contains invalid ones too."""
        paths = [path for path in (self.lake / "landing").rglob("*.ndjson") if not path.name.startswith(".")]
        lines = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
        return {int(line["job"]["name"]) for line in lines if "job" in line}


def event(number: int) -> dict[str, Any]:
    return {
        "eventTime": "2026-01-01T00:00:00Z",
        "eventType": "COMPLETE",
        "producer": "https://example.org/test",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"01890a5d-ac96-774b-bcce-{number:012d}"},
        "job": {"namespace": "test", "name": str(number)},
        "inputs": [],
        "outputs": [],
    }


def create(serving: Serving, **options: Any) -> BatchingTransport:
    given = {"type": "http", "url": serving.url, "compression": "gzip", "breakerSeconds": 0.2, **options}
    transport = transport_from(settings_from({"transport": given}, environ={}, folder=Path("/nonexistent")))
    assert isinstance(transport, BatchingTransport)
    return transport


@pytest.fixture
def live() -> Iterator[Callable[[Path], Serving]]:
    """Starts servers. Those that a failed test leaves running are killed at the end."""
    started: list[Serving] = []

    def start(lake: Path) -> Serving:
        started.append(Serving(lake))
        started[-1].start()
        return started[-1]

    yield start
    for serving in started:
        serving.end(signal.SIGKILL)


def test_events_reach_the_lake_and_an_invalid_one_is_counted(tmp_path: Path, live: Callable[[Path], Serving]) -> None:
    serving = live(tmp_path)
    transport = create(serving)
    for number in range(120):
        transport.emit(event(number))
    transport.emit({"no": "event"})
    transport.emit(event(120))
    transport.close(30)
    serving.end(signal.SIGTERM)
    assert (transport.stats.sent, transport.stats.failed) == (121, 1)
    assert serving.valid_event_numbers() == set(range(121))


def test_a_server_that_is_killed_and_restarted_receives_every_event(
    tmp_path: Path, live: Callable[[Path], Serving]
) -> None:
    serving = live(tmp_path / "lake")
    transport = create(serving, spool=str(tmp_path / "spool"))
    for number in range(200):
        transport.emit(event(number))
        if number == 60:
            transport.flush(10)
            serving.end(signal.SIGKILL)
        if number == 140:
            serving.start()
    transport.close(60)
    assert transport.stats.sent == 200
    serving.end(signal.SIGTERM)
    assert serving.valid_event_numbers() == set(range(200))
