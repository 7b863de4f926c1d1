"""Calls the tools of agents on a lake. A call never raises: what fails is a result that an agent can correct."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from colline.errors import AmbiguousNameError, CollineError, ColumnError, ColumnNotFoundError
from colline.graph.queries.request_arguments import error_body, read_arguments
from colline.graph.results import WalkAnswer
from colline.mcp.compact_text import CompactPage, count_gaps, head_lines, rows_page, short_name, trace_page
from colline.mcp.contract_reply import contract_reply
from colline.mcp.tool_results import RowsResult, ToolResult, TraceResult
from colline.mcp.tool_specs import BY_TOOL, DEFAULT_CHARACTERS, ToolSpec, request_form

if TYPE_CHECKING:
    from colline.graph import Answer, Lineage

ROWS_PER_PAGE = 500  # more than any budget shows
# hints that name commands of the terminal, and what an agent can do instead
_FIND_HINT = "try `find_column` with a part of the name"
_HINTS = {
    "try `colline find` with a part of the name": _FIND_HINT,
    "`colline tables` and `colline jobs` list the names": _FIND_HINT,
}
_OWN_ARGUMENTS = ("max_characters", "cursor", "expressions", "direction")


class UnknownToolError(CollineError):
    """A tool that does not exist."""


@dataclass(frozen=True, slots=True)
class ToolReply:
    """The text and the structured content of a call."""

    text: str
    content: dict[str, Any]
    is_error: bool = False


class LakeTools:
    """Calls tools on one lake, one call at a time. The first call opens the lake."""

    def __init__(self, lake: str | Path) -> None:
        self.lake = lake
        self._lineage: Lineage | None = None
        self._lock = threading.Lock()

    def reply(self, name: str, arguments: Mapping[str, Any]) -> ToolReply:
        """The reply to a call."""
        try:
            with self._lock:
                return self._call(name, arguments)
        except UnknownToolError as error:
            return _error_reply({**error_body(error), "code": "not_found"})
        except CollineError as error:
            return _error_reply(error_body(error))

    def open(self) -> Lineage:
        """The lake."""
        if self._lineage is None:
            from colline.graph import open_lake

            self._lineage = open_lake(self.lake)
        return self._lineage

    def _call(self, name: str, arguments: Mapping[str, Any]) -> ToolReply:
        spec = BY_TOOL.get(name)
        if spec is None:
            raise UnknownToolError(f"no tool is called `{name[:80]}`", hint=f"tools: {', '.join(BY_TOOL)}")
        keywords = read_arguments(request_form(spec), _pairs(arguments))
        own = {each: keywords.pop(each) for each in _OWN_ARGUMENTS if each in keywords}
        if spec.name == "contract":
            return self._contract(keywords, own)
        method = own.get("direction", spec.question)
        answer, note = self._answer(method, keywords, own.get("cursor"))
        budget = (own["max_characters"] or DEFAULT_CHARACTERS) - len("\n".join(head_lines(answer, note)))
        if isinstance(answer, WalkAnswer):
            page = trace_page(answer, budget, expressions=bool(own.get("expressions")))
        else:
            page = rows_page(answer, budget)
        return _reply(spec, answer, page, note)

    def _answer(self, question: str, keywords: dict[str, Any], cursor: str | None) -> tuple[Answer, str | None]:
        """The answer; if a name has one similar name only, the answer for that one, with a note."""
        from colline.graph.queries.registry import BY_NAME

        takes = {each.name for each in BY_NAME[question].parameters}
        paging = {"limit": ROWS_PER_PAGE, "cursor": cursor} if "limit" in takes else {}
        method = getattr(self.open(), question)
        try:
            return method(**keywords, **paging), None
        except ColumnNotFoundError as error:
            if len(error.candidates) != 1 or not error.column:
                raise
            guess = error.candidates[0]
            corrected = {key: _replace_name(value, error.column, guess) for key, value in keywords.items()}
            if corrected == keywords:
                raise
            return method(**corrected, **paging), f"there is no `{error.column}`; this is the answer for `{guess}`"

    def _contract(self, keywords: dict[str, Any], own: Mapping[str, Any]) -> ToolReply:
        """The contract of a table; if its name has one similar name only, that of this one, with a note."""
        budget, cursor = own["max_characters"] or DEFAULT_CHARACTERS, own.get("cursor")
        try:
            text, result = contract_reply(self.open(), keywords, budget=budget, cursor=cursor)
        except ColumnError as error:
            if isinstance(error, AmbiguousNameError) or len(error.candidates) != 1:
                raise
            guess = error.candidates[0]
            note = f"there is no `{keywords['table']}`; this is the answer for `{guess}`"
            text, result = contract_reply(
                self.open(), {**keywords, "table": guess}, budget=budget, cursor=cursor, note=note
            )
        return ToolReply(text, msgspec.to_builtins(result))


def _replace_name(value: Any, name: str, guess: str) -> Any:
    if isinstance(value, tuple):
        return tuple(guess if each == name else each for each in value)
    return guess if value == name else value


def _reply(spec: ToolSpec, answer: Answer, page: CompactPage, note: str | None) -> ToolReply:
    rows = len(answer.main_rows)
    left_out = answer.left_out + rows - page.shown
    cursor = _cursor_after(answer, page.shown) if left_out and answer.snapshot else None
    result = _result(spec, answer, page, (left_out, cursor, note))
    lines = [*head_lines(answer, note), *page.lines]
    if left_out:
        word = "columns" if page.edges else "rows"
        lines.append(f"cut: {page.shown} {word} shown, {left_out} left out; " + (f"cursor {cursor}" if cursor else ""))
    elif not page.lines:
        lines.append("unknown: lineage is missing" if answer.unknown else "none")
    return ToolReply("\n".join(lines), msgspec.to_builtins(result))


def _cursor_after(answer: Answer, shown: int) -> str:
    """The cursor after the rows that were shown; the answer's own cursor is after all its rows."""
    offset = 0 if answer.cursor is None else int(answer.cursor.partition("~")[2]) - len(answer.main_rows)
    return f"{answer.snapshot}~{offset + shown}"


