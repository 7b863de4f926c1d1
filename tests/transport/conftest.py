"""Servers that the tests of this package share."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.transport.peers import Broker, java, kafka_jars


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A live Apache Kafka broker."""
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
