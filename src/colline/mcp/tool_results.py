"""The structured content of the tools, and its JSON Schema."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """What every tool returns. `capture` is `gaps` if lineage is missing on the way, with the reasons in `unknown`."""

    question: str
    verdict: str
    as_of: str
    capture: Literal["complete", "gaps"]
    totals: dict[str, int]
    unknown: list[str]
    shown: int
    left_out: int
    cursor: str | None
    note: str | None = None


class TraceEdge(msgspec.Struct, frozen=True):
    """One step: the target gets its value from the source (`DIRECT`), or is influenced by it (`INDIRECT`)."""

    source: str
    target: str
    effects: list[str]
    masked: bool
    job: str | None


class TraceResult(ToolResult, frozen=True, kw_only=True):
    """The edges of a trace, nearest first."""

    edges: list[TraceEdge]


class RowsResult(ToolResult, frozen=True, kw_only=True):
    """The rows of an answer: the cells by their headers."""

    rows: list[dict[str, str]]


class ContractResult(ToolResult, frozen=True, kw_only=True):
    """A page of a data contract; `contract` is the whole one, if it fits on one page."""

    contract: dict[str, Any] | None


def output_schema(result: type[ToolResult]) -> dict[str, Any]:
    """The JSON Schema of a result, whose root is an object as the protocol requires."""
    _, components = msgspec.json.schema_components([result], ref_template="#/$defs/{name}")
    root: dict[str, Any] = components.pop(result.__name__)
    return {**root, "$defs": components} if components else root
