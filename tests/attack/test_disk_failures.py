"""Disks that are full or read-only, and folders that disappear, under a running server.

The disk is a real file system in a mount namespace of its own, which needs no privileges.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.attack.table import Attack, times
from tests.server.serving import Server, event, serving

pytestmark = pytest.mark.attack
LINEAGE = "/api/v1/lineage"


def own_disk(folder: Path, size: str) -> tuple[str, ...]:
    """The start of a command that sees an empty disk of this size at the folder."""
    folder.mkdir()
    script = f'mount -t tmpfs -o size={size} tmpfs "{folder}" && exec "$0" "$@"'
    return ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script)


def inside(server: Server) -> Path:
    """The lake as the server sees it."""
    return Path(f"/proc/{server.process.pid}/root{server.lake}")


def jobs_on_disk(lake: Path) -> set[str]:
    """The job names of all events in landing and in the spool."""
    lines: list[bytes] = []
    for pattern in ("_server/spool/*.open", "landing/*/*.ndjson"):  # in the order in which a file moves
        for file in lake.glob(pattern):
            with suppress(FileNotFoundError):
                lines += file.read_bytes().splitlines()
    return {json.loads(line)["job"]["name"] for line in lines}


def statuses_of(server: Server, jobs: list[str]) -> dict[str, int]:
    """Post an event of 20 KB per job; the status of each."""
    return {job: server.client.post(LINEAGE, json=event(job, bulk="x" * 20_000)).status_code for job in jobs}


def accepted_jobs(statuses: dict[str, int]) -> set[str]:
    return {job for job, status in statuses.items() if status == 201}


def test_full_disk(tmp_path: Path, attack: Attack) -> None:
    disk = tmp_path / "disk"
    options = ("--seal-after", "0.2s", "--no-access-log")
    accepted: set[str] = set()
    with (
        serving(disk / "lake", *options, prefix=own_disk(disk, "4m")) as server,
        attack("a disk that is full and then has space again", server) as row,
    ):
        for number in range(times(3, 30)):
            filling = inside(server).parent / "filling"
            with filling.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, os.statvfs(filling.parent).f_bavail * 4096 - 50_000)
            full = statuses_of(server, [f"full_{number}_{i}" for i in range(6)])
            is_refused = set(full.values()) == {201, 507} and server.client.get("/healthz").status_code == 200
            row.count(is_refused, f"full: {full}")
            filling.unlink()
            free = statuses_of(server, [f"free_{number}"])
            is_ready = server.client.get("/readyz").status_code == 200
            row.count(set(free.values()) == {201} and is_ready, f"with space again: {free}")
            accepted |= accepted_jobs(full) | accepted_jobs(free)
        row.lost = len(accepted - jobs_on_disk(inside(server)))


def test_read_only_disk(tmp_path: Path, attack: Attack) -> None:
    disk = tmp_path / "disk"
    accepted: set[str] = set()
    with (
        serving(disk / "lake", "--seal-after", "0.2s", "--no-access-log", prefix=own_disk(disk, "16m")) as server,
        attack("a disk that becomes read-only and writable again", server) as row,
    ):
        namespace = ("nsenter", f"--target={server.process.pid}", "--user", "--mount", "--preserve-credentials")
        for number in range(times(3, 30)):
            before = statuses_of(server, [f"before_{number}"])
            time.sleep(0.5)  # the open file is in landing, so that nothing keeps the disk writable
            subprocess.run([*namespace, "mount", "-o", "remount,ro", str(disk)], check=True)
            refused = statuses_of(server, [f"refused_{number}"])
            state = server.client.get("/readyz").status_code
            row.count(set(refused.values()) == {503} and state == 503, f"read-only: {refused}, {state}")
            subprocess.run([*namespace, "mount", "-o", "remount,rw", str(disk)], check=True)
            after = statuses_of(server, [f"after_{number}"])
            state = server.client.get("/readyz").status_code
            row.count(set(after.values()) == {201} and state == 200, f"writable again: {after}, {state}")
            accepted |= accepted_jobs(before) | accepted_jobs(after)
        row.lost = len(accepted - jobs_on_disk(inside(server)))


@pytest.mark.parametrize("removed", [".", "_server", "_server/spool", "landing"])
def test_deleted_folder(tmp_path: Path, attack: Attack, removed: str) -> None:
    name = "the lake" if removed == "." else removed
    with serving(tmp_path / "lake", "--no-access-log") as server, attack(f"{name} deleted under load", server) as row:
        for _ in range(times(2, 20)):
            statuses: dict[str, int] = {}
            stop = threading.Event()
            clients = [threading.Thread(target=_post_until, args=(server, n, statuses, stop)) for n in range(4)]
            for client in clients:
                client.start()
            time.sleep(0.1)
            shutil.rmtree(server.lake / removed, ignore_errors=True)
            deleted_at = len(statuses)
            while len(statuses) < deleted_at + 40:
                time.sleep(0.01)
            stop.set()
            for client in clients:
                client.join()
            row.count(set(statuses.values()) <= {201, 503}, statuses)
            # the next answer of each client may be to a request from before the deletion
            late = list(statuses.items())[deleted_at:]
            in_flight = {job.partition("_")[0]: job for job, _ in reversed(late)}
            accepted = accepted_jobs(dict(late)) - set(in_flight.values())
            row.lost += len(accepted - jobs_on_disk(server.lake))


def _post_until(server: Server, client: int, statuses: dict[str, int], stop: threading.Event) -> None:
    """Post events of one client; each status is noted under the name of its job, in the order of the answers."""
    with httpx.Client(base_url=server.address, timeout=30) as http:
        number = 0
        while not stop.is_set():
            job = f"{client}_{number}_{time.monotonic()}"
            statuses[job] = http.post(LINEAGE, json=event(job)).status_code
            number += 1
