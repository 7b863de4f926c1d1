"""Lineage cases as text: SQL or a few lines of PySpark above, the lineage they must have below.

```sql
-- case: sum is an aggregation of its argument
-- table: orders(id, region, amount)
select region, sum(amount) as total from orders group by region
-- expect:
--   region <- orders.region   direct/identity
--   total  <- orders.amount   direct/aggregation
--   *      <- orders.region   indirect/group_by
```

`-- table: t(a, b string) using delta` makes a table (a column without a type is an int), `-- setup: …` runs one.
`-- since: 4.0` leaves older Sparks out. `x <- nothing` has no input; `masked` may follow an effect.
`opaque: MapInPandas` lists a step that cannot be seen into. These are compared where a case has such a line:
`input: t` (a dataset read, `view v` for a view, `local data`), `output: t create` (a target and what becomes of it),
`read: t.a value filter` (a column read, and what for). A statement of several targets says `one.a <- …`, `two.a <- …`.
In a `.py` file the marks are `#` and the code leaves a DataFrame in `df`.

`-- gap: reason` marks a case that is not right yet: below `-- today:` stand the lines that come out now. Such a case
fails when its output changes, and also when the gap closes, so that the mark is taken away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from colline.plan import Plan, SourceKind
from colline.trace import ColumnLineage, Context, DatasetRead, Dependency, Statement, Write, statement
from colline.trace import lineage as trace_lineage
from colline.trace.lineage_text import effect_label

ROOT = Path(__file__).parent.parent / "cases" / "lineage"
PLANS = Path(__file__).parent.parent / "cases" / "plans"
RUN = PLANS / "run" / "kinds.json"
_KEYS = ("table", "setup", "since", "gap")


@dataclass(frozen=True)
class Case:
    """One case: what to set up, what to analyze, and the lines that must come out."""

    topic: str
    name: str
    code: str
    expected: tuple[str, ...]
    tables: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    since: str = ""
    gap: str = ""
    today: tuple[str, ...] = ()
    is_python: bool = False

    @property
    def key(self) -> str:
        return f"{self.topic}: {self.name}"

    @property
    def needs_delta(self) -> bool:
        return any("delta" in text.lower() for text in (*self.tables, *self.setup, self.code))


def all_cases() -> list[Case]:
    """Every case of every file, in order of the files' names."""
    paths = sorted([*ROOT.glob("*.sql"), *ROOT.glob("*.py")])
    found = [case for path in paths for case in read(path)]
    repeated = {case.key for case in found if sum(other.key == case.key for other in found) > 1}
    assert not repeated, f"two cases of one name: {repeated}"
    return found


def run_cases() -> list[Case]:
    """The cases whose code is run, so that their events are seen."""
    return [case for path in sorted((ROOT.parent / "writes").glob("*.py")) for case in read(path)]


def read(path: Path) -> Iterator[Case]:
    """The cases of one file."""
    mark = "--" if path.suffix == ".sql" else "#"
    text = path.read_text(encoding="utf-8")
    for block in re.split(rf"^{mark} case:", text, flags=re.MULTILINE)[1:]:
        yield _case(path, block, mark)


def _case(path: Path, block: str, mark: str) -> Case:
    name, _, rest = block.partition("\n")
    head, _, expectation = rest.partition(f"{mark} expect:")
    expectation, _, today = expectation.partition(f"{mark} today:")
    notes: dict[str, list[str]] = {key: [] for key in _KEYS}
    code = []
    for line in head.splitlines():
        found = re.match(rf"{mark} (\w+): (.*)", line)
        if found and found[1] in notes:
            notes[found[1]].append(found[2].strip())
        else:
            code.append(line)
    return Case(
        topic=path.stem,
        name=name.strip(),
        code="\n".join(code).strip().rstrip(";"),
        expected=tuple(sorted(_expected(expectation, mark))),
        tables=tuple(notes["table"]),
        setup=tuple(notes["setup"]),
        since="".join(notes["since"]),
        gap=" ".join(notes["gap"]),
        today=tuple(sorted(_expected(today, mark))),
        is_python=mark == "#",
    )


