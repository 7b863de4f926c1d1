"""Reads events from a Kafka topic: each message is a line, its partition the file, and its offset the position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import DataFrame

from colline.config import settings_from
from colline.config.kafka_connection import KafkaTopic, java_properties
from colline.config.settings import Kafka
from colline.errors import CollineError, LakeError
from colline.transport.secrets import remove_values, secret_values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MESSAGES_PER_BATCH = 100_000
# how long to wait for a broker before an ingest fails
REACH_SECONDS = 15
_PROVIDER = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
_BYTES = "org.apache.kafka.common.serialization.ByteArrayDeserializer"
_CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10"
_RESUMES = "the next ingest continues where this one stopped"


@dataclass(frozen=True)
class KafkaSource:
    """A topic. Spark's checkpoint keeps the offsets that are in the lake."""

    topic: KafkaTopic
    settings: Kafka
    properties: Mapping[str, str] = field(repr=False)

    @classmethod
    def from_settings(cls, topic: KafkaTopic, settings: Kafka) -> KafkaSource:
        """The topic with the properties of a client."""
        return cls(topic, settings, java_properties(topic, settings))

    @property
    def address(self) -> str:
        """`kafka://broker:9092/topic`."""
        return self.topic.address

    def stream(self, spark: SparkSession) -> DataFrame:
        """The messages that the lake does not have, as lines. A message without a value is not a line."""
        options = {
            **{f"kafka.{name}": value for name, value in self.properties.items()},
            "subscribe": self.topic.name,
            "startingOffsets": "earliest",
            "maxOffsetsPerTrigger": str(MESSAGES_PER_BATCH),
            "failOnDataLoss": "false" if self.settings.skip_deleted else "true",
        }
        return (
            spark.readStream.format("kafka")
            .options(**options)
            .load()
            .where("value is not null")
            .selectExpr(
                "cast(value as string) as raw",
                f"concat('{self.address}/', partition) as file",
                "offset as position",
                "timestamp as received_at",
            )
        )

    def contents(self, spark: SparkSession) -> dict[str, Any] | None:
        """The end of each partition; None where the Kafka client cannot be called. Raises if no broker answers."""
        check_connector(spark)
        try:
            return {"offsets": self._end_offsets(spark)}
        except Py4JJavaError as error:
            raise self.explain(error) or error from None
        except (TypeError, Py4JError):  # the platform has the client under another name, or refuses calls
            return None

    def state(self, spark: SparkSession) -> object | None:
        """The end of each partition."""
        return self.contents(spark)

    def _end_offsets(self, spark: SparkSession) -> dict[int, int]:
        jvm: Any = spark.sparkContext._jvm
        properties = jvm.java.util.HashMap()
        own = {"key.deserializer": _BYTES, "value.deserializer": _BYTES, "allow.auto.create.topics": "false"}
        for name, value in {**self.properties, **own}.items():
            properties[name] = value
        timeout = jvm.java.time.Duration.ofSeconds(REACH_SECONDS)
        consumer = jvm.org.apache.kafka.clients.consumer.KafkaConsumer(properties)
        try:
            parts = jvm.java.util.ArrayList()
            for found in consumer.partitionsFor(self.topic.name, timeout) or ():
                parts.add(jvm.org.apache.kafka.common.TopicPartition(found.topic(), found.partition()))
            if not parts:
                raise self._missing_topic_error()
            ends = consumer.endOffsets(parts, timeout)
            return {part.partition(): ends[part] for part in parts}
        finally:
            consumer.close()

    def _missing_topic_error(self) -> LakeError:
        return LakeError(
            f"there is no topic {self.topic.name} at {self.topic.brokers}",
            hint="create it, or check the address after --from",
        )

    def explain(self, error: Exception) -> CollineError | None:
        """What an error of Kafka means; None for an error of anything else."""
        for name, text in _causes(error):
            reason = remove_values(text, secret_values(self.properties))
            if "failOnDataLoss" in text:
                return LakeError(
                    f"Kafka deleted messages of {self.address} before they were ingested",
                    hint="keep messages longer, ingest more often; to continue with the rest, set kafka.skip_deleted",
                )
            if ".kafka.common.errors." not in name and ".kafka.common.config." not in name:
                continue
            if "UnknownTopic" in name or "InvalidTopic" in name:
                return self._missing_topic_error()
            if "Authentication" in name or "Authorization" in name or "ConfigException" in name:
                hint = "check the settings `kafka.properties` and `kafka.connection_string`"
                return LakeError(f"no access to {self.address}: {reason}", hint=hint)
            return LakeError(f"cannot read {self.address}: {reason}", hint=f"check that the broker runs; {_RESUMES}")
        return None


def kafka_settings(spark: SparkSession) -> Kafka:
    """The settings `kafka.*` of the session, which may have secrets that were set while it ran."""
    own = dict(spark._jsparkSession.sessionState().conf().settings())
    return settings_from(spark={**dict(spark.sparkContext.getConf().getAll()), **own}).kafka


def connector_packages() -> tuple[str, ...]:
    """The packages that a new session needs to read from Kafka."""
    return tuple(filter(None, (settings_from().kafka.package or default_package(version("pyspark"))).split(",")))


def check_connector(spark: SparkSession) -> None:
    """Raise if this Spark has no connector for Kafka."""
    jvm: Any = spark.sparkContext._jvm
    try:
        jvm.java.lang.Class.forName(_PROVIDER, False, jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
    except Py4JJavaError:
        raise LakeError(
            "this Spark session has no connector for Kafka",
            hint=f"start it with --packages {default_package(spark.version)}, or let `colline ingest` start Spark",
        ) from None
    except (TypeError, Py4JError):  # the platform refuses calls: Spark itself will report what is missing
        return


def default_package(spark_version: str) -> str:
    """The Maven coordinates of the connector for a Spark version."""
    return f"{_CONNECTOR}_{'2.12' if spark_version.startswith('3.') else '2.13'}:{spark_version}"


def _causes(error: Exception) -> Iterator[tuple[str, str]]:
    """The Java classes and messages of an error, outermost first."""
    cause: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None:
        yield str(cause.getClass().getName()), str(cause.getMessage())
        cause = cause.getCause()