def _result(spec: ToolSpec, answer: Answer, page: CompactPage, rest: tuple[int, str | None, str | None]) -> ToolResult:
    left_out, cursor, note = rest
    shared: dict[str, Any] = {
        "question": spec.name,
        "verdict": answer.verdict,
        "as_of": answer.as_of,
        "capture": "gaps" if count_gaps(answer) else "complete",
        "totals": {name: int(value) for name, value in answer.totals.items() if isinstance(value, int)},
        "unknown": [f"{short_name(row.what)}: {short_name(row.why)}" for row in answer.unknown],
        "shown": page.shown,
        "left_out": left_out,
        "cursor": cursor,
        "note": note,
    }
    if isinstance(answer, WalkAnswer):
        return TraceResult(**shared, edges=page.edges)
    return RowsResult(**shared, rows=page.rows)


def _error_reply(body: dict[str, Any]) -> ToolReply:
    """An error with what to do next; candidates of an ambiguous or misspelled name are listed."""
    lines = [f"error: {short_name(str(body['error']))}"]
    if body.get("hint"):
        body = {**body, "hint": _HINTS.get(str(body["hint"]), body["hint"])}
        lines.append(f"hint: {short_name(str(body['hint']))}")
    lines += [f"candidate: {short_name(name)}" for name in body.get("candidates", ())]
    return ToolReply("\n".join(lines), body, is_error=True)


def _pairs(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The arguments as a query string would contain them, so that REST and MCP read them alike."""
    for name, value in arguments.items():
        for each in value if isinstance(value, list) else [value]:
            if each is not None:
                yield name, each if isinstance(each, str) else msgspec.json.encode(each).decode()
