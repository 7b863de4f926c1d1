"""A row of the table and its values → the question, asked of the graph. Nothing is worked out here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from colline.errors import AmbiguousNameError, CollineError, ColumnError, LakeError, NoLineageYetError
from colline.server.endpoints import LIMIT, Endpoint
from colline.server.http_errors import Problem
from colline.server.marquez import column_lineage
from colline.server.parameters import Parameter

if TYPE_CHECKING:
    from colline.graph import Answer, Lineage

Values = dict[str, Any]
_NO_LAKES: Mapping[str, Path] = MappingProxyType({})


def ask(
    lineage: Lineage, endpoint: Endpoint, values: Values, lakes: Mapping[str, Path] = _NO_LAKES
) -> Answer | dict[str, Any]:
    """The answer of the graph, or plain values in the shape of Marquez; an error of the graph is a Problem.

    `lakes` are the others that may be compared with, by name: a path from a request is never opened.
    """
    try:
        if endpoint.group == "marquez":
            return column_lineage(lineage, values["nodeId"], values["depth"], downstream=values["withDownstream"])
        assert endpoint.call is not None
        question = getattr(lineage, endpoint.call)
        arguments = _arguments(endpoint, values)
        if "other" in arguments:
            arguments["other"] = _lake_called(arguments["other"], lakes)
        answer: Answer = question(**arguments)
    except CollineError as error:
        raise problem_of(error) from error
    return answer


def _lake_called(name: str, lakes: Mapping[str, Path]) -> Path:
    found = lakes.get(name)
    if found is None:
        known = f"known are {', '.join(sorted(lakes))}" if lakes else "`colline serve --other-lake NAME=PATH` names one"
        raise Problem(404, "not_found", f"no other lake is called `{name[:80]}`", hint=known)
    return found


def encoded(answer: Answer | dict[str, Any]) -> bytes:
    """The JSON that the command line prints."""
    return msgspec.json.encode(answer) if isinstance(answer, dict) else answer.to_json()


def _arguments(endpoint: Endpoint, values: Values) -> Values:
    return {
        parameter.argument or parameter.name: values[parameter.name]
        for parameter in endpoint.parameters
        if _is_said(parameter, values[parameter.name])
    }


def _is_said(parameter: Parameter, value: Any) -> bool:
    """Whether the question must be told: its own defaults are those of the table, but for how many rows there are."""
    return parameter is LIMIT or (value not in (None, ()) and value != parameter.default)


def problem_of(error: CollineError) -> Problem:
    """An error of the graph as an answer."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, LakeError):
        return Problem(503, "no_lineage", error.message, hint=error.hint)
    if isinstance(error, ColumnError):
        status, code = (409, "ambiguous") if isinstance(error, AmbiguousNameError) else (404, "not_found")
        return Problem(status, code, error.message, hint=error.hint, extra={"candidates": list(error.candidates)})
    if isinstance(error, NoLineageYetError):
        return Problem(404, "not_found", error.message, hint=error.hint)
    return Problem(400, "bad_parameter", error.message, hint=error.hint)
