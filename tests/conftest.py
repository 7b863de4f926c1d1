"""One Spark session for the whole run, with Delta, so that a test pays for its own work only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.sessions import HAS_DELTA, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked `delta` are skipped, with the reason, where this Spark has no Delta."""
    for item in items:
        if not HAS_DELTA and item.get_closest_marker("delta"):
            item.add_marker(pytest.mark.skip(reason="no Delta is published for this Spark"))


@pytest.fixture(scope="session")
def browser_program() -> Path:
    """The browser's program. Where there is none: a failure in CI, a skip with its reason elsewhere."""
    from colline.machine.browser import installed_browser

    found = installed_browser()
    if found is None:
        reason = "no browser on this computer; hint: `make browser` brings one, or set COLLINE_BROWSER to its program"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return found


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A live local session on real Delta (without it where none is published for this Spark)."""
    started = session(tmp_path_factory.mktemp("spark"))
    yield started
    started.stop()
