"""Addresses of topics, and the properties that clients get from the settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from colline.config import describe_settings, resolve, settings_from
from colline.config.kafka_connection import client_properties, java_properties, parse_topic
from colline.config.settings import Kafka
from colline.errors import SettingError

ADDRESSES = {
    "kafka://broker/lineage": "kafka://broker:9092/lineage",
    "kafka://B1:9093,b2/a.b_c-d": "kafka://b1:9093,b2:9092/a.b_c-d",
    "kafka://[::1]:9092/t": "kafka://[::1]:9092/t",
    "kafka://team.servicebus.windows.net/hub": "kafka://team.servicebus.windows.net:9093/hub",
}
HUB = "Endpoint=sb://team.servicebus.windows.net/;SharedAccessKeyName=read;SharedAccessKey=c2VjcmV0="
LOGIN = 'org.apache.kafka.common.security.{} required username="{}" password="{}";'.format


@pytest.mark.parametrize(("given", "address"), ADDRESSES.items())
def test_an_address_gets_the_default_port(given: str, address: str) -> None:
    assert parse_topic(given).address == address


@pytest.mark.parametrize("given", ["kafka://broker", "kafka://broker/a/b", "kafka:///t", "kafka://me:top5ecret@b/t"])
def test_another_address_is_an_error_that_hides_passwords(given: str) -> None:
    with pytest.raises(SettingError, match="hint: write kafka://broker:9092/topic") as error:
        parse_topic(given)
    assert "top5ecret" not in str(error.value)


def test_a_user_and_a_password_become_the_login_of_a_java_client() -> None:
    environ = {
        "COLLINE__KAFKA__PROPERTIES__SECURITY__PROTOCOL": "SASL_SSL",
        "COLLINE__KAFKA__PROPERTIES__SASL__MECHANISMS": "SCRAM-SHA-512",
        "COLLINE__KAFKA__PROPERTIES__SASL__USERNAME": "me",
        "COLLINE__KAFKA__PROPERTIES__SASL__PASSWORD": 'a"b\\c',
        "COLLINE__KAFKA__PROPERTIES__SSL__CA__LOCATION": "/ca.pem",
    }
    kafka = settings_from(environ=environ, folder=Path("/nonexistent")).kafka
    assert java_properties(parse_topic("kafka://b/t"), kafka) == {
        "bootstrap.servers": "b:9092",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": LOGIN("scram.ScramLoginModule", "me", r"a\"b\\c"),
        "ssl.truststore.location": "/ca.pem",
        "ssl.truststore.type": "PEM",
    }
    assert client_properties(parse_topic("kafka://b/t"), kafka)["sasl.password"] == 'a"b\\c'


def test_a_connection_string_is_enough_for_event_hubs() -> None:
    topic, kafka = parse_topic("kafka://team.servicebus.windows.net/hub"), Kafka(connection_string=HUB)
    assert java_properties(topic, kafka) == {
        "bootstrap.servers": "team.servicebus.windows.net:9093",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": LOGIN("plain.PlainLoginModule", "$ConnectionString", HUB),
    }
    assert client_properties(topic, kafka)["sasl.username"] == "$ConnectionString"


def test_another_mechanism_needs_a_login_of_its_own() -> None:
    properties = {"sasl.mechanism": "GSSAPI", "sasl.username": "me", "sasl.password": "top5ecret"}
    with pytest.raises(SettingError, match=r"hint: set `sasl\.jaas\.config`"):
        java_properties(parse_topic("kafka://b/t"), Kafka(properties=properties))


def test_secrets_of_kafka_are_not_printed() -> None:
    secrets = {"sasl.password": "top5ecret", "sasl.jaas.config": "x required password=top5ecret;"}
    resolved = resolve({"kafka.properties": secrets, "kafka.connection_string": HUB}, environ={}, folder=Path("/none"))
    shown = f"{describe_settings(resolved)} {resolved.settings!r}"
    assert "connection_string" in shown
    assert "top5ecret" not in shown
    assert "c2VjcmV0" not in shown
