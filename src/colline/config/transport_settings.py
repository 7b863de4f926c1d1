"""Which options each kind of transport has, and what a `transport` setting means: checked names, typed values."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

import msgspec

from colline.config.setting_names import canonical, converted, fold, nearest
from colline.errors import SettingError
from colline.transport import options

ENTRY_POINTS = "colline.transports"

# kind → its options; `composite` has parts instead
OPTIONS: dict[str, type[msgspec.Struct]] = {
    "console": options.ConsoleOptions,
    "file": options.FileOptions,
    "lake": options.LakeOptions,
    "http": options.HttpOptions,
    "kafka": options.KafkaOptions,
    "memory": options.MemoryOptions,
    "noop": options.Common,
}
# other names of a kind, in OpenLineage's clients and the transports around them
SAME_AS = {"onelake": "lake", "asynchttp": "http"}


def known_kinds() -> list[str]:
    """Names of the transports that ship and of those that other packages add."""
    return sorted({*OPTIONS, "composite", *(point.name for point in entry_points(group=ENTRY_POINTS))})


def kind_of(given: Mapping[str, Any]) -> str:
    """The kind that a `transport` table asks for."""
    named = next((value for name, value in given.items() if fold(name) == "type"), None)
    if named is None:
        raise SettingError("setting `transport`: it has no `type`", hint=f"one of {', '.join(known_kinds())}")
    kind = SAME_AS.get(fold(str(named)), fold(str(named)))
    if kind in OPTIONS or kind == "composite":
        return kind
    if str(named) in known_kinds():
        return str(named)
    raise SettingError(f"there is no transport `{named}`", hint=nearest(str(named), known_kinds()))


def rest_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options in a `transport` table: all but its type, and what has no meaning here."""
    return {name: value for name, value in given.items() if fold(name) not in {"type", *options.IGNORED}}


def typed(kind: str, given: Mapping[str, Any]) -> Any:
    """The options of a kind that ships, typed; names of OpenLineage's clients are understood."""
    return converted(_named(kind, given), OPTIONS[kind], where="transport.")


def _named(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    rest = {name: _seconds(name, value) for name, value in rest_of(given).items()}
    return canonical(rest, OPTIONS[kind], where="transport.", aliases=options.ALIASES)


def _seconds(name: str, value: Any) -> Any:
    if fold(name) != "timeoutinmillis":
        return value
    try:
        return float(value) / 1000
    except (TypeError, ValueError) as error:
        hint = "write milliseconds, for example 5000"
        raise SettingError(f"setting `transport.{name}`: expected a number, got {value!r}", hint=hint) from error


def parts_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a composite, by name."""
    parts = next((value for name, value in given.items() if fold(name) == "transports"), None)
    if isinstance(parts, Mapping):
        return dict(parts)
    if isinstance(parts, (list, tuple)):
        return numbered(parts)
    raise SettingError("setting `transport`: a composite needs `transports`", hint="a list or a table of transports")


def numbered(parts: list[Any] | tuple[Any, ...]) -> dict[str, Any]:
    """Parts without names, by position and kind."""
    return {f"{position}-{_called(part)}": part for position, part in enumerate(parts)}


def _called(part: Any) -> str:
    return str(part.get("name") or part.get("type")) if isinstance(part, Mapping) else type(part).__name__


def checked(given: Any) -> Any:
    """The `transport` setting with every option under its own name and of its own type; anything wrong is an error."""
    if isinstance(given, (list, tuple)):
        return [checked(part) for part in given]
    if not isinstance(given, Mapping):
        return given
    kind = kind_of(given)
    if kind == "composite":
        return {"type": kind, "transports": {name: checked(part) for name, part in parts_of(given).items()}}
    if kind not in OPTIONS:
        return {**rest_of(given), "type": kind}
    values = msgspec.to_builtins(typed(kind, given))
    return {"type": kind, **{name: _merged(values[name], value) for name, value in _named(kind, given).items()}}


def _merged(converted_value: Any, given_value: Any) -> Any:
    """Only what was given, with its converted value."""
    if isinstance(given_value, Mapping) and isinstance(converted_value, Mapping):
        return {name: converted_value.get(name, value) for name, value in given_value.items()}
    return converted_value
