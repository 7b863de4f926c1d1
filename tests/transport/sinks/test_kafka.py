"""The kafka transport with a real Apache Kafka broker, which is killed and restarted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from colline.config import settings_from, transport_from
from colline.transport import BatchingTransport
from colline.transport.sinks.kafka import message_key
from tests.transport.peers import Broker, free_port


def create(address: str, topic: str, **options: Any) -> BatchingTransport:
    properties = {"bootstrap.servers": address, "log_level": "0"}
    given = {"type": "kafka", "topicName": topic, "properties": properties, "backoffSeconds": 0.01, **options}
    transport = transport_from(settings_from({"transport": given}, environ={}, folder=Path("/nonexistent")))
    assert isinstance(transport, BatchingTransport)
    return transport


def event(name: str, number: int) -> dict[str, Any]:
    return {"run": {"runId": "r"}, "job": {"namespace": "ns", "name": name}, "n": number}


def test_messages_have_the_job_as_key_and_stay_in_order(broker: Broker) -> None:
    topic = os.urandom(6).hex()
    transport = create(broker.address, topic)
    for number in range(60):
        transport.emit(event(f"job{number % 3}", number))
    transport.close(20)
    assert transport.stats.sent == 60
    found = broker.read(topic, 60)
    for job in ("job0", "job1", "job2"):
        mine = [each["n"] for key, each in found if key == f"run:ns/{job}"]
        assert mine == sorted(mine)
        assert len(mine) == 20


def test_an_event_that_is_too_large_is_counted_and_the_others_are_delivered(broker: Broker) -> None:
    topic = os.urandom(6).hex()
    transport = create(broker.address, topic)
    transport.emit(event("a", 1))
    transport.emit({"job": {"namespace": "ns", "name": "b"}, "text": "x" * 500_000})
    transport.emit({"job": {"namespace": "ns", "name": "b"}, "text": "x" * 5_000_000})
    transport.emit(event("c", 2))
    transport.close(20)
    assert (transport.stats.sent, transport.stats.failed) == (2, 2)
    assert sorted(each["n"] for _, each in broker.read(topic, 2)) == [1, 2]


def test_a_broker_that_is_killed_and_restarted_receives_every_event(broker: Broker, tmp_path: Path) -> None:
    topic = os.urandom(6).hex()
    transport = create(broker.address, topic, timeout=2, breakerSeconds=0.2, spool=str(tmp_path))
    for number in range(20):
        transport.emit(event("a", number))
    assert transport.flush(20)
    broker.kill()
    for number in range(20, 40):
        transport.emit(event("a", number))
    assert transport.flush(1) is False
    assert transport.stats.spooled == 20
    broker.start()
    transport.close(60)
    assert transport.stats.sent == 40
    assert {each["n"] for _, each in broker.read(topic, 40)} == set(range(40))


def test_the_mock_cluster_of_the_client_confirms_every_event() -> None:
    """Needs neither Java nor a network."""
    given = {"type": "kafka", "topicName": "t", "properties": {"test.mock.num.brokers": "1", "log_level": "0"}}
    transport = transport_from(settings_from({"transport": given}, environ={}, folder=Path("/nonexistent")))
    for number in range(100):
        transport.emit(event("a", number))
    transport.close(30)
    assert (transport.stats.sent, transport.stats.failed) == (100, 0)


def test_events_are_counted_as_failed_without_a_broker() -> None:
    transport = create(f"127.0.0.1:{free_port()}", "t", timeout=0.5)
    transport.emit(event("a", 1))
    transport.close(2)
    assert (transport.stats.sent, transport.stats.failed) == (0, 1)


OWN, PARENT, ROOT = ({"namespace": name, "name": "job"} for name in ("own", "parent", "root"))
KEYS = [
    ({"run": {}, "job": OWN}, "run:own/job"),
    ({"run": {"facets": {"parent": {"job": PARENT}}}, "job": OWN}, "run:parent/job"),
    ({"run": {"facets": {"parent": {"job": PARENT, "root": {"job": ROOT}}}}, "job": OWN}, "run:root/job"),
    ({"job": OWN}, "job:own/job"),
    ({"dataset": {"namespace": "n", "name": "d"}}, "dataset:n/d"),
    ({"something": 1}, None),
    ({"run": {"facets": {"parent": 7}}, "job": OWN}, None),
]


@pytest.mark.parametrize(("given", "key"), KEYS, ids=lambda each: str(each)[:40])
def test_the_key_is_that_of_the_root_job(given: dict[str, Any], key: str | None) -> None:
    import msgspec

    assert message_key(msgspec.json.encode(given)) == key


def test_the_key_equals_that_of_openlineage_python() -> None:
    from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
    from openlineage.client.facet_v2 import parent_run
    from openlineage.client.serde import Serde
    from openlineage.client.transport.kafka import KafkaConfig, KafkaTransport

    run_id = "01890a5d-ac96-774b-bcce-b302099a8057"
    parent = parent_run.ParentRunFacet(run=parent_run.Run(run_id), job=parent_run.Job("pn", "pj"))
    theirs = KafkaTransport(KafkaConfig({"bootstrap.servers": "127.0.0.1:1", "log_level": "0"}, "t"))
    for facets in ({}, {"parent": parent}):
        when, job = "2026-01-01T00:00:00Z", Job("ns", "job")
        event_of_client = RunEvent(eventTime=when, run=Run(run_id, facets), job=job, eventType=RunState.START)
        assert message_key(Serde.to_json(event_of_client).encode()) == theirs._get_message_key(event_of_client)
