"""Asks a Spark Connect server for what a plan refers to: schemas, locations, settings.

The requests are sent to the server directly, with a time limit, so that they are neither captured nor retried. A server
that does not answer is left alone for a while.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from time import monotonic
from typing import Any

from colline.capture.connect.proto_walk import Message
from colline.errors import CollineError

REQUEST_SECONDS = 30.0
_MAX_TIMEOUTS = 2
_PAUSE_SECONDS = 60.0


class ServerRequestError(CollineError):
    """The server did not answer a request of colline, or refused it. `is_timeout` if it did not answer."""

    def __init__(self, message: str, *, is_timeout: bool = False) -> None:
        super().__init__(message)
        self.is_timeout = is_timeout


class ServerMetadata:
    """Requests to the server of one client, in the client's own session."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._timeouts = 0
        self._paused_until = 0.0
        self._lock = threading.Lock()

    def schema_json(self, relation: Message) -> str:
        """The JSON of a relation's schema. The server analyzes the relation and does not execute it."""
        from pyspark.sql.connect.types import proto_schema_to_pyspark_data_type

        request = self._client._analyze_plan_request_with_metadata()
        request.schema.plan.root.CopyFrom(relation)
        reply = self._send(lambda stub, **options: stub.AnalyzePlan(request, **options))
        found: str = proto_schema_to_pyspark_data_type(reply.schema.schema).json()
        return found

    def spark_version(self) -> str:
        """The version of the server's Spark."""
        request = self._client._analyze_plan_request_with_metadata()
        request.spark_version.SetInParent()
        reply = self._send(lambda stub, **options: stub.AnalyzePlan(request, **options))
        return str(reply.spark_version.version)

    def settings(self) -> dict[str, str]:
        """The Spark properties of the session."""
        request = self._client._config_request_with_metadata()
        request.operation.get_all.SetInParent()
        reply = self._send(lambda stub, **options: stub.Config(request, **options))
        return {pair.key: pair.value for pair in reply.pairs}

    def query_rows(self, sql: str) -> list[dict[str, Any]]:
        """The rows of a small query."""
        from pyspark.sql.connect.proto import relations_pb2

        return self._rows(relations_pb2.Relation(sql=relations_pb2.SQL(query=sql)))

    def command_rows(self, sql: str) -> list[dict[str, Any]]:
        """The rows of a command such as DESCRIBE, which come with the reply."""
        request = self._client._execute_plan_request_with_metadata()
        request.plan.command.sql_command.sql = sql
        field = request.plan.command.sql_command.DESCRIPTOR.fields_by_name.get("input")
        if field is not None:  # since Spark 4.0 the text is a relation
            request.plan.command.sql_command.Clear()
            request.plan.command.sql_command.input.sql.query = sql
        for reply in self._execute(request):
            if reply.HasField("sql_command_result"):
                relation = reply.sql_command_result.relation
                if relation.HasField("local_relation"):
                    return _arrow_rows(relation.local_relation.data)
                return self._rows(relation)
        return []

    def stream_is_active(self, query: Message) -> bool:
        """Whether a streaming query still runs."""
        result = self._stream_command(query, "status")
        return bool(result.status.is_active) if result is not None else False

    def stream_error(self, query: Message) -> str:
        """Why a streaming query has failed; empty if it has not."""
        result = self._stream_command(query, "exception")
        return str(result.exception.exception_message) if result is not None else ""

    def _stream_command(self, query: Message, name: str) -> Any:
        request = self._client._execute_plan_request_with_metadata()
        command = request.plan.command.streaming_query_command
        command.query_id.CopyFrom(query)
        setattr(command, name, True)
        results = (each for each in self._execute(request) if each.HasField("streaming_query_command_result"))
        found = next(results, None)
        return found.streaming_query_command_result if found is not None else None

    def _rows(self, relation: Message) -> list[dict[str, Any]]:
        request = self._client._execute_plan_request_with_metadata()
        request.plan.root.CopyFrom(relation)
        found: list[dict[str, Any]] = []
        for reply in self._execute(request):
            if reply.HasField("arrow_batch"):
                found += _arrow_rows(reply.arrow_batch.data)
        return found

    def _execute(self, request: Any) -> list[Any]:
        del request.tags[:]  # the tags of the current thread are for the user's requests
        del request.request_options[:]
        return self._send(lambda stub, **options: list(stub.ExecutePlan(request, **options)))  # type: ignore[no-any-return]

    def _send(self, call: Any) -> Any:
        from grpc import RpcError, StatusCode

        with self._lock:
            if monotonic() < self._paused_until:
                raise ServerRequestError("the server did not answer earlier requests", is_timeout=True)
        try:
            metadata = self._client._builder.metadata()
            found = call(self._client._stub, metadata=metadata, timeout=REQUEST_SECONDS)
        except (RpcError, ValueError) as error:  # a channel that the user has closed raises ValueError
            code = error.code() if hasattr(error, "code") else None
            is_timeout = code in (StatusCode.DEADLINE_EXCEEDED, StatusCode.UNAVAILABLE)
            self._note(is_timeout=is_timeout)
            raise ServerRequestError(_first_line(error), is_timeout=is_timeout) from error
        self._note(is_timeout=False)
        return found

    def _note(self, *, is_timeout: bool) -> None:
        with self._lock:
            self._timeouts = self._timeouts + 1 if is_timeout else 0
            if self._timeouts >= _MAX_TIMEOUTS:
                self._timeouts, self._paused_until = 0, monotonic() + _PAUSE_SECONDS


def _arrow_rows(data: bytes) -> list[dict[str, Any]]:
    return [row for batch in _batches(data) for row in batch.to_pylist()]


def _batches(data: bytes) -> Iterator[Any]:
    import pyarrow as pa

    with pa.ipc.open_stream(data) as reader:
        yield from reader


def _first_line(error: Any) -> str:
    details = error.details() if hasattr(error, "details") else ""
    lines = str(details or error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__
