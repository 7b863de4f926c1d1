"""Fixtures of the attacks: a server to attack, and a function that starts a row of the closing table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.attack.table import Attack, Recorder, row
from tests.server.serving import Server, serving


@pytest.fixture
def attack(record_property: Recorder) -> Attack:
    return partial(row, record_property)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "lake", "--body-timeout", "5s", "--seal-after", "0.2s", "--no-access-log") as running:
        yield running
