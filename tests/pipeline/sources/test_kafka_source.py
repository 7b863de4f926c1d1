"""Events that come through a real Kafka broker, read by Spark's own connector."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from colline.config.kafka_connection import parse_topic
from colline.config.settings import Kafka
from colline.environment.hadoop_files import HadoopFiles
from colline.errors import LakeError
from colline.lake.layout import PENDING_BATCH
from colline.pipeline.delta_tables import LakeTables
from colline.pipeline.ingest import ingest
from colline.pipeline.sources import kafka_source
from colline.pipeline.sources.kafka_source import KafkaSource, check_connector
from colline.pipeline.upkeep import maintain
from tests.lakes import encode_events
from tests.pipeline.lake_view import gold, table
from tests.pipeline.scenarios import BAD, BAD_REASONS, FIRST, SECOND
from tests.pipeline.test_exactly_once import TOOLS, VICTIM
from tests.transport.peers import LOGIN, Broker, add_jars, connector_jars, free_port

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.pipeline.conftest import Ingested

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.timeout(1800)]
EVENTS = [*FIRST, *SECOND]


def test_a_session_without_the_connector_is_an_error_with_its_package(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="no connector for Kafka") as error:
        ingest(tmp_path, spark, from_="kafka://127.0.0.1/t")
    assert f"--packages org.apache.spark:spark-sql-kafka-0-10_2.13:{spark.version}" in str(error.value)


def test_a_connector_that_cannot_be_downloaded_is_an_error_with_the_setting(tmp_path: Path) -> None:
    package = "org.apache.spark:spark-sql-kafka-0-10_2.13:0.0.0"
    command = [sys.executable, "-m", "colline", "ingest", "--lake", str(tmp_path), "--from", "kafka://127.0.0.1:1/t"]
    done = subprocess.run(
        command, env={**TOOLS, "COLLINE__KAFKA__PACKAGE": package}, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (3, ""), done.stderr
    assert "cannot download org.apache.spark#spark-sql-kafka-0-10_2.13;0.0.0" in done.stderr
    assert f"needed: {package}\nhint: the setting `kafka.package`" in done.stderr


@pytest.fixture(scope="module")
def connector(spark: SparkSession) -> list[str]:
    """The session with the connector, as if it had been started with it; the paths of its jars."""
    try:
        jars = connector_jars()
    except (subprocess.SubprocessError, OSError) as error:
        pytest.skip(f"cannot download Spark's connector for Kafka: {error}")
    add_jars(spark, jars)
    check_connector(spark)
    return [str(jar) for jar in jars]


@pytest.fixture(scope="module")
def address(broker: Broker) -> str:
    """A topic with every event of the scenarios, one of them with line ends."""
    broker.send("lineage", encode_events([json.dumps(EVENTS[0], indent=1), *EVENTS[1:]]))
    return f"kafka://{broker.address}/lineage"


@pytest.mark.usefixtures("connector")
def test_events_through_kafka_make_the_same_lake_as_files(
    spark: SparkSession, address: str, ingested_twice: Ingested, tmp_path: Path
) -> None:
    done = ingest(tmp_path, spark, from_=address)
    assert (done.events, done.quarantined) == (len(EVENTS) - len(BAD), len(BAD))
    assert gold(tmp_path) == gold(ingested_twice.copy)
    assert sorted(row["reason"] for row in table(tmp_path, "bronze/quarantine")) == sorted(BAD_REASONS)
    source = KafkaSource.from_settings(parse_topic(address), Kafka())
    ends = (source.contents(spark) or {})["offsets"]
    places = {(row["file"], row["position"]) for row in table(tmp_path, "bronze/events")}
    assert places == {(f"{address}/{part}", offset) for part, end in ends.items() for offset in range(end)}
    assert {(row["file"], row["position"]) for row in table(tmp_path, "bronze/quarantine")} < places
    again = ingest(tmp_path, spark, from_=address)
    assert (again.batches, again.events, again.snapshot) == (0, 0, None)
    # messages are not files that upkeep could delete
    assert maintain._delete_landed(LakeTables(spark, str(tmp_path)), HadoopFiles(spark), 0) == 0


def test_a_batch_from_kafka_that_was_killed_is_completed_once(
    spark: SparkSession, connector: list[str], address: str, ingested_twice: Ingested, tmp_path: Path
) -> None:
    tools = {**TOOLS, "COLLINE_TEST_FROM": address, "COLLINE__KAFKA__PACKAGE": ",".join(connector)}
    how = [sys.executable, str(VICTIM), "at_steps", str(tmp_path), "gold/edges"]
    done = subprocess.run(how, env=tools, check=False, capture_output=True, timeout=600)
    assert done.returncode == -9, done.stderr.decode()[-2000:]
    assert address in (tmp_path / PENDING_BATCH).read_text()
    assert len(table(tmp_path, "bronze/events")) == len(EVENTS)
    # the topic is read first although it is not named, because its batch was interrupted
    (tmp_path / "landing").mkdir()
    ingest(tmp_path, spark)
    assert gold(tmp_path) == gold(ingested_twice.copy)
    assert len(table(tmp_path, "bronze/events")) == len(EVENTS)
    assert len(table(tmp_path, "bronze/quarantine")) == len(BAD)


@pytest.mark.usefixtures("connector")
def test_a_broker_with_passwords_is_read_with_the_one_in_the_settings(
    spark: SparkSession, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.send("secured", encode_events([EVENTS[0]]))
    address = f"kafka://{broker.secured_address}/secured"
    monkeypatch.setenv("COLLINE__KAFKA__PROPERTIES", json.dumps({**LOGIN, "sasl.password": "another"}))
    with pytest.raises(LakeError, match=f"no access to {address}: .*\nhint: check the settings") as error:
        ingest(tmp_path, spark, from_=address)
    assert "another" not in str(error.value)
    monkeypatch.setenv("COLLINE__KAFKA__PROPERTIES", json.dumps(LOGIN))
    assert ingest(tmp_path, spark, from_=address).events == 1


@pytest.mark.usefixtures("connector")
def test_a_broker_or_topic_that_cannot_be_read_is_an_error_with_a_hint(
    spark: SparkSession, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(LakeError, match=f"there is no topic nothing at {broker.address}\nhint: create it"):
        ingest(tmp_path, spark, from_=f"kafka://{broker.address}/nothing")
    monkeypatch.setattr(kafka_source, "REACH_SECONDS", 1)
    port = free_port()
    with pytest.raises(LakeError, match=f"cannot read kafka://127.0.0.1:{port}/t: .*\nhint: check that the broker"):
        ingest(tmp_path, spark, from_=f"kafka://127.0.0.1:{port}/t")
    monkeypatch.setenv("COLLINE__KAFKA__PROPERTIES", '{"security.protocol": "PLAIN", "sasl.password": "hidden"}')
    with pytest.raises(LakeError, match=r"no access to .*security\.protocol.*\nhint: .*`kafka\.properties`") as error:
        ingest(tmp_path, spark, from_=f"kafka://{broker.address}/t")
    assert "hidden" not in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["_colline"]
