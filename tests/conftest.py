"""One Spark session for the whole run, with Delta, so that a test pays for its own work only."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.sessions import HAS_DELTA, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from serving import Server


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


@pytest.fixture(scope="session")
def stormed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """A lake whose server was killed again and again, and the runs it had answered for."""
    from storm import storm

    lake = tmp_path_factory.mktemp("stormed") / "lake"
    with ThreadPoolExecutor(1) as thread:  # a browser may have an event loop in this one
        return lake, thread.submit(asyncio.run, storm(lake)).result()


@pytest.fixture(scope="session")
def ingested(stormed: tuple[Path, set[str]]) -> Iterator[Server]:
    """A server on a lake of real events of many kinds that came through the receiver and the pipeline."""
    from sending import ingesting

    with ingesting(stormed[0]) as server:
        yield server
