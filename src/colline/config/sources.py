"""Reads settings from `colline.toml`, the environment, the Spark conf and the call, as dotted names with values.

A later source overrides an earlier one. In the same source, a name of colline overrides a name of OpenLineage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from colline.config import openlineage_aliases
from colline.config.setting_names import fold
from colline.errors import SettingError

ENVIRONMENT_PREFIX = "COLLINE__"
SPARK_PREFIX = "spark.colline."
# environment variable → setting
SHORT_NAMES = {"COLLINE_LAKE": "lake", "COLLINE_NAMESPACE": "namespace", "COLLINE_DISABLED": "disabled"}


@dataclass(frozen=True, slots=True)
class SettingValue:
    """A value from one source. Its `repr` omits the value, which may be a secret."""

    name: str  # dotted: `transport.url`
    value: Any = field(repr=False)
    origin: str


def toml_path(environ: Mapping[str, str], folder: Path) -> Path | None:
    """The file in COLLINE_CONFIG, or `colline.toml` in the folder or in `~/.colline`. None if there is no file."""
    named = environ.get("COLLINE_CONFIG")
    if named:
        if not Path(named).is_file():
            raise SettingError(f"COLLINE_CONFIG is {named}, which is not a file", hint="correct or unset it")
        return Path(named)
    places = (folder / "colline.toml", Path(environ.get("HOME", "/nonexistent")) / ".colline" / "colline.toml")
    return next((place for place in places if place.is_file()), None)


def from_toml(path: Path | None) -> Iterator[SettingValue]:
    """The values in a file."""
    if path is None:
        return
    try:
        content = msgspec.toml.decode(path.read_bytes())
    except (msgspec.DecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingError(f"cannot read {path}: {error}", hint="it must be a TOML file in UTF-8") from error
    yield from flatten(content, str(path))


def flatten(content: Mapping[str, Any], origin: str, prefix: str = "") -> Iterator[SettingValue]:
    """The values of nested tables: `{"transport": {"type": "http"}}` → `transport.type`. Lists are single values."""
    for name, value in content.items():
        if isinstance(value, Mapping) and value:
            yield from flatten(value, origin, f"{prefix}{name}.")
        else:
            yield SettingValue(f"{prefix}{name}", value, origin)


def from_environment(environ: Mapping[str, str]) -> Iterator[SettingValue]:
    """The values in environment variables: `COLLINE__TRANSPORT__URL` is `transport.url`."""
    for variable, name in SHORT_NAMES.items():
        if environ.get(variable):
            yield SettingValue(name, environ[variable], f"environment {variable}")
    for variable in sorted(environ):
        if variable.startswith(ENVIRONMENT_PREFIX):
            yield from _nested_values(variable, variable[len(ENVIRONMENT_PREFIX) :], environ[variable])


def from_openlineage_environment(environ: Mapping[str, str]) -> Iterator[SettingValue]:
    """The values in environment variables of OpenLineage."""
    if environ.get("OPENLINEAGE_URL"):
        yield SettingValue("transport.type", "http", "environment OPENLINEAGE_URL")
    for variable, (name, convert) in openlineage_aliases.ENVIRONMENT.items():
        needs_url = name.startswith("transport.") and not environ.get("OPENLINEAGE_URL")
        if environ.get(variable) and not needs_url:
            yield from _values(name, convert(environ[variable]), f"environment {variable}")
    for variable in sorted(environ):
        parts = [fold(part) for part in variable.split("__")]
        if len(parts) > 1 and parts[0] == "openlineage" and parts[1] in {"transport", "tags"}:
            yield from _nested_values(variable, variable.partition("__")[2], environ[variable])


def _nested_values(variable: str, path: str, text: str) -> Iterator[SettingValue]:
    yield from _values(path.replace("__", ".").lower(), text_value(text), f"environment {variable}")


def _values(name: str, value: Any, origin: str) -> Iterator[SettingValue]:
    if isinstance(value, Mapping) and value:
        yield from flatten(value, origin, f"{name}.")
    else:
        yield SettingValue(name, value, origin)


def text_value(text: str) -> Any:
    """The decoded value if the text is a JSON object or list, otherwise the text."""
    if text[:1] in {"{", "["}:
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError:
            return text
    return text


def from_spark(conf: Mapping[str, str]) -> Iterator[SettingValue]:
    """The values in Spark properties: `spark.colline.transport.url` is `transport.url`."""
    for key in sorted(conf):
        if key.startswith(SPARK_PREFIX):
            yield from _values(key[len(SPARK_PREFIX) :], text_value(conf[key]), f"spark conf {key}")


def from_openlineage_spark(conf: Mapping[str, str]) -> Iterator[SettingValue]:
    """The values in Spark properties of OpenLineage."""
    known = {f"spark.openlineage.{name}": target for name, target in openlineage_aliases.SPARK.items()}
    for key in sorted(conf):
        origin = f"spark conf {key}"
        if key in known:
            name, convert = known[key]
            yield from _values(name, convert(conf[key]), origin)
        elif key.startswith("spark.openlineage.transport."):
            yield from _values(key[len("spark.openlineage.") :], text_value(conf[key]), origin)


def from_call(given: Mapping[str, Any]) -> Iterator[SettingValue]:
    """The values of the call; None means that the caller did not set it."""
    for name, value in given.items():
        if value is not None:
            yield SettingValue(name, value, "call")


def read_sources(
    call: Mapping[str, Any], spark: Mapping[str, str], environ: Mapping[str, str], folder: Path
) -> Iterator[list[SettingValue]]:
    """The values of each source. A later source overrides an earlier one."""
    yield list(from_toml(toml_path(environ, folder)))
    yield list(from_openlineage_environment(environ))
    yield list(from_environment(environ))
    yield list(from_openlineage_spark(spark))
    yield list(from_spark(spark))
    yield list(from_call(call))
