"""Checks the `transport` setting: the kinds of transports, the options of each kind, and their types."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import entry_points
from os import PathLike
from typing import Any

import msgspec

from colline.config.setting_names import canonical_names, convert, fold, suggest_name
from colline.errors import SettingError
from colline.transport import options

ENTRY_POINT_GROUP = "colline.transports"

# kind → its options; `composite` has `transports` instead
OPTIONS: dict[str, type[msgspec.Struct]] = {
    "console": options.ConsoleOptions,
    "file": options.FileOptions,
    "lake": options.LakeOptions,
    "http": options.HttpOptions,
    "kafka": options.KafkaOptions,
    "memory": options.MemoryOptions,
    "noop": options.TransportOptions,
}
# other names of a kind
KIND_ALIASES = {"onelake": "lake", "asynchttp": "http"}


def known_kinds() -> list[str]:
    """The kinds of transports, including those of other packages."""
    return sorted({*OPTIONS, "composite", *(point.name for point in entry_points(group=ENTRY_POINT_GROUP))})


def transport_kind(given: Mapping[str, Any]) -> str:
    """The kind of a `transport` table, from its `type`. Raises SettingError if it is missing or unknown."""
    named = next((value for name, value in given.items() if fold(name) == "type"), None)
    if named is None:
        raise SettingError("setting `transport`: it has no `type`", hint=f"one of {', '.join(known_kinds())}")
    kind = KIND_ALIASES.get(fold(str(named)), fold(str(named)))
    if kind in OPTIONS or kind == "composite":
        return kind
    if str(named) in known_kinds():
        return str(named)
    raise SettingError(f"there is no transport `{named}`", hint=suggest_name(str(named), known_kinds()))


def transport_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options in a `transport` table, without its type and without those that have no effect."""
    return {name: value for name, value in given.items() if fold(name) not in {"type", *options.IGNORED}}


def parse_options(kind: str, given: Mapping[str, Any]) -> Any:
    """The options of a built-in kind as its struct. The names of OpenLineage's clients are accepted."""
    return convert(_canonical_options(kind, given), OPTIONS[kind], where="transport.")


def _canonical_options(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: _convert_milliseconds(name, value) for name, value in transport_options(given).items()}
    return canonical_names(values, OPTIONS[kind], where="transport.", aliases=options.ALIASES)


def _convert_milliseconds(name: str, value: Any) -> Any:
    """The value of `timeoutInMillis` in seconds; any other value unchanged."""
    if fold(name) != "timeoutinmillis":
        return value
    try:
        return float(value) / 1000
    except (TypeError, ValueError) as error:
        hint = "write milliseconds, for example 5000"
        raise SettingError(f"setting `transport.{name}`: expected a number, got {value!r}", hint=hint) from error


def composite_parts(given: Mapping[str, Any]) -> dict[str, Any]:
    """The transports of a composite, by name."""
    parts = next((value for name, value in given.items() if fold(name) == "transports"), None)
    if isinstance(parts, Mapping):
        return dict(parts)
    if isinstance(parts, (list, tuple)):
        return name_parts(parts)
    raise SettingError("setting `transport`: a composite needs `transports`", hint="a list or a table of transports")


def name_parts(parts: list[Any] | tuple[Any, ...]) -> dict[str, Any]:
    """A list of transports as a table: each is named by its position and its kind."""
    return {f"{position}-{_part_name(part)}": part for position, part in enumerate(parts)}


def _part_name(part: Any) -> str:
    return str(part.get("name") or part.get("type")) if isinstance(part, Mapping) else type(part).__name__


def normalize_transport(given: Any) -> Any:
    """The `transport` setting with canonical names and converted values. Raises SettingError for any mistake."""
    if isinstance(given, (list, tuple)):
        return [normalize_transport(part) for part in given]
    if isinstance(given, (str, PathLike)):
        given = _named_transport(os.fspath(given))
    if not isinstance(given, Mapping):
        return given
    kind = transport_kind(given)
    if kind == "composite":
        parts = {name: normalize_transport(part) for name, part in composite_parts(given).items()}
        return {"type": kind, "transports": parts}
    if kind not in OPTIONS:
        return {**transport_options(given), "type": kind}
    values = msgspec.to_builtins(parse_options(kind, given))
    present = _canonical_options(kind, given)
    return {"type": kind, **{name: _without_defaults(values[name], value) for name, value in present.items()}}


def _named_transport(text: str) -> dict[str, Any]:
    """The transport that a text stands for: a kind such as `console`, the URL of a server, else the path of a lake."""
    if fold(text) in OPTIONS:
        return {"type": text}
    if text.lower().startswith(("http://", "https://")):
        return {"type": "http", "url": text}
    return {"type": "lake", "base": text}


def _without_defaults(converted: Any, given: Any) -> Any:
    """The converted value; of a table only the keys that were given."""
    if isinstance(given, Mapping) and isinstance(converted, Mapping):
        return {name: converted.get(name, value) for name, value in given.items()}
    return converted
