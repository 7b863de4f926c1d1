"""Bits of the snapshot are flipped and files are truncated while a server runs: no answer is wrong, none is lost."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from colline.graph.snapshot.publish import publish
from tests.graph.graph_lakes import shop
from tests.server.serving import Server, event, serving

QUESTION = "/api/v1/upstream?column=kpi.revenue"
Damage = Callable[[Path, random.Random], None]


def flip_bits(path: Path, places: random.Random) -> None:
    with path.open("r+b") as file:
        for _ in range(20):
            file.seek(places.randrange(path.stat().st_size))
            byte = file.read(1)[0]
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte ^ 1 << places.randrange(8)]))


def truncate(path: Path, places: random.Random) -> None:
    os.truncate(path, places.randrange(path.stat().st_size))


def delete(path: Path, _: random.Random) -> None:
    path.unlink()


def current(lake: Path) -> Path:
    return lake / "snapshot" / (lake / "snapshot" / "CURRENT").read_text()


def answer(server: Server) -> tuple[int, Any]:
    """The status and the part of the answer that does not depend on the snapshot's name."""
    response = server.client.get(QUESTION)
    return response.status_code, response.json().get("totals")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = shop().write(tmp_path_factory.mktemp("damaged") / "lake")
    publish(path)
    return path


@pytest.fixture(scope="module")
def server(lake: Path) -> Iterator[Server]:
    with serving(lake, "--no-access-log") as running:
        yield running


@pytest.mark.parametrize(
    ("damage", "name"),
    [
        (flip_bits, "arrays"),
        (flip_bits, "meta.json"),
        (truncate, "arrays"),
        (truncate, "checksums.json"),
        (truncate, "../CURRENT"),
        (delete, "arrays"),
        (delete, "../CURRENT"),
    ],
)
def test_server_answers_correctly_and_publishes_again(lake: Path, server: Server, damage: Damage, name: str) -> None:
    good = answer(server)
    assert good[0] == 200
    damage(current(lake) / name, random.Random(7))
    assert answer(server) == good
    newest = publish(lake)
    damage(newest.path / name, random.Random(8))
    deadline = time.monotonic() + 60
    while not (ready := server.client.get("/readyz")).json()["lineage"]:
        assert ready.status_code == 200  # events are received all the time
        assert answer(server) == good
        assert time.monotonic() < deadline, "no snapshot was published again"
        time.sleep(0.2)
    assert answer(server) == good
    assert server.client.post("/api/v1/lineage", json=event()).status_code == 201
    assert current(lake).is_dir()


def test_damage_that_cannot_be_repaired_is_one_clear_error(lake: Path, tmp_path: Path) -> None:
    alone = tmp_path / "lake"
    shutil.copytree(lake / "snapshot", alone / "snapshot")
    with serving(alone, "--no-access-log") as server:
        assert answer(server)[0] == 200
        flip_bits(current(alone) / "arrays", random.Random(9))
        response = server.client.get(QUESTION)
        assert (response.status_code, response.json()["code"]) == (503, "no_lineage")
        assert "is damaged" in response.json()["error"]
        assert "colline ingest" in response.json()["hint"]
        state = server.client.get("/readyz")
        assert (state.status_code, state.json()) == (200, {"ready": True, "receiver": True, "lineage": False})
        assert server.client.get("/api/v1/status").status_code == 200
