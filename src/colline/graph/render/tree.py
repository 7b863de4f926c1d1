"""A walk as a tree: each column below the one it was reached from, told in full once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from colline.graph.answer import Answer, Row

_FORK, _LAST, _BAR, _GAP = "├─ ", "└─ ", "│  ", "   "


@dataclass(frozen=True)
class Line:
    """One line: the branches before it, the column, and how it was reached."""

    guide: str
    label: str
    how: str = ""
    state: str = ""


def lines(answer: Answer) -> Iterator[Line]:
    """The columns asked about, and below each what the walk reached from there; a second time only its name."""
    steps, names = _steps(answer), {row["id"]: row for row in (*answer.of, *answer.main_rows)}
    told: set[int] = set()
    # a column waits with the branches before it; the last one goes on first. Without recursion: ways may be long
    waiting: list[tuple[int, str, str, Row | None]] = [(row["id"], "", "", None) for row in reversed(answer.of)]
    while waiting:
        node, before, fork, edge = waiting.pop()
        again = node in told
        told.add(node)
        how = _how(edge) + ("  (above)" if again and steps.get(node) else "")
        state = str(edge["last_state"] or "") if edge else ""
        yield Line(before + fork, names[node]["label"], how, "" if state == "COMPLETE" else state)
        if again:
            continue
        below = before + ("" if not fork else _GAP if fork == _LAST else _BAR)
        onward = list(steps.get(node, {}).items())
        for place, (child, step) in reversed(list(enumerate(onward, 1))):
            waiting.append((child, below, _LAST if place == len(onward) else _FORK, step))


def _steps(answer: Answer) -> dict[int, dict[int, Row]]:
    """From each column to those one step farther, with the edge that counts: a direct one where there is one."""
    far, near = ("from", "to") if answer.question == "upstream" else ("to", "from")
    place = {row["id"]: number for number, row in enumerate((*answer.of, *answer.main_rows))}
    out: dict[int, dict[int, Row]] = {}
    for edge in answer.sections.get("edges", ()):
        if edge[far] == edge[near] or place[edge[far]] < len(answer.of):
            continue
        found = out.setdefault(edge[near], {})
        if edge[far] not in found or (edge["type"] == "DIRECT" != found[edge[far]]["type"]):
            found[edge[far]] = edge
    return {node: dict(sorted(found.items(), key=lambda step: place[step[0]])) for node, found in out.items()}


def _how(edge: Row | None) -> str:
    if edge is None:
        return ""
    what = edge["description"] or edge["subtype"].lower()
    marks = (" ⛨" if edge["masking"] else "") + (" indirect" if edge["type"] == "INDIRECT" else "")
    return f"{what}{marks} by {(edge['job'] or {}).get('name', '?')}"
