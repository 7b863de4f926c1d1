"""`colline serve --forward`: received events reach Kafka, even if the broker is down and the server is killed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from colline.spool import Segment, land_abandoned
from colline.spool.landing_file import land
from tests.server.serving import event, landed_lines, serving
from tests.transport.peers import Broker

FAST = ("--seal-after", "0.2s")


@pytest.mark.faults
def test_events_are_forwarded_although_the_broker_was_down_and_the_server_was_killed(
    broker: Broker, tmp_path: Path
) -> None:
    lake, topic = tmp_path / "lake", os.urandom(6).hex()
    forward = ("--forward", f"kafka://{broker.address}/{topic}", *FAST)
    broker.kill()
    with serving(lake, *forward) as server:
        for number in range(20):
            assert server.client.post("/api/v1/lineage", json=event(run=f"down-{number}")).status_code == 201
        server.log_text("cannot forward events, trying again")
        assert server.client.post("/api/v1/lineage", json=event(run="last")).status_code == 201
        server.stop(signal.SIGKILL)
    broker.start()
    with serving(lake, *forward) as server:
        too_large = event(run="large", text="x" * 1_000_000)
        for sent in (too_large, event(run="up")):
            assert server.client.post("/api/v1/lineage", json=sent).status_code == 201
        server.log_text("an event was not forwarded, and is in landing only")
        found = broker.read(topic, 22)
        metrics = server.client.get("/metrics").text
        server.stop()
    runs = {each["run"]["runId"] for _, each in found}
    assert runs == {*(f"down-{number}" for number in range(20)), "last", "up"}
    assert {key for key, _ in found} == {"run:shop/daily_revenue"}
    assert "colline_forward_refused_total 1" in metrics
    # no event is waiting, and all are in landing, too
    assert list((lake / "_server" / "forward").iterdir()) == []
    assert {json.loads(line)["run"]["runId"] for line in landed_lines(lake)} == runs | {"large"}


def test_a_file_is_in_the_outbox_before_it_lands(tmp_path: Path) -> None:
    """A kill between the two leaves it in the spool, so that it lands later; it is then forwarded twice at most."""
    spool, landing, outbox = tmp_path / "spool", tmp_path / "landing", tmp_path / "outbox"
    spool.mkdir()
    segment = Segment.create(spool, sync=True)
    segment.append([b"{}\n"], sync=True)
    landing.write_text("not a folder")  # the move fails after the name in the outbox was made
    with pytest.raises(NotADirectoryError):
        land(segment, landing, outbox)
    [waiting] = outbox.iterdir()
    landing.unlink()
    [landed] = land_abandoned(spool, landing, outbox)
    assert [file.name for file in outbox.iterdir()] == [waiting.name] == [landed.name]
    assert waiting.read_bytes() == landed.read_bytes() == b"{}\n"
