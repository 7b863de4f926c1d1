"""Reads the arguments of REST and MCP requests, and describes parameters as JSON Schema.

Both interfaces give an argument as text (a query string, or JSON whose values are written as text), so that a value is
valid in one of them exactly if it is valid in the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from colline.errors import (
    AmbiguousNameError,
    CollineError,
    ColumnError,
    CursorError,
    LakeError,
    NoLineageYetError,
    SettingError,
)
from colline.graph.queries.registry import Kind, Parameter, RequestForm
from colline.graph.relative_times import RELATIVE_PATTERN, read_time_text, relative_time

MAX_TEXT_CHARACTERS = 24_000  # enough for a column whose own name and whose dataset's name have 10 KB each


class ParameterError(SettingError):
    """A parameter of a request that is unknown, missing, repeated, or has an invalid value."""


def read_arguments(form: RequestForm, pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The keyword arguments of the question's method; defaults of the registry fill in what is not given."""
    known = {parameter.name: parameter for parameter in form.parameters}
    values: dict[str, list[Any]] = {name: [] for name in known}
    for name, text in pairs:
        if name not in known:
            hint = f"known parameters: {', '.join(known) or 'none'}"
            raise ParameterError(f"unknown parameter `{name[:80]}`", hint=hint)
        values[name].append(_read_value(known[name], text))
    return {each.keyword: _argument(each, values[each.name]) for each in form.parameters}


def _read_value(parameter: Parameter, text: str) -> Any:
    try:
        return _READERS[parameter.kind](parameter, text)
    except ValueError as error:
        raise ParameterError(f"`{parameter.name}` {error}", hint=parameter.help) from error


def _argument(parameter: Parameter, values: list[Any]) -> Any:
    if parameter.required and not values:
        raise ParameterError(f"`{parameter.name}` is missing", hint=parameter.help)
    if not parameter.repeatable:
        if len(values) > 1:
            raise ParameterError(f"`{parameter.name}` is given more than once", hint=parameter.help)
        return values[0] if values else parameter.default
    least, most = value_bounds(parameter)
    if values and not least <= len(values) <= most:
        count = f"{most} times" if least == most else f"at most {most} times"
        raise ParameterError(f"`{parameter.name}` must be given {count}", hint=parameter.help)
    return tuple(values)


def value_bounds(parameter: Parameter) -> tuple[int, int]:
    """The smallest and largest value over REST and MCP; if the parameter is repeatable, of the number of values."""
    least, most = parameter.request_bounds or (parameter.minimum or 0, parameter.maximum or 0)
    return max(least, int(parameter.required and parameter.repeatable)), most


def _read_text(_: Parameter, text: str) -> str:
    if not text or len(text) > MAX_TEXT_CHARACTERS:
        raise ValueError(f"must have 1 to {MAX_TEXT_CHARACTERS} characters")
    return text


def _read_integer(parameter: Parameter, text: str) -> int:
    least, most = value_bounds(parameter)
    is_number = text.isascii() and text.isdigit() and len(text) < 12
    if not is_number or not least <= int(text) <= most:
        raise ValueError(f"must be a whole number from {least} to {most}")
    return int(text)


def _read_boolean(_: Parameter, text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("must be true or false")
    return text == "true"


def _read_choice(parameter: Parameter, text: str) -> str:
    if text not in parameter.choices:
        raise ValueError(f"must be one of {', '.join(parameter.choices)}")
    return text


def _read_time(_: Parameter, text: str) -> datetime:
    """Reads a date or a time; a `+` that the client did not escape arrives as a space."""
    try:
        return read_time_text(
            text if text[:1].isalpha() or " " not in text or "-" not in text else text.replace(" ", "+")
        )
    except (ValueError, OverflowError):
        raise ValueError("must be a date (2026-01-31), an RFC 3339 time, `yesterday`, or `2h`") from None


def has_relative_time(form: RequestForm, pairs: Iterable[tuple[str, str]]) -> bool:
    """Whether the arguments contain a time such as `2h`, so that the same request has another answer later."""
    times = {parameter.name for parameter in form.parameters if parameter.kind == "time"}
    return any(name in times and relative_time(text) is not None for name, text in pairs)


_READERS: Mapping[Kind, Callable[[Parameter, str], Any]] = {
    "text": _read_text,
    "column": _read_text,
    "table": _read_text,
    "sql": _read_text,
    "integer": _read_integer,
    "boolean": _read_boolean,
    "choice": _read_choice,
    "time": _read_time,
}


def json_schema(parameter: Parameter) -> dict[str, Any]:
    """The parameter as JSON Schema."""
    least, most = value_bounds(parameter)
    schema: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": MAX_TEXT_CHARACTERS}
    if parameter.kind == "integer":
        schema = {"type": "integer", "minimum": least, "maximum": most}
    elif parameter.kind == "boolean":
        schema = {"type": "boolean"}
    elif parameter.kind == "choice":
        schema = {"type": "string", "enum": list(parameter.choices)}
    elif parameter.kind == "time":
        forms = [{"format": "date"}, {"format": "date-time"}, {"pattern": RELATIVE_PATTERN}]
        schema = {"type": "string", "anyOf": forms}
    if parameter.repeatable:
        return {"type": "array", "items": schema, "minItems": least, "maxItems": most}
    return schema if parameter.default is None else {**schema, "default": parameter.default}


def error_code(error: CollineError) -> str:
    """The code of an error that a question raised, as REST and MCP report it."""
    for kind, code in _ERROR_CODES.items():
        if isinstance(error, kind):
            return code
    return "bad_parameter"


_ERROR_CODES: Mapping[type[CollineError], str] = {
    LakeError: "no_lineage",
    AmbiguousNameError: "ambiguous",
    ColumnError: "not_found",
    NoLineageYetError: "not_found",
    CursorError: "bad_cursor",
}


def error_body(error: CollineError) -> dict[str, Any]:
    """The JSON of an error: `error`, `code`, `hint`, and for a column name `candidates`."""
    candidates = {"candidates": list(error.candidates)} if isinstance(error, ColumnError) else {}
    return {"error": error.message, "code": error_code(error), "hint": error.hint, **candidates}
