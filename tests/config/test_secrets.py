"""No secret appears in `repr` or `str` of options, settings, sinks, transports or exceptions."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest

from colline.config import describe_settings, resolve, transport_from
from colline.config.sources import from_call
from colline.config.transport_settings import parse_options
from colline.errors import CollineError

SECRET = "hunter2zzz"
HTTP = {"type": "http", "url": "http://localhost:1"}
KAFKA = {"type": "kafka", "topicName": "t"}
TABLES: list[dict[str, Any]] = [
    {**HTTP, "auth": {"type": "api_key", "apiKey": SECRET}},
    {**HTTP, "headers": {"Authorization": f"Bearer {SECRET}"}},
    {**HTTP, "headers": {"Cookie": SECRET}},
    {**HTTP, "urlParams": {"code": SECRET}},
    {**HTTP, "url": f"http://user:{SECRET}@localhost:1"},
    {**KAFKA, "properties": {"sasl.password": SECRET}},
    {**KAFKA, "properties": {"sasl.jaas.config": f"Login required username=u password={SECRET};"}},
    {**KAFKA, "properties": {"sasl.oauthbearer.client.secret": SECRET}},
    {**KAFKA, "properties": {"ssl.key.password": SECRET}},
    {"type": "lake", "base": "s3://bucket", "storageOptions": {"key": "id", "secret": SECRET}},
    {"type": "lake", "base": "s3://bucket", "storageOptions": {"client_kwargs": {"x": [SECRET]}}},
    {"type": "lake", "base": f"s3://id:{SECRET}@bucket"},
]


def kind_and_secret(table: dict[str, Any]) -> str:
    return f"{table['type']}-{list(table)[-1]}-{list(table.values())[-1]!s:.30}"


def texts(value: Any) -> str:
    rich = getattr(value, "__rich_repr__", None)
    return f"{value!r} {value!s} {value:} {list(rich()) if rich else ''}"


@pytest.mark.parametrize("table", TABLES, ids=kind_and_secret)
def test_options_hide_secrets(table: dict[str, Any]) -> None:
    options = parse_options(table["type"], table)
    assert SECRET not in texts(options)
    assert "***" in repr(options)


@pytest.mark.parametrize("table", TABLES, ids=kind_and_secret)
@pytest.mark.parametrize("form", ["table", "list", "composite"])
def test_settings_hide_secrets(table: dict[str, Any], form: str) -> None:
    composite = {"type": "composite", "transports": {"a": table}}
    given = {"transport": {"table": table, "list": [table], "composite": composite}[form]}
    resolved = resolve(given, environ={}, folder=Path("/nonexistent"))
    assert SECRET not in texts(resolved)
    assert SECRET not in texts(resolved.settings)
    assert SECRET not in texts(list(from_call(given)))
    assert SECRET not in str(describe_settings(resolved))


@pytest.mark.parametrize("table", TABLES[:5], ids=kind_and_secret)
def test_transports_and_sinks_hide_secrets(table: dict[str, Any]) -> None:
    resolved = resolve({"transport": table}, environ={}, folder=Path("/nonexistent"))
    transport = transport_from(resolved.settings)
    transport.close(0)
    assert SECRET not in texts(transport)
    assert SECRET not in texts(transport._sink)  # type: ignore[attr-defined]
    assert SECRET not in texts(transport._sink._client)  # type: ignore[attr-defined]


def test_an_object_of_the_user_is_shown_by_its_class() -> None:
    class Own:
        def emit(self, event: bytes) -> None: ...

        def __repr__(self) -> str:
            return SECRET

    settings = resolve({"transport": Own()}, environ={}, folder=Path("/nonexistent")).settings
    assert SECRET not in texts(settings)
    assert "<Own>" in repr(settings)


INVALID: list[dict[str, Any]] = [
    {**HTTP, "url": f"ftp://user:{SECRET}@host"},
    {**HTTP, "auth": {"apiKey": f"{SECRET}\n"}},
    {**HTTP, "headers": {"Cookie": f"{SECRET}\r\n"}},
    {**KAFKA, "properties": {"bootstrap.servers": "x:1", "ssl.key.pem": SECRET, "security.protocol": "ssl"}},
    {**KAFKA, "properties": {"sasl.password": SECRET, "no.such": f"password={SECRET}"}},
    {"type": "file", "location": f"s3://id:{SECRET}@bucket/file"},
    {"type": "lake", "base": f"nosuch://id:{SECRET}@bucket"},
    {"type": "lake", "base": "nosuch://bucket", "storageOptions": {"secret": SECRET}},
]


@pytest.mark.parametrize("table", INVALID, ids=kind_and_secret)
def test_exceptions_hide_secrets(table: dict[str, Any]) -> None:
    with pytest.raises(CollineError) as caught:
        transport_from(resolve({"transport": table}, environ={}, folder=Path("/nonexistent")).settings)
    lines = "".join(traceback.format_exception_only(caught.type, caught.value))
    assert SECRET not in texts(caught.value)
    assert SECRET not in lines
    assert SECRET not in str(caught.value.__cause__)
    assert SECRET not in repr(caught.value.__context__)
