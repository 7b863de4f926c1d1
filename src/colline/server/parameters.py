"""Query parameters: what each one means, and how its text becomes a value. No question is asked here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal

from colline.server.http_errors import Problem

Kind = Literal["text", "integer", "boolean", "time", "choice"]
MAXIMUM_TEXT = 24_000  # characters; a column can be asked for whose name and whose dataset's name have 10 KB each


@dataclass(frozen=True, slots=True)
class Parameter:
    """One query parameter: its name, kind, bounds and one sentence for people."""

    name: str
    kind: Kind
    about: str
    required: bool = False
    repeated: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int = 0
    example: Any = None
    pattern: str | None = None
    argument: str | None = None  # what the question calls it, where that differs

    def schema(self) -> dict[str, Any]:
        """This parameter as JSON Schema."""
        one = {**_SCHEMAS[self.kind](self)}
        if self.repeated:
            least = max(self.minimum, int(self.required))
            return {"type": "array", "items": one, "minItems": least, "maxItems": self.maximum}
        return {**one, "default": self.default} if self.default is not None else one

    def value(self, text: str) -> Any:
        """The value that `text` stands for; a Problem that names this parameter if it stands for none."""
        try:
            return _READERS[self.kind](self, text)
        except ValueError as error:
            raise Problem(400, "bad_parameter", f"`{self.name}` {error}", hint=self.about) from error


def _text(parameter: Parameter, text: str) -> str:
    if not text or len(text) > MAXIMUM_TEXT:
        raise ValueError(f"must have 1 to {MAXIMUM_TEXT} characters")
    if parameter.pattern and not re.search(parameter.pattern, text):
        raise ValueError("has not the right form")
    return text


def _integer(parameter: Parameter, text: str) -> int:
    digits = text.isascii() and text.isdigit() and len(text) < 12
    if not digits or not parameter.minimum <= int(text) <= parameter.maximum:
        raise ValueError(f"must be a whole number from {parameter.minimum} to {parameter.maximum}")
    return int(text)


def _boolean(_: Parameter, text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("must be true or false")
    return text == "true"


def _choice(parameter: Parameter, text: str) -> str:
    if text not in parameter.choices:
        raise ValueError(f"must be one of {', '.join(parameter.choices)}")
    return text


def _time(_: Parameter, text: str) -> datetime:
    """A date, or a date and time; UTC without an offset. A `+` that a client left unescaped arrives as a space."""
    try:
        at = datetime.fromisoformat(text.replace(" ", "+").replace("Z", "+00:00").replace("z", "+00:00"))
        return at.replace(tzinfo=timezone.utc) if at.tzinfo is None else at.astimezone(timezone.utc)
    except (ValueError, OverflowError):
        raise ValueError("must be a date (2026-01-31) or an RFC 3339 time (2026-01-31T12:00:00Z)") from None


_READERS: Mapping[Kind, Callable[[Parameter, str], Any]] = {
    "text": _text,
    "integer": _integer,
    "boolean": _boolean,
    "choice": _choice,
    "time": _time,
}

_SCHEMAS: Mapping[Kind, Callable[[Parameter], dict[str, Any]]] = {
    "text": lambda p: {
        "type": "string",
        "minLength": 1,
        "maxLength": MAXIMUM_TEXT,
        **({"pattern": p.pattern} if p.pattern else {}),
    },
    "integer": lambda p: {"type": "integer", "minimum": p.minimum, "maximum": p.maximum},
    "boolean": lambda _: {"type": "boolean"},
    "choice": lambda p: {"type": "string", "enum": list(p.choices)},
    "time": lambda _: {"type": "string", "anyOf": [{"format": "date"}, {"format": "date-time"}]},
}


def read_parameters(table: Sequence[Parameter], pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Values by name, with defaults; a Problem names the first parameter that is unknown, missing or wrong."""
    known = {parameter.name: parameter for parameter in table}
    found: dict[str, list[Any]] = {}
    for name, text in pairs:
        if name not in known:
            hint = f"known here: {', '.join(known) or 'none'}"
            raise Problem(400, "bad_parameter", f"unknown parameter `{name[:80]}`", hint=hint)
        found.setdefault(name, []).append(known[name].value(text))
    return {parameter.name: _settled(parameter, found.get(parameter.name, [])) for parameter in table}


def _settled(parameter: Parameter, values: list[Any]) -> Any:
    if parameter.required and not values:
        raise Problem(400, "bad_parameter", f"`{parameter.name}` is missing", hint=parameter.about)
    if len(values) > (parameter.maximum if parameter.repeated else 1):
        raise Problem(400, "bad_parameter", f"`{parameter.name}` is given too often", hint=parameter.about)
    if parameter.repeated and 0 < len(values) < parameter.minimum:
        raise Problem(400, "bad_parameter", f"`{parameter.name}` is not given often enough", hint=parameter.about)
    if parameter.repeated:
        return tuple(values)
    return values[0] if values else parameter.default
