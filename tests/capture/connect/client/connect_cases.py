"""Lineage cases over Spark Connect: a client's plan is recorded, resolved over stub tables, and traced."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from colline.capture.analyze import tracing_context
from colline.capture.connect.client.call_lineage import CallLineage, Resolver
from colline.capture.connect.client.described_tables import DescribedTables
from colline.capture.connect.client.plan_recorder import PlanRecorder, RecordedRequest
from colline.capture.connect.client.recorded_calls import CallQueue, RecordedCall
from colline.capture.connect.client.remote_capture import remote_names, remote_session
from colline.capture.connect.client.request_hooks import RequestHooks
from colline.capture.connect.client.session_definitions import SessionDefinitions
from colline.capture.error_boundary import ErrorBoundary
from colline.plan import Plan
from colline.plan.decode import decode
from colline.trace import Context
from tests.trace.cases import Case
from tests.trace.live import opened_case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# an API of the classic session that Connect does not have
NOT_IN_CONNECT = ("java(", "sparkContext", "_jvm", "PlanWriter", ".rdd")


class ConnectCases:
    """Analyzes cases in one session. Requests of their code are recorded at once, without threads."""

    def __init__(self, spark: SparkSession, resolver: Resolver) -> None:
        session = remote_session(spark)
        names = remote_names(session)
        catalogs = ("ice", "shop")
        definitions = SessionDefinitions(("spark_catalog", "default"), catalogs, session.conf)
        self.context: Context = tracing_context(names)
        self.spark = spark
        self._calls = CallQueue()
        self._requests: dict[int, RecordedRequest] = {}
        self._recorder = PlanRecorder(DescribedTables(session.server, session.conf), definitions, names)
        self._lineage = CallLineage(resolver, self._recorder, decode, ErrorBoundary())  # type: ignore[arg-type]

    def plan_of(self, case: Case) -> Plan:
        """The analyzed plan of a case; fails if it is not resolved."""
        with self._recording(), _connect_functions(), opened_case(case, self.spark) as query:
            columns = () if isinstance(query, str) else tuple(query.columns)
            plan = _sql_plan(query) if isinstance(query, str) else query._plan.to_proto(self.spark.client)
            call = RecordedCall(0, plan, 0, (), 0, result_columns=columns)
            found = self._lineage.final_fields(call, self._recorder.record(plan))["plan"]
        assert isinstance(found, Plan), [step.why for step in found.opaque] or "a statement without lineage"
        return found

    def on_start(self, request: Any) -> RecordedCall:
        call = RecordedCall(len(self._requests), request.plan, 0, (), 0)
        self._requests[call.number] = self._recorder.record(request.plan)
        return call

    def on_response(self, call: RecordedCall, response: Any) -> None:
        self._calls.on_response(call, response)

    def on_end(self, call: RecordedCall, error: BaseException | None) -> None:
        if error is None:
            self._recorder.finish(self._requests[call.number], call.results)

    @contextmanager
    def _recording(self) -> Iterator[None]:
        hooks = RequestHooks(self.spark.client, self, ErrorBoundary())
        try:
            yield
        finally:
            hooks.remove()


@contextmanager
def _connect_functions() -> Iterator[None]:
    """Let `pyspark.sql.functions` create columns of Connect."""
    name = "SPARK_CONNECT_MODE_ENABLED"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _sql_plan(text: str) -> Any:
    from pyspark.sql.connect.proto import base_pb2

    plan = base_pb2.Plan()
    command = plan.command.sql_command
    if "input" in command.DESCRIPTOR.fields_by_name:
        command.input.sql.query = text
    else:  # a client of Spark 3.5
        command.sql = text
    return plan
