"""A server in another process, a client of it, and a watch on the client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import colline
from colline.capture.connect.resolver.resolver_client import SharedResolver, why_unavailable
from colline.capture.watch import Watch
from tests.capture.connect.remote_server import home_python, remote_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def server_address() -> Iterator[str]:
    if home_python() is None and (reason := why_unavailable()):
        pytest.skip(reason)
    user = SharedResolver()  # so that the watches of all tests share one resolver
    with remote_server() as address:
        yield address
    user.close()


@pytest.fixture(scope="module")
def remote(server_address: str) -> Iterator[SparkSession]:
    """A client session with two tables."""
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    session = ConnectSession.builder.remote(server_address).create()
    session.sql("create table if not exists orders (id int, region string, amount double) using delta")
    session.sql("create table if not exists customers (id int, email string) using parquet")
    yield session
    session.stop()


@pytest.fixture
def client_watch(remote: SparkSession) -> Iterator[Watch]:
    attached = colline.attach(remote, transport={"type": "memory"}, namespace="tests")
    assert isinstance(attached, Watch)
    yield attached
    attached.detach()
