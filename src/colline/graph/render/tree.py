"""An upstream or downstream answer as a tree: each column below the one it was reached from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from colline.graph.results import WalkAnswer
from colline.graph.rows import EdgeRow
from colline.terminal_text import escape_control_characters

_FORK, _LAST, _BAR, _GAP = "├─ ", "└─ ", "│  ", "   "


@dataclass(frozen=True)
class TreeLine:
    """One line: the branches before it, the column, and how it was reached."""

    guide: str
    label: str
    how: str = ""
    state: str = ""


def tree_lines(answer: WalkAnswer) -> Iterator[TreeLine]:
    """The columns asked about, each with the columns reached from it. A repeated column has no branches."""
    steps = _steps(answer)
    labels = {row.id: escape_control_characters(row.label) for row in (*answer.of, *answer.columns)}
    printed: set[int] = set()
    # an explicit stack, because paths may be longer than the recursion limit
    stack: list[tuple[int, str, str, EdgeRow | None]] = [(row.id, "", "", None) for row in reversed(answer.of)]
    while stack:
        node, before, fork, edge = stack.pop()
        is_repeated = node in printed
        printed.add(node)
        how = _transformation(edge) + ("  (above)" if is_repeated and steps.get(node) else "")
        state = edge.last_state or "" if edge else ""
        yield TreeLine(before + fork, labels[node], how, "" if state == "COMPLETE" else state)
        if is_repeated:
            continue
        below = before + ("" if not fork else _GAP if fork == _LAST else _BAR)
        children = list(steps.get(node, {}).items())
        for place, (child, step) in reversed(list(enumerate(children, 1))):
            stack.append((child, below, _LAST if place == len(children) else _FORK, step))


def _steps(answer: WalkAnswer) -> dict[int, dict[int, EdgeRow]]:
    """The columns one step farther than each column, with the edge to them: a direct one if there is one."""
    place = {row.id: number for number, row in enumerate((*answer.of, *answer.columns))}
    out: dict[int, dict[int, EdgeRow]] = {}
    for edge in answer.edges:
        farther, nearer = (edge.from_, edge.to) if answer.question == "upstream" else (edge.to, edge.from_)
        if farther == nearer or place[farther] < len(answer.of):
            continue
        found = out.setdefault(nearer, {})
        if farther not in found or (edge.type == "DIRECT" != found[farther].type):
            found[farther] = edge
    return {node: dict(sorted(found.items(), key=lambda step: place[step[0]])) for node, found in out.items()}


def _transformation(edge: EdgeRow | None) -> str:
    if edge is None:
        return ""
    marks = (" (masked)" if edge.masking else "") + (" indirect" if edge.type == "INDIRECT" else "")
    job = edge.job.name if edge.job else "?"
    return escape_control_characters(f"{edge.description or edge.subtype.lower()}{marks} by {job}")
