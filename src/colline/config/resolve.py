"""Combines the settings of all sources, and records which source each value comes from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from colline.config.setting_names import canonical_names, convert, fold
from colline.config.settings import Settings
from colline.config.sources import SettingValue, read_sources
from colline.config.transport_settings import normalize_transport
from colline.transport.options import ALIASES
from colline.transport.secrets import hide_secrets

# In these tables the user chooses the names: they keep their spelling and their dots.
OPEN_TABLES = frozenset({"properties", "config", "headers", "customheaders", "urlparams", "storageoptions"})
_OPEN_TAGS = ("tags.job", "tags.run")


@dataclass(frozen=True, slots=True)
class ResolvedSettings:
    """The effective settings, and the source of every value that is not a default, by dotted name."""

    settings: Settings
    origins: Mapping[str, str] = field(default_factory=dict)


def resolve(
    call: Mapping[str, Any] | None = None,
    *,
    spark: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> ResolvedSettings:
    """The effective settings of `colline.toml`, environment, Spark conf and call. Later sources override earlier."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    sources = read_sources(call or {}, spark or {}, os.environ if environ is None else environ, folder or Path.cwd())
    for source in sources:
        _apply_source(source, values, origins)
    settings: Settings = convert(canonical_names(values, Settings), Settings)
    transport = normalize_transport(settings.transport)
    return ResolvedSettings(msgspec.structs.replace(settings, transport=transport), origins)


def settings_from(call: Mapping[str, Any] | None = None, **sources: Any) -> Settings:
    """The effective settings, without their sources."""
    return resolve(call, **sources).settings


def _apply_source(source: Iterable[SettingValue], values: dict[str, Any], origins: dict[str, str]) -> None:
    """Override earlier values by those of one source. A transport of another type replaces the earlier one."""
    given = list(source)
    kind = next((each.value for each in given if fold(each.name) == "transport.type"), None)
    earlier = values.get("transport")
    if kind is not None and isinstance(earlier, Mapping) and earlier.get("type") != kind:
        _remove("transport", values, origins)
    for each in given:
        if not isinstance(each.value, Mapping) and "." not in each.name:
            _remove(each.name, values, origins)
        _set(values, split_name(each.name), each.value)
        origins[fold(each.name)] = each.origin


def split_name(name: str) -> list[str]:
    """The parts of a dotted name: `transport.headers.x.y` → transport, headers, `x.y`. A header may contain dots."""
    parts = name.split(".")
    for position in range(1, len(parts)):
        table = [fold(part) for part in parts[:position]]
        if table[-1] in OPEN_TABLES or ".".join(table) in _OPEN_TAGS:
            return [*parts[:position], ".".join(parts[position:])]
    return parts


def _remove(name: str, values: dict[str, Any], origins: dict[str, str]) -> None:
    for known in [known for known in origins if known == fold(name) or known.startswith(f"{fold(name)}.")]:
        del origins[known]
    for known in [known for known in values if fold(known) == fold(name)]:
        del values[known]


def _set(values: dict[str, Any], path: list[str], value: Any) -> None:
    """Set a value in nested tables. It replaces a value whose name has another spelling, and comes last."""
    head, *rest = path
    previous = next((known for known in values if fold(known) == fold(head)), None)
    inner = values.pop(previous) if previous is not None else None
    if rest:
        inner = inner if isinstance(inner, dict) else {}
        _set(inner, rest, value)
    values[head] = inner if rest else value


def describe_settings(resolved: ResolvedSettings) -> list[tuple[str, Any, str]]:
    """Name, value and source of every setting. Secrets are hidden."""
    flat = _flatten(_to_builtins(resolved.settings))
    return [(name, hide_secrets(name, value), _origin(fold(name), resolved.origins)) for name, value in flat]


def _origin(name: str, origins: Mapping[str, str]) -> str:
    """The source of a name, of an alias of it, or of the table that contains it."""
    while name:
        table, _, last = name.rpartition(".")
        aliases = [f"{table}.{alias}" for alias, target in ALIASES.items() if fold(target) == last]
        origin = next((origins[each] for each in (name, *aliases) if each in origins), None)
        if origin is not None:
            return origin
        name = table
    return "default"


def _to_builtins(settings: Settings) -> dict[str, Any]:
    return {**msgspec.to_builtins(msgspec.structs.replace(settings, transport=None)), "transport": settings.transport}


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
