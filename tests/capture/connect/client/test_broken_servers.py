"""With a server that hangs, drops the session or uses another protocol, a request ends as it does without colline."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import grpc
import pytest

import colline
from colline.capture.connect.client import server_metadata
from colline.capture.watch import Watch
from tests.capture.captured_events import query_events, run_states
from tests.capture.connect.grpc_proxy import Fault, GrpcProxy, grpc_proxy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

UNKNOWN_FIELD = b"\xfa\xf0\x04\x03new"  # field 9999, which no version has
Outcome = tuple[str, str]


@pytest.fixture
def proxy(server_address: str, remote: SparkSession) -> Iterator[tuple[GrpcProxy, SparkSession]]:
    """A client session that reaches the server through a proxy, and the proxy."""
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    with grpc_proxy(server_address) as (found, address):
        session = ConnectSession.builder.remote(address).create()
        session.client.set_retry_policies([])
        yield found, session
        found.faults.clear()
        session.client.close()


def outcome(action: Callable[[], Any]) -> Outcome:
    """What the caller sees: the value, or the class and text of the error."""
    try:
        return "value", repr(action())
    except Exception as error:  # noqa: BLE001 - the outcome is compared
        return type(error).__name__, str(error)


def count_orders(session: SparkSession) -> Any:
    return session.table("orders").where("id >= 0").count()


def with_unknown_field(_request: bytes, forward: Any, _context: Any) -> Iterator[bytes]:
    for response in forward(_request):
        yield response + UNKNOWN_FIELD


def refuse(code: grpc.StatusCode) -> Fault:
    def answer(_request: bytes, _forward: Any, context: grpc.ServicerContext) -> Iterator[bytes]:
        context.abort(code, "refused by the test")
        yield b""

    return answer


def answer_with(content: bytes) -> Fault:
    def answer(_request: bytes, _forward: Any, _context: Any) -> Iterator[bytes]:
        yield content

    return answer


FAULTS: dict[str, dict[str, Fault]] = {
    "unknown fields": {"ExecutePlan": with_unknown_field, "AnalyzePlan": with_unknown_field},
    "a schema that is refused": {"AnalyzePlan": refuse(grpc.StatusCode.PERMISSION_DENIED)},
    "a method that does not exist": {"AnalyzePlan": refuse(grpc.StatusCode.UNIMPLEMENTED)},
    "bytes that are not a message": {"AnalyzePlan": answer_with(b"\xff\xff\xff")},
    "an empty message": {"AnalyzePlan": answer_with(b"")},
    "queries that fail": {"ExecutePlan": refuse(grpc.StatusCode.INTERNAL)},
    "results that are not a message": {"ExecutePlan": answer_with(b"\xff\xff\xff")},
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_request_ends_as_without_capture(proxy: tuple[GrpcProxy, SparkSession], name: str) -> None:
    through, session = proxy
    count_orders(session)
    through.faults.update(FAULTS[name])
    expected = outcome(lambda: count_orders(session))
    through.faults.clear()
    watch = colline.attach(session, transport={"type": "memory"}, namespace="tests")
    assert isinstance(watch, Watch)
    through.faults.update(FAULTS[name])
    assert outcome(lambda: count_orders(session)) == expected
    assert watch.flush(400)
    states = [states for _, states in run_states(watch.events)]
    assert states in ([["START", "COMPLETE" if expected[0] == "value" else "FAIL"]],)
    watch.detach()


def test_a_server_that_does_not_answer_colline_does_not_delay_the_user(
    proxy: tuple[GrpcProxy, SparkSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    through, session = proxy
    expected = count_orders(session)
    monkeypatch.setattr(server_metadata, "REQUEST_SECONDS", 1.0)
    watch = colline.attach(session, transport={"type": "memory"}, namespace="tests")
    assert isinstance(watch, Watch)
    released = threading.Event()

    def hang(request: bytes, forward: Any, _context: Any) -> Iterator[bytes]:
        released.wait(60)
        yield from forward(request)

    through.faults["AnalyzePlan"] = hang
    for _ in range(3):
        assert count_orders(session) == expected
    assert not released.is_set()
    assert watch.flush(60)
    assert through.requests.count("AnalyzePlan") <= 4  # the server is left alone after two time-outs
    for event in query_events(watch.events):
        if event["eventType"] == "COMPLETE":
            assert event["run"]["facets"]["colline_opaque"]["steps"]
    released.set()
    watch.detach()


def test_a_query_on_a_server_that_hangs_can_be_interrupted(proxy: tuple[GrpcProxy, SparkSession]) -> None:
    through, session = proxy
    watch = colline.attach(session, transport={"type": "memory"}, namespace="tests")
    assert isinstance(watch, Watch)
    is_running = threading.Event()

    def hang(_request: bytes, _forward: Any, context: grpc.ServicerContext) -> Iterator[bytes]:
        is_running.set()
        while context.is_active():
            threading.Event().wait(0.05)
        yield b""

    through.faults["ExecutePlan"] = hang
    results: list[Outcome] = []
    thread = threading.Thread(target=lambda: results.append(outcome(lambda: count_orders(session))))
    thread.start()
    assert is_running.wait(30)
    session.client._channel.close()
    thread.join(60)
    assert results
    assert results[0][0] != "value"
    watch.detach()
    assert [states[-1] for _, states in run_states(watch.events)] in (["FAIL"], ["ABORT"])


def test_a_session_that_the_server_dropped(proxy: tuple[GrpcProxy, SparkSession]) -> None:
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    _, session = proxy

    def outcomes(*, is_captured: bool) -> list[Outcome]:
        own = ConnectSession.builder.remote(f"sc://{session.client._builder.endpoint}").create()
        own.client.set_retry_policies([])
        watch = colline.attach(own, transport={"type": "memory"}) if is_captured else None
        count_orders(own)
        own.client.release_session()
        found = [outcome(lambda: count_orders(own)), outcome(lambda: own.table("orders").schema)]
        if watch is not None:
            watch.detach()
        own.client.close()
        return [(kind, text.replace(own.client._session_id, "ID").split("\n")[0]) for kind, text in found]

    assert outcomes(is_captured=True) == outcomes(is_captured=False)


def test_a_plan_of_a_newer_protocol(proxy: tuple[GrpcProxy, SparkSession]) -> None:
    _, session = proxy
    plan = session.table("orders")._plan.to_proto(session.client)
    plan.root.Clear()
    plan.root.MergeFromString(UNKNOWN_FIELD)
    expected = outcome(lambda: session.client.to_table(plan, {}))
    watch = colline.attach(session, transport={"type": "memory"}, namespace="tests")
    assert isinstance(watch, Watch)
    assert outcome(lambda: session.client.to_table(plan, {})) == expected
    watch.detach()
    assert watch.stats.failures == 0
