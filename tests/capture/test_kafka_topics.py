"""Topics that Spark reads and writes, with Spark's own connector on a real broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from colline.capture.watch import Watch
from tests.capture.captured_events import query_events
from tests.trace.cases import DEFAULT_SPARK
from tests.transport.peers import Broker, java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

# the connector, and what it needs that has other versions
CONNECTOR = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.3"
    "?exclude=org.apache.spark:spark-token-provider-kafka-0-10_2.13,org.apache.kafka:kafka-clients",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0?transitive=false",
    "org.apache.kafka:kafka-clients:3.9.1?transitive=false",
)


@pytest.fixture(scope="module")
def address(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a broker that this session can read."""
    if java() is None or not spark.version.startswith(f"{DEFAULT_SPARK}."):
        pytest.skip("the connector of this Spark is not published")
    for package in CONNECTOR:
        spark.sql(f"add jar ivy://{package}")
    broker = Broker(tmp_path_factory.mktemp("kafka"))
    broker.start()
    yield broker.address
    broker.kill()


def test_topics_are_named_by_broker_and_topic(spark: SparkSession, watch: Watch, address: str, tmp_path: Path) -> None:
    def write(topic: str) -> None:
        rows = spark.sql("select 'k' as key, 'v' as value").write.format("kafka")
        rows.option("kafka.bootstrap.servers", address).option("topic", topic).save()

    def read(**options: str) -> Any:
        reader = spark.read.format("kafka").option("kafka.bootstrap.servers", address).options(**options)
        reader.load().selectExpr("cast(value as string) as v").write.parquet(f"{tmp_path}/{len(watch.events)}")
        return names("inputs")

    def names(side: str) -> list[str]:
        found = query_events(watch.events)[-1][side]
        assert {each["namespace"] for each in found} == {f"kafka://{address}"}
        return [each["name"] for each in found]

    for topic in ("orders", "clicks"):
        write(topic)
    assert names("outputs") == ["clicks"]
    assert read(subscribe="orders") == ["orders"]
    assert read(subscribePattern="ord.*") == ["ord.*"]
    assert read(assign='{"orders":[0]}') == ["orders"]
    assert read(subscribe="orders,clicks") == ["orders", "clicks"]

    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", address)
    left = reader.option("subscribe", "orders").load().selectExpr("key as k", "value")
    right = reader.option("subscribe", "clicks").load().selectExpr("key as other")
    joined = left.join(right, left.k == right.other).selectExpr("k as key", "value", "'paired' as topic")
    writer = joined.writeStream.format("kafka").option("kafka.bootstrap.servers", address)
    writer.option("checkpointLocation", f"{tmp_path}/progress").trigger(availableNow=True).start().awaitTermination()
    assert (names("inputs"), names("outputs")) == (["orders", "clicks"], ["paired"])
    fields = query_events(watch.events)[-1]["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert [(each["name"], each["field"]) for each in fields["key"]["inputFields"]] == [("orders", "key")]
