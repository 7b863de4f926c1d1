"""Keeps secrets out of `repr`, `str`, log lines and error messages.

`redact` of `colline.events` finds secrets in any text. Here the names of settings are known too, so the value of
`apiKey` or `sasl.password` is hidden regardless of its shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import fields

from colline.events.redact import HIDDEN, is_secret_name, redact

# Tables in which any name may have a secret value: `Cookie`, `?code=…`, the options of an fsspec driver.
_SECRET_TABLES = frozenset({"headers", "customheaders", "urlparams", "storageoptions"})


def hide_secrets(name: str, value: Any) -> Any:
    """The value of a setting as it may be printed. `name` may be dotted: `transport.auth.apiKey` → `***`."""
    if value is None or isinstance(value, (bool, int, float, Struct)):
        return HIDDEN if value is not None and _is_secret(name) else value
    if isinstance(value, Mapping) and not _is_secret(name):
        return {key: hide_secrets(f"{name}.{key}", each) for key, each in value.items()}
    if isinstance(value, (list, tuple)) and not _is_secret(name):
        return [hide_secrets(name, each) for each in value]
    if _is_secret(name):
        return HIDDEN
    return redact(value) if isinstance(value, str) else f"<{type(value).__name__}>"


def _is_secret(name: str) -> bool:
    """Whether the name, or the name of a table that contains it, is that of a secret."""
    parts = name.split(".")
    if any(part.replace("_", "").replace("-", "").lower() in _SECRET_TABLES for part in parts[:-1]):
        return True
    if parts[-1] == "type":  # `auth.type` is the kind of the secret
        return False
    return any(is_secret_name(".".join(parts[:count])) for count in range(1, len(parts) + 1))


def secret_values(table: Mapping[str, Any]) -> list[str]:
    """The texts in a table of settings that must not be printed."""
    return [text for name, value in table.items() for text in _secret_texts(name, value)]


def _secret_texts(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _secret_texts(f"{name}.{key}", each)
    elif value and hide_secrets(name, value) != value:
        yield str(value)


def remove_values(text: str, values: Iterable[str]) -> str:
    """The text without these values, and without anything else that looks like a secret."""
    for value in values:
        text = text.replace(value, HIDDEN)
    return redact(text)


class SecretFreeStruct(Struct, frozen=True):
    """A struct whose `repr` hides secrets."""

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({values})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [(field.name, hide_secrets(field.name, getattr(self, field.name))) for field in fields(self)]
