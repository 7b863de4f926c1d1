"""The data contract of a table as pages of YAML within a budget of characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from colline.graph.answer import count_of, page_at
from colline.graph.traversal.times import parse_time
from colline.mcp.compact_text import DATA_NOTE, FOOTER_CHARACTERS, short_name
from colline.mcp.tool_results import ContractResult

if TYPE_CHECKING:
    from colline.contracts.data_contract import DataContract
    from colline.graph import Lineage

MAX_LINE_CHARACTERS = 400


def contract_reply(
    lineage: Lineage, keywords: dict[str, Any], *, budget: int, cursor: str | None = None, note: str | None = None
) -> tuple[str, ContractResult]:
    """The text of one page, and its structured content: the whole contract if it fits on the first page."""
    as_of, view = keywords.get("as_of"), lineage.view()
    time = view.as_of(parse_time(as_of))
    page = page_at(0, cursor, view.version)
    contract = lineage.contract(keywords["table"], as_of=None if as_of is None else as_of.isoformat())
    head = _head_lines(contract, time, note)
    lines = [_short_line(line) for line in contract.to_yaml().splitlines()]
    start = min(page.offset, len(lines))
    end = _last_line(lines, start, budget - len("\n".join(head)) - FOOTER_CHARACTERS)
    rest = len(lines) - end
    next_cursor = f"{view.version}~{end}" if rest else None
    shown = [*head, *lines[start:end]]
    shown += [f"cut: {end - start} lines shown, {rest} left out; cursor {next_cursor}"] if rest else []
    is_whole = start == 0 and not rest
    facts = contract.facts
    result = ContractResult(
        question="contract", verdict=_verdict(contract), as_of=time,
        capture="gaps" if facts.gaps else "complete",
        totals={"columns": len(facts.columns), "edges": len(facts.edges), "lines": len(lines)},
        unknown=[short_name(gap) for gap in facts.gaps], shown=end - start, left_out=rest, cursor=next_cursor,
        note=note, contract=contract.to_dict() if is_whole else None,
    )  # fmt: skip
    return "\n".join(shown), result


def _verdict(contract: DataContract) -> str:
    facts = contract.facts
    counts = count_of(len(facts.columns), "column"), count_of(len(facts.consumers), "consumer")
    return f"{facts.label}: {', '.join(counts)}"


def _head_lines(contract: DataContract, as_of: str, note: str | None) -> list[str]:
    facts = contract.facts
    capture = f"gaps ({len(facts.gaps)})" if facts.gaps else "complete"
    return [
        *([f"note: {short_name(note)}"] if note else []),
        short_name(_verdict(contract)),
        f"columns={len(facts.columns)} edges={len(facts.edges)} | as of {as_of} | capture: {capture}",
        *(f"unknown: {short_name(gap)}" for gap in facts.gaps[:5]),
        f"# {DATA_NOTE}",
    ]


def _short_line(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARACTERS else line[: MAX_LINE_CHARACTERS - 1] + "…"


def _last_line(lines: list[str], start: int, budget: int) -> int:
    """The line after the last one that fits; one line at least."""
    end = start
    while end < len(lines) and (end == start or budget >= len(lines[end]) + 1):
        budget -= len(lines[end]) + 1
        end += 1
    return end