def _expected(text: str, mark: str) -> Iterator[str]:
    for line in text.splitlines():
        if not line.startswith(f"{mark}   "):
            continue
        yield " ".join(line.removeprefix(mark).split())


def check(case: Case, plan: Plan, context: Context) -> None:
    """Fail unless the plan has the lineage that the case expects, or today's where there is a gap."""
    found = shown(case, plan, context)
    if not case.gap:
        assert found == case.expected
        return
    assert case.today != case.expected, "a gap says what comes out today and what should"
    assert found != case.expected, "the gap is closed: take away `gap:` and `today:`"
    assert found == case.today


def shown(case: Case, plan: Plan, context: Context) -> tuple[str, ...]:
    """What comes out, as the lines that the case would expect."""
    found = trace_lineage(plan, context)
    done = statement(plan, context)
    lines = [f"opaque: {step.node}" for step in found.opaque]
    if len(done.writes) > 1:
        lines += [line for write in done.writes for line in columns(write.lineage, f"{short(write.name.name)}.")]
    else:
        lines += columns(found)
    for mark, more in (("input", _inputs), ("output", _outputs), ("read", _reads)):
        if any(line.startswith(f"{mark}: ") for line in case.expected):
            lines += [f"{mark}: {text}" for text in more(done, found)]
    return tuple(sorted(lines))


def columns(lineage: ColumnLineage, of: str = "") -> list[str]:
    """The lines of every column, and of `*` where something decides the rows."""
    lines = [line for name, entries in lineage.fields.items() for line in _lines(of + name, entries)]
    return lines + (_lines(f"{of}*", lineage.dataset) if lineage.dataset else [])


def _inputs(done: Statement, found: ColumnLineage) -> list[str]:
    return [_input(dataset) for dataset in (done.inputs or found.inputs)]


def _input(dataset: DatasetRead) -> str:
    if dataset.source.kind is SourceKind.LOCAL:
        return "local data"
    return f"{'view ' if dataset.source.kind is SourceKind.VIEW else ''}{short(dataset.name.name)}"


def _outputs(done: Statement, _: ColumnLineage) -> list[str]:
    return [_output(write) for write in done.writes]


def _output(write: Write) -> str:
    kind = "view " if write.target.kind is SourceKind.VIEW else ""
    change = f" {write.lifecycle.value.lower()}" if write.lifecycle is not None else ""
    before = f" from {short(write.previous.name)}" if write.previous is not None else ""
    return f"{kind}{short(write.name.name)}{change}{before}"


def _reads(done: Statement, found: ColumnLineage) -> list[str]:
    return [
        f"{short(dataset.name.name)}.{read.field} {' '.join(use.value for use in read.uses)}"
        for dataset in (done.inputs or found.inputs)
        for read in dataset.reads
    ]


def _lines(name: str, entries: tuple[Dependency, ...]) -> list[str]:
    if not entries:
        return [f"{name} <- nothing"]
    pairs = [(entry.column, way) for entry in entries for way in entry.transformations]
    return sorted(
        {f"{name} <- {short(column.dataset.name)}.{column.field} {effect_label(way)}" for column, way in pairs}
    )


def short(dataset: str) -> str:
    """What a case calls a dataset: its last part."""
    return dataset.rstrip("/").rsplit("/", 1)[-1].removeprefix("spark_catalog.").removeprefix("default.")


def table_ddl(text: str) -> str:
    """`orders(id, region string) using delta` → the statement that makes it."""
    found = re.fullmatch(r"([\w.`]+)\(((?:[^()]|\([^()]*\))*)\)(.*)", text, flags=re.DOTALL)
    assert found, f"not a table: {text}"
    columns = [part.strip() for part in _split(found[2])]
    typed = [column if re.search(r"[\w`] \w", column) else f"{column} int" for column in columns]
    using = found[3].strip() or "using parquet"
    return f"create table {found[1]} ({', '.join(typed)}) {using}"


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]
