"""Names of settings: `batchSize`, `batch_size` and `BATCH_SIZE` are the same name. Unknown names get a suggestion."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Iterable, Mapping
from typing import Any, get_args

import msgspec

from colline.errors import SettingError


def fold(name: str) -> str:
    """The name in the form in which names are compared: `batchSize` → `batchsize`, `BATCH_SIZE` → `batchsize`."""
    return name.replace("_", "").replace("-", "").lower()


def suggest_name(name: str, names: Iterable[str]) -> str:
    """A hint for an unknown name: the most similar name, or all names."""
    known = sorted(names)
    by_fold = {fold(each): each for each in known}
    close = difflib.get_close_matches(fold(name), by_fold, n=1, cutoff=0.6)
    return f"did you mean `{by_fold[close[0]]}`?" if close else f"there are: {', '.join(known)}"


def find_struct(annotation: Any) -> type[msgspec.Struct] | None:
    """The struct in a type annotation, or None: `SslOptions | None` → `SslOptions`."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return annotation
    return next((struct for each in get_args(annotation) if (struct := find_struct(each))), None)


def is_sequence(annotation: Any) -> bool:
    """Whether a type annotation contains a tuple. A text value is then split at commas."""
    inner = [each for each in get_args(annotation) if each is not annotation]
    return typing.get_origin(annotation) is tuple or any(is_sequence(each) for each in inner)


def canonical_names(
    given: Mapping[str, Any], kind: type[msgspec.Struct], *, where: str = "", aliases: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The values under the field names of the struct `kind`. Raises SettingError for an unknown name."""
    fields = {fold(field.encode_name): field for field in msgspec.structs.fields(kind)}
    result: dict[str, Any] = {}
    for name, value in given.items():
        key = fold(name)
        field = fields.get(key) or fields.get(fold((aliases or {}).get(key, "")))
        if field is None:
            names = [each.encode_name for each in fields.values()]
            raise SettingError(f"there is no setting `{where}{name}`", hint=suggest_name(name, names))
        result[field.encode_name] = _field_value(value, field, where=f"{where}{field.encode_name}.", aliases=aliases)
    return result


def _field_value(value: Any, field: msgspec.structs.FieldInfo, *, where: str, aliases: Mapping[str, str] | None) -> Any:
    """The value for a field: a table gets canonical names too, and text becomes a list if the field is a sequence."""
    struct = find_struct(field.type)
    if struct is not None and isinstance(value, Mapping):
        return canonical_names(value, struct, where=where, aliases=aliases)
    if isinstance(value, str) and is_sequence(field.type):
        return [each.strip() for each in value.split(",") if each.strip()]
    return value


def convert(given: Mapping[str, Any], kind: type[msgspec.Struct], *, where: str = "") -> Any:
    """The values as a struct `kind`. Text is converted to numbers and booleans. Raises SettingError for a bad value."""
    try:
        return msgspec.convert(dict(given), kind, strict=False)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at `$.")
        name = f"{where}{place.rstrip('`')}".rstrip(".")
        raise SettingError(
            f"setting `{name or where.rstrip('.') or 'transport'}`: {reason[:1].lower()}{reason[1:]}",
            hint="`colline settings` prints the values and their sources",
        ) from error
