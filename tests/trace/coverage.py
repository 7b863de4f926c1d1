"""docs/coverage.md: which rule is exercised by which case, on which Spark. Made from the recorded plans, never by hand.

`python -m tests.trace.coverage` writes it. A kind of node without a case is listed as such.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from colline.trace import rule_registry
from tests.trace.cases import RUN, Case, all_cases, run_cases
from tests.trace.recorded import load

PAGE = Path(__file__).parent.parent.parent / "docs" / "coverage.md"
HOME = "4.1"
VERSIONS = ("3.5", "4.0", HOME, "4.2", "4.3")
WITHOUT_DELTA = {"4.3"}
SHOWN = 3

REGISTRIES: Mapping[str, rule_registry.Registry] = {
    "Operators": rule_registry.operator,
    "Expressions": rule_registry.expression,
    "Statements": rule_registry.command,
}
HEAD = """# Coverage

Made by `make coverage-page` from the plans that are recorded beside the cases; a test says when it is out of date.

Each row is a kind of node in Spark's analyzed plan that has a rule of its own, with the cases in whose plans it occurs:
the first of them by name, and how many of them run on each Spark. Cases live in `tests/cases/lineage` (analyzed) and
`tests/cases/writes` (run, marked with ▸).
"""


@dataclass(frozen=True)
class Exercise:
    """A case, and the kinds of nodes that its plan has."""

    case: Case
    kinds: frozenset[str]
    is_run: bool = False

    @property
    def name(self) -> str:
        return f"{'▸ ' if self.is_run else ''}{self.case.key}"

    def runs_on(self, version: str) -> bool:
        if self.case.needs_delta and version in WITHOUT_DELTA:
            return False
        return not self.case.since or _number(version) >= _number(self.case.since)


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def exercises() -> list[Exercise]:
    """Every case with the kinds that were recorded for it."""
    found = [Exercise(case, _recorded(case)) for case in all_cases()]
    run = json.loads(RUN.read_text(encoding="utf-8"))
    return found + [Exercise(case, frozenset(run[case.key]), is_run=True) for case in run_cases()]


def _recorded(case: Case) -> frozenset[str]:
    plan = load(case)
    assert plan is not None, f"{case.key}: record it: make record"
    return frozenset(name for name, sort, _, _ in plan["classes"] if sort in "pe")


def page(found: list[Exercise]) -> str:
    """The whole page."""
    run = sum(exercise.is_run for exercise in found)
    parts = [HEAD, f"{len(found)} cases, {run} of them run.\n", *_gaps(found)]
    for title, rules in REGISTRIES.items():
        own = [kind for kind, rule in rules.kinds.items() if kind != "*" and rule.__module__.startswith("colline.")]
        parts += _section(title, own, found)
    parts += _common(found)
    return "\n".join(parts)


def _gaps(found: list[Exercise]) -> Iterator[str]:
    gaps = [exercise for exercise in found if exercise.case.gap]
    yield "## Gaps\n"
    yield "What comes out today and is not yet right; each fails the tests when it closes.\n"
    yield from (f"- {exercise.name}: {exercise.case.gap}" for exercise in gaps)
    yield "" if gaps else "None.\n"


def _section(title: str, kinds: list[str], found: list[Exercise]) -> Iterator[str]:
    by_kind = {kind: [each for each in found if kind in each.kinds] for kind in sorted(kinds)}
    with_case = {kind: cases for kind, cases in by_kind.items() if cases}
    without = [kind for kind, cases in by_kind.items() if not cases]
    yield f"## {title}\n"
    yield f"{len(with_case)} of {len(kinds)} kinds with a rule occur in a case.\n"
    yield f"| kind | cases | {' | '.join(VERSIONS)} |"
    yield f"|---|---|{'---|' * len(VERSIONS)}"
    yield from (_row(kind, cases) for kind, cases in with_case.items())
    yield ""
    if without:
        yield f"Without a case: {', '.join(f'`{kind}`' for kind in without)}.\n"


def _row(kind: str, cases: list[Exercise]) -> str:
    names = "; ".join(_escaped(each.name) for each in cases[:SHOWN])
    more = f"; … {len(cases) - SHOWN} more" if len(cases) > SHOWN else ""
    counts = " | ".join(str(sum(each.runs_on(version) for each in cases)) for version in VERSIONS)
    return f"| `{kind}` | {names}{more} | {counts} |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _common(found: list[Exercise]) -> Iterator[str]:
    """The kinds that have no rule of their own and pass their arguments on transformed."""
    known = {kind for rules in REGISTRIES.values() for kind in rules.kinds}
    others = sorted({kind for each in found for kind in _expressions(each) if kind not in known})
    yield "## Functions under the common rule\n"
    yield "They have no rule of their own: what goes in comes out transformed. Those that occur in a case:\n"
    yield ", ".join(f"`{kind}`" for kind in others) + ".\n"


def _expressions(exercise: Exercise) -> Iterator[str]:
    plan = load(exercise.case) if not exercise.is_run else None
    if plan is not None:
        yield from (name for name, sort, _, _ in plan["classes"] if sort == "e")


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(exercises()), encoding="utf-8")


if __name__ == "__main__":
    main()
