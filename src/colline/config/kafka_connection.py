"""Addresses of Kafka topics, and the properties that a Java client or librdkafka needs to connect to one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from colline.config.settings import Kafka
from colline.errors import SettingError
from colline.events.redact import redact

SCHEME = "kafka://"
DEFAULT_PORT = 9092
# Azure Event Hubs offers Kafka's protocol on this port
EVENT_HUBS_HOST, EVENT_HUBS_PORT = ".servicebus.windows.net", 9093
# names of librdkafka, which the Java client does not have
_LIBRDKAFKA_NAMES = {"sasl.mechanisms": "sasl.mechanism", "ssl.ca.location": "ssl.truststore.location"}
_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


@dataclass(frozen=True, slots=True)
class KafkaTopic:
    """A topic, and the brokers by which its cluster is found."""

    brokers: str
    name: str

    @property
    def address(self) -> str:
        """`kafka://broker:9092/topic`."""
        return f"{SCHEME}{self.brokers}/{self.name}"


def is_topic_address(text: str) -> bool:
    """Whether the text is the address of a topic, and not a path."""
    return text.lower().startswith(SCHEME)


def parse_topic(address: str) -> KafkaTopic:
    """The topic of an address: `kafka://broker/lineage`, `kafka://broker1:9092,broker2:9092/lineage`."""
    brokers, _, name = address[len(SCHEME) :].partition("/")
    hosts = brokers.lower().split(",")
    is_valid = all(re.fullmatch(r"(\[[0-9a-f:.]+\]|[\w.-]+)(:\d{1,5})?", host) for host in hosts)
    if not is_topic_address(address) or not is_valid or not re.fullmatch(r"[\w.-]{1,249}", name, re.ASCII):
        raise SettingError(
            f"{redact(address)} is not the address of a Kafka topic",
            hint="write kafka://broker:9092/topic; passwords are settings (`kafka.properties`), not part of it",
        )
    return KafkaTopic(",".join(map(_with_port, hosts)), name)


def _with_port(host: str) -> str:
    if re.search(r":\d+$", host):
        return host
    return f"{host}:{EVENT_HUBS_PORT if host.endswith(EVENT_HUBS_HOST) else DEFAULT_PORT}"


def client_properties(topic: KafkaTopic, settings: Kafka) -> dict[str, str]:
    """The properties of a client of librdkafka."""
    found = {"bootstrap.servers": topic.brokers}
    if settings.connection_string:
        found |= {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "$ConnectionString",
            "sasl.password": settings.connection_string,
        }
    return {**found, **settings.properties}


def java_properties(topic: KafkaTopic, settings: Kafka) -> dict[str, str]:
    """The properties of a Java client, such as Spark's."""
    given = client_properties(topic, settings)
    found = {_LIBRDKAFKA_NAMES.get(name, name): value for name, value in given.items()}
    if "ssl.ca.location" in given:
        found["ssl.truststore.type"] = "PEM"
    user, password = found.pop("sasl.username", None), found.pop("sasl.password", None)
    if user is not None and password is not None and "sasl.jaas.config" not in found:
        found["sasl.jaas.config"] = _login(found, user, password)
    return found


def _login(properties: Mapping[str, str], user: str, password: str) -> str:
    mechanism = properties.get("sasl.mechanism", "PLAIN").upper()
    if mechanism not in _LOGIN_MODULES:
        raise SettingError(
            f"setting `kafka.properties`: `sasl.mechanism` {mechanism} has no user name and password",
            hint="set `sasl.jaas.config` instead of `sasl.username` and `sasl.password`",
        )
    values = (text.replace("\\", "\\\\").replace('"', '\\"') for text in (user, password))
    return '{} required username="{}" password="{}";'.format(_LOGIN_MODULES[mechanism], *values)
