"""All sources together: the settings in force, and where each value came from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from colline.events.redact import HIDDEN, is_secret_name, redact
from colline.wiring.names import canonical, converted, fold
from colline.wiring.settings import Settings
from colline.wiring.sources import Given, layers

# Below these names every key is the user's own: it keeps its spelling and its dots.
OPEN = frozenset({"properties", "config", "headers", "customheaders", "urlparams", "storageoptions"})
_OPEN_TAGS = ("tags.job", "tags.run")


@dataclass(frozen=True, slots=True)
class Resolved:
    """Settings in force, and the origin of every value that is not a default, by dotted name."""

    settings: Settings
    origins: Mapping[str, str] = field(default_factory=dict)


def resolve(
    call: Mapping[str, Any] | None = None,
    *,
    spark: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Resolved:
    """The settings in force here: `colline.toml`, environment, Spark conf, call, each stronger than the one before."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    sources = layers(call or {}, spark or {}, os.environ if environ is None else environ, folder or Path.cwd())
    for layer in sources:
        _lay(layer, values, origins)
    return Resolved(converted(canonical(values, Settings), Settings), origins)


def settings_from(call: Mapping[str, Any] | None = None, **sources: Any) -> Settings:
    """The settings in force here, without their origins."""
    return resolve(call, **sources).settings


def _lay(layer: Iterable[Given], values: dict[str, Any], origins: dict[str, str]) -> None:
    """Put one layer over the weaker ones."""
    given = [each._replace(name=".".join(path_of(each.name))) for each in layer]
    kind = next((each.value for each in given if each.name == "transport.type"), None)
    below = values.get("transport")
    if kind is not None and isinstance(below, Mapping) and below.get("type") != kind:
        _clear("transport", values, origins)  # options of another kind of transport do not mix
    for each in given:
        _clear(each.name, values, origins)
        _set(values, each.name, each.value)
        origins[each.name] = each.origin


def path_of(name: str) -> list[str]:
    """`transport.Batch_Size` → transport, batchsize. Keys below an open name keep their spelling and dots."""
    parts = name.split(".")
    for position in range(1, len(parts)):
        above = [fold(part) for part in parts[:position]]
        if above[-1] in OPEN or ".".join(above) in _OPEN_TAGS:
            return [*above, ".".join(parts[position:])]
    return [fold(part) for part in parts]


def _clear(name: str, values: dict[str, Any], origins: dict[str, str]) -> None:
    for known in [known for known in origins if known == name or known.startswith(f"{name}.")]:
        del origins[known]
    head, *rest = path_of(name)
    if not rest:
        values.pop(head, None)


def _set(values: dict[str, Any], name: str, value: Any) -> None:
    *above, last = path_of(name)
    for part in above:
        inner = values.get(part)
        if not isinstance(inner, dict):
            inner = values[part] = {}
        values = inner
    values[last] = value


def shown(resolved: Resolved) -> list[tuple[str, Any, str]]:
    """`name, value, origin` of every setting in force, secrets hidden."""
    rows: list[tuple[str, Any, str]] = []
    origins = {fold(name): origin for name, origin in resolved.origins.items()}
    for name, value in _flat(_plain(resolved.settings)):
        origin = _origin(fold(name), origins)
        rows.append((name, safe(name, value), origin))
    return rows


def _origin(name: str, origins: Mapping[str, str]) -> str:
    """The origin of the name itself, or of the nearest name above it."""
    while name:
        if name in origins:
            return origins[name]
        name = name.rpartition(".")[0]
    return "default"


def _plain(settings: Settings) -> dict[str, Any]:
    transport = settings.transport
    kept = transport if isinstance(transport, (Mapping, list, type(None))) else f"an object: {type(transport).__name__}"
    return {**msgspec.to_builtins(msgspec.structs.replace(settings, transport=None)), "transport": kept}


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def safe(name: str, value: Any) -> Any:
    """The value as it may be printed."""
    if value is not None and is_secret_name(name.rpartition(".")[2]):
        return HIDDEN
    if isinstance(value, Mapping):
        return {key: safe(str(key), each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [safe(name, each) for each in value]
    return redact(value) if isinstance(value, str) else value
