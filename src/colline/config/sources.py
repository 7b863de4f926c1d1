"""Where settings come from. Each source gives dotted names with values; a stronger source overrides a weaker one.

Weakest first: `colline.toml`, environment, Spark conf, call. In one source an OpenLineage name is weaker than ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from colline.config import openlineage_aliases
from colline.config.setting_names import fold
from colline.errors import SettingError

ENVIRONMENT_PREFIX = "COLLINE__"
SPARK_PREFIX = "spark.colline."
# short names that are settings too
SHORT = {"COLLINE_LAKE": "lake", "COLLINE_NAMESPACE": "namespace", "COLLINE_DISABLED": "disabled"}


class Given(NamedTuple):
    """One value as a source gave it, under a dotted name."""

    name: str
    value: Any
    origin: str


def toml_path(environ: Mapping[str, str], folder: Path) -> Path | None:
    """The file that COLLINE_CONFIG names, else `colline.toml` in the folder, else in `~/.colline`."""
    named = environ.get("COLLINE_CONFIG")
    if named:
        if not Path(named).is_file():
            raise SettingError(f"COLLINE_CONFIG names {named}, which is not a file", hint="correct or unset it")
        return Path(named)
    places = (folder / "colline.toml", Path(environ.get("HOME", "/nonexistent")) / ".colline" / "colline.toml")
    return next((place for place in places if place.is_file()), None)


def from_toml(path: Path | None) -> Iterator[Given]:
    """Every leaf of the file."""
    if path is None:
        return
    try:
        content = msgspec.toml.decode(path.read_bytes())
    except (msgspec.DecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingError(f"cannot read {path}: {error}", hint="it must be a TOML file in UTF-8") from error
    yield from leaves(content, str(path))


def leaves(content: Mapping[str, Any], origin: str, prefix: str = "") -> Iterator[Given]:
    """`{"transport": {"type": "http"}}` → `transport.type`; lists stay whole."""
    for name, value in content.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, origin, f"{prefix}{name}.")
        else:
            yield Given(f"{prefix}{name}", value, origin)


def from_environment(environ: Mapping[str, str]) -> Iterator[Given]:
    """`COLLINE__TRANSPORT__URL` is `transport.url`."""
    for variable, name in SHORT.items():
        if environ.get(variable):
            yield Given(name, environ[variable], f"environment {variable}")
    for variable in sorted(environ):
        if variable.startswith(ENVIRONMENT_PREFIX):
            yield from _nested(variable, variable[len(ENVIRONMENT_PREFIX) :], environ[variable])


def from_openlineage_environment(environ: Mapping[str, str]) -> Iterator[Given]:
    """What OpenLineage's variables mean here."""
    if environ.get("OPENLINEAGE_URL"):
        yield Given("transport.type", "http", "environment OPENLINEAGE_URL")
    for variable, (name, read) in openlineage_aliases.ENVIRONMENT.items():
        needs_url = name.startswith("transport.") and not environ.get("OPENLINEAGE_URL")
        if environ.get(variable) and not needs_url:
            yield from _value(name, read(environ[variable]), f"environment {variable}")
    for variable in sorted(environ):
        parts = [fold(part) for part in variable.split("__")]
        if len(parts) > 1 and parts[0] == "openlineage" and parts[1] in {"transport", "tags"}:
            yield from _nested(variable, variable.partition("__")[2], environ[variable])


def _nested(variable: str, path: str, text: str) -> Iterator[Given]:
    yield from _value(path.replace("__", ".").lower(), text_value(text), f"environment {variable}")


def _value(name: str, value: Any, origin: str) -> Iterator[Given]:
    if isinstance(value, Mapping) and value:
        yield from leaves(value, origin, f"{name}.")
    else:
        yield Given(name, value, origin)


def text_value(text: str) -> Any:
    """JSON when it looks like a JSON object or list, the text itself otherwise."""
    if text[:1] in {"{", "["}:
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError:
            return text
    return text


def from_spark(conf: Mapping[str, str]) -> Iterator[Given]:
    """`spark.colline.transport.url` is `transport.url`."""
    for key in sorted(conf):
        if key.startswith(SPARK_PREFIX):
            yield from _value(key[len(SPARK_PREFIX) :], text_value(conf[key]), f"spark conf {key}")


def from_openlineage_spark(conf: Mapping[str, str]) -> Iterator[Given]:
    """What OpenLineage's Spark properties mean here."""
    known = {f"spark.openlineage.{name}": target for name, target in openlineage_aliases.SPARK.items()}
    for key in sorted(conf):
        origin = f"spark conf {key}"
        if key in known:
            name, read = known[key]
            yield from _value(name, read(conf[key]), origin)
        elif key.startswith("spark.openlineage.transport."):
            yield from _value(key[len("spark.openlineage.") :], text_value(conf[key]), origin)


def from_call(given: Mapping[str, Any]) -> Iterator[Given]:
    """What the program said itself; None means not said."""
    for name, value in given.items():
        if value is not None:
            yield Given(name, value, "call")


def layers(
    call: Mapping[str, Any], spark: Mapping[str, str], environ: Mapping[str, str], folder: Path
) -> Iterator[list[Given]]:
    """Every source's values, weakest source first."""
    yield list(from_toml(toml_path(environ, folder)))
    yield list(from_openlineage_environment(environ))
    yield list(from_environment(environ))
    yield list(from_openlineage_spark(spark))
    yield list(from_spark(spark))
    yield list(from_call(call))
