"""What a watch on a client keeps does not grow with the number of calls."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from colline.capture.connect.client.call_lineage import CallLineage
from colline.capture.connect.client.client_listener import ClientListener
from colline.capture.connect.client.described_tables import DescribedTables
from colline.capture.connect.client.plan_recorder import PlanRecorder
from colline.capture.connect.client.remote_streams import RemoteStreams
from colline.capture.connect.client.server_metadata import ServerRequestError
from colline.capture.connect.client.session_definitions import SessionDefinitions
from colline.capture.error_boundary import ErrorBoundary
from colline.capture.runs.application import Application
from colline.capture.runs.run_tracker import RunTracker
from colline.capture.watch import Watch
from colline.events.event_context import Engine, RunName
from colline.events.run_ids import run_id
from colline.naming.dataset import NameContext
from tests.capture.captured_events import Nowhere

CALLS = 10_000


class NoServer:
    """Answers no request."""

    def schema_json(self, relation: Any) -> str:
        raise ServerRequestError("no server")

    def command_rows(self, sql: str) -> list[dict[str, Any]]:
        raise ServerRequestError("no server")


class Client:
    """The two methods of a client that execute plans."""

    def _execute(self, request: Any) -> None:
        pass

    def _execute_and_fetch_as_iterator(self, request: Any) -> Iterator[Any]:
        yield {"metrics": 1}


@pytest.fixture
def client() -> Iterator[tuple[Client, Watch]]:
    client, server, errors, names = Client(), NoServer(), ErrorBoundary(), NameContext(warehouse="file:/warehouse")
    session = SessionDefinitions(("spark_catalog", "default"), (), {})
    recorder = PlanRecorder(DescribedTables(server), session, names)  # type: ignore[arg-type]
    lineage = CallLineage("there is no resolver", recorder, lambda _: pytest.fail("no plan is resolved"), errors)
    listener = ClientListener(client, recorder, RemoteStreams(server), lineage, errors)  # type: ignore[arg-type]
    application = Application(run=RunName("tests", "memory", run_id()), engine=Engine("4.1"), names=names)
    tracker = RunTracker(application, analyze=lambda found: found)  # type: ignore[arg-type, return-value]
    watch = Watch(listener, Nowhere(), tracker)  # type: ignore[arg-type]
    yield client, watch
    watch.detach()


def make_calls(client: Client, numbers: range) -> None:
    """Calls with plans that all differ: a view that replaces another one, a write from a view, a query."""
    from pyspark.sql.connect.proto import base_pb2

    for number in numbers:
        request = base_pb2.ExecutePlanRequest()
        command = request.plan.command
        if number % 3 == 0:
            command.create_dataframe_view.name, command.create_dataframe_view.replace = f"v{number % 30}", True
            command.create_dataframe_view.input.sql.query = f"select a + {number} as a from t{number % 900}"
            client._execute(request)
            continue
        if number % 3 == 1:
            command.write_operation.input.read.named_table.unparsed_identifier = f"v{number % 30}"
            command.write_operation.source, command.write_operation.path = "parquet", f"/out/{number % 900}"
        else:
            request.plan.root.filter.input.read.named_table.unparsed_identifier = f"t{number % 900}"
            request.plan.root.filter.condition.expression_string.expression = f"a > {number}"
        list(client._execute_and_fetch_as_iterator(request))


def kept_objects(watch: Watch) -> int:
    assert watch.flush(120)
    gc.collect()
    return len(gc.get_objects())


def test_memory_is_flat_over_many_calls(client: tuple[Client, Watch], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    calls, watch = client
    first, step = CALLS // 2, 500
    for start in range(0, first, step):  # bounded memories are full then
        make_calls(calls, range(start, start + step))
        assert watch.flush(120)
    before = kept_objects(watch)
    for start in range(first, CALLS, step):
        make_calls(calls, range(start, start + step))
        assert watch.flush(120)
    after = kept_objects(watch)
    assert watch.stats.failures == 0
    assert watch.stats.listener == {"accepted": CALLS, "discarded": 0}
    assert after - before < (CALLS - first) // 10
