"""Names of settings: one spelling inside, many outside. `batchSize`, `batch_size`, `BATCH_SIZE` are one name."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Iterable, Mapping
from typing import Any, get_args

import msgspec

from colline.errors import SettingError


def fold(name: str) -> str:
    """`batchSize` → `batchsize`, `BATCH_SIZE` → `batchsize`."""
    return name.replace("_", "").replace("-", "").lower()


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint: the name that was probably meant, or the list of names there are."""
    known = sorted(names)
    by_fold = {fold(each): each for each in known}
    close = difflib.get_close_matches(fold(name), by_fold, n=1, cutoff=0.6)
    return f"did you mean `{by_fold[close[0]]}`?" if close else f"there are: {', '.join(known)}"


def struct_in(kind: Any) -> type[msgspec.Struct] | None:
    """The struct that a type annotation holds, if it holds one: `SslOptions | None` → `SslOptions`."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind
    return next((found for each in get_args(kind) if (found := struct_in(each))), None)


def holds_sequence(kind: Any) -> bool:
    """True for `tuple[str, ...]`: a value from an environment variable is then split at commas."""
    return typing.get_origin(kind) is tuple or any(holds_sequence(each) for each in get_args(kind) if each is not kind)


def canonical(
    given: Mapping[str, Any], kind: type[msgspec.Struct], *, where: str = "", aliases: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The same values under the names that `kind` has; a name it has not is an error with the nearest one."""
    fields = {fold(field.encode_name): field for field in msgspec.structs.fields(kind)}
    result: dict[str, Any] = {}
    for name, value in given.items():
        key = fold(name)
        field = fields.get(key) or fields.get(fold((aliases or {}).get(key, "")))
        if field is None:
            names = [each.encode_name for each in fields.values()]
            raise SettingError(f"there is no setting `{where}{name}`", hint=nearest(name, names))
        result[field.encode_name] = _value(value, field, where=f"{where}{field.encode_name}.", aliases=aliases)
    return result


def _value(value: Any, field: msgspec.structs.FieldInfo, *, where: str, aliases: Mapping[str, str] | None) -> Any:
    """The value as its field wants it: a table by the names of its own kind, a list from text with commas."""
    inner = struct_in(field.type)
    if inner is not None and isinstance(value, Mapping):
        return canonical(value, inner, where=where, aliases=aliases)
    if isinstance(value, str) and holds_sequence(field.type):
        return [each.strip() for each in value.split(",") if each.strip()]
    return value


def converted(given: Mapping[str, Any], kind: type[msgspec.Struct], *, where: str = "") -> Any:
    """A value of `kind`, with text turned into numbers and booleans; a value that does not fit is an error."""
    try:
        return msgspec.convert(dict(given), kind, strict=False)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at `$.")
        name = f"{where}{place.rstrip('`')}".rstrip(".")
        raise SettingError(
            f"setting `{name or where.rstrip('.') or 'transport'}`: {reason[:1].lower()}{reason[1:]}",
            hint="`colline settings` shows what is in force and from where",
        ) from error
