"""All sources together: the settings in force, and where each value came from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from colline.config.setting_names import canonical, converted, fold
from colline.config.settings import Settings
from colline.config.sources import Given, layers
from colline.config.transport_settings import checked
from colline.events.redact import HIDDEN, is_secret_name, redact
from colline.transport.options import ALIASES

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
    settings: Settings = converted(canonical(values, Settings), Settings)
    return Resolved(msgspec.structs.replace(settings, transport=checked(settings.transport)), origins)


def settings_from(call: Mapping[str, Any] | None = None, **sources: Any) -> Settings:
    """The settings in force here, without their origins."""
    return resolve(call, **sources).settings


def _lay(layer: Iterable[Given], values: dict[str, Any], origins: dict[str, str]) -> None:
    """Put one layer over the weaker ones."""
    given = list(layer)
    kind = next((each.value for each in given if fold(each.name) == "transport.type"), None)
    below = values.get("transport")
    if kind is not None and isinstance(below, Mapping) and below.get("type") != kind:
        _forget("transport", values, origins)  # options of another kind of transport do not mix
    for each in given:
        if not isinstance(each.value, Mapping) and "." not in each.name:
            _forget(each.name, values, origins)
        _set(values, path_of(each.name), each.value)
        origins[fold(each.name)] = each.origin


def path_of(name: str) -> list[str]:
    """`transport.headers.x.y` → transport, headers, `x.y`: keys below an open name keep their dots."""
    parts = name.split(".")
    for position in range(1, len(parts)):
        above = [fold(part) for part in parts[:position]]
        if above[-1] in OPEN or ".".join(above) in _OPEN_TAGS:
            return [*parts[:position], ".".join(parts[position:])]
    return parts


def _forget(name: str, values: dict[str, Any], origins: dict[str, str]) -> None:
    for known in [known for known in origins if known == fold(name) or known.startswith(f"{fold(name)}.")]:
        del origins[known]
    for known in [known for known in values if fold(known) == fold(name)]:
        del values[known]


def _set(values: dict[str, Any], path: list[str], value: Any) -> None:
    """Put the value at its place, over one whose name is spelled otherwise; the newest comes last."""
    head, *rest = path
    before = next((known for known in values if fold(known) == fold(head)), None)
    inner = values.pop(before) if before is not None else None
    if rest:
        inner = inner if isinstance(inner, dict) else {}
        _set(inner, rest, value)
    values[head] = inner if rest else value


def shown(resolved: Resolved) -> list[tuple[str, Any, str]]:
    """`name, value, origin` of every setting in force, secrets hidden."""
    flat = _flat(_plain(resolved.settings))
    return [(name, safe(name, value), _origin(fold(name), resolved.origins)) for name, value in flat]


def _origin(name: str, origins: Mapping[str, str]) -> str:
    """The origin of the name itself, of another name for it, or of the nearest name above it."""
    while name:
        above, _, last = name.rpartition(".")
        others = [f"{above}.{other}" for other, target in ALIASES.items() if fold(target) == last]
        found = next((origins[each] for each in (name, *others) if each in origins), None)
        if found is not None:
            return found
        name = above
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
