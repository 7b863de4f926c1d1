"""The kafka transport against a live Apache Kafka broker, killed and started again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from colline.config import settings_from, transport_from
from colline.transport import Carrier
from colline.transport.kafka import key_of
from tests.transport.peers import Broker, free_port


def built(address: str, topic: str, **options: Any) -> Carrier:
    properties = {"bootstrap.servers": address, "log_level": "0"}
    given = {"type": "kafka", "topicName": topic, "properties": properties, "backoffSeconds": 0.01, **options}
    transport = transport_from(settings_from({"transport": given}, environ={}, folder=Path("/nonexistent")))
    assert isinstance(transport, Carrier)
    return transport


def event(name: str, number: int) -> dict[str, Any]:
    return {"run": {"runId": "r"}, "job": {"namespace": "ns", "name": name}, "n": number}


def test_messages_are_keyed_by_job_and_keep_their_order(broker: Broker) -> None:
    topic = os.urandom(6).hex()
    carrier = built(broker.address, topic)
    for number in range(60):
        carrier.emit(event(f"job{number % 3}", number))
    carrier.close(20)
    assert carrier.stats.sent == 60
    found = broker.read(topic, 60)
    for job in ("job0", "job1", "job2"):
        mine = [each["n"] for key, each in found if key == f"run:ns/{job}"]
        assert mine == sorted(mine)
        assert len(mine) == 20


def test_an_event_that_is_too_large_is_counted_and_the_others_arrive(broker: Broker) -> None:
    topic = os.urandom(6).hex()
    carrier = built(broker.address, topic)
    carrier.emit(event("a", 1))
    carrier.emit({"job": {"namespace": "ns", "name": "b"}, "text": "x" * 500_000})
    carrier.emit({"job": {"namespace": "ns", "name": "b"}, "text": "x" * 5_000_000})
    carrier.emit(event("c", 2))
    carrier.close(20)
    assert (carrier.stats.sent, carrier.stats.failed) == (2, 2)
    assert sorted(each["n"] for _, each in broker.read(topic, 2)) == [1, 2]


def test_a_broker_that_dies_and_comes_back_gets_everything(broker: Broker, tmp_path: Path) -> None:
    topic = os.urandom(6).hex()
    carrier = built(broker.address, topic, timeout=2, breakerSeconds=0.2, spool=str(tmp_path))
    for number in range(20):
        carrier.emit(event("a", number))
    assert carrier.flush(20)
    broker.kill()
    for number in range(20, 40):
        carrier.emit(event("a", number))
    assert carrier.flush(1) is False
    assert carrier.stats.spooled == 20
    broker.start()
    carrier.close(60)
    assert carrier.stats.sent == 40
    assert {each["n"] for _, each in broker.read(topic, 40)} == set(range(40))


def test_the_client_s_own_mock_cluster_confirms_every_event() -> None:
    """Needs neither Java nor a network, so it runs where the broker cannot."""
    given = {"type": "kafka", "topicName": "t", "properties": {"test.mock.num.brokers": "1", "log_level": "0"}}
    transport = transport_from(settings_from({"transport": given}, environ={}, folder=Path("/nonexistent")))
    for number in range(100):
        transport.emit(event("a", number))
    transport.close(30)
    assert (transport.stats.sent, transport.stats.failed) == (100, 0)


def test_no_broker_at_all_leaves_the_counters_honest() -> None:
    carrier = built(f"127.0.0.1:{free_port()}", "t", timeout=0.5)
    carrier.emit(event("a", 1))
    carrier.close(2)
    assert (carrier.stats.sent, carrier.stats.failed) == (0, 1)


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
def test_the_key_is_openlineage_s_own(given: dict[str, Any], key: str | None) -> None:
    import msgspec

    assert key_of(msgspec.json.encode(given)) == key


def test_the_key_is_the_one_openlineage_python_makes() -> None:
    from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
    from openlineage.client.facet_v2 import parent_run
    from openlineage.client.serde import Serde
    from openlineage.client.transport.kafka import KafkaConfig, KafkaTransport

    run_id = "01890a5d-ac96-774b-bcce-b302099a8057"
    parent = parent_run.ParentRunFacet(run=parent_run.Run(run_id), job=parent_run.Job("pn", "pj"))
    theirs = KafkaTransport(KafkaConfig({"bootstrap.servers": "127.0.0.1:1", "log_level": "0"}, "t"))
    for facets in ({}, {"parent": parent}):
        when, job = "2026-01-01T00:00:00Z", Job("ns", "job")
        made = RunEvent(eventTime=when, run=Run(run_id, facets), job=job, eventType=RunState.START)
        assert key_of(Serde.to_json(made).encode()) == theirs._get_message_key(made)
