"""Lineage cases as text: SQL or a few lines of PySpark, followed by the lineage that they must have.

```sql
-- case: sum is an aggregation of its argument
-- table: orders(id, region, amount)
select region, sum(amount) as total from orders group by region
-- expect:
--   region <- orders.region   direct/identity
--   total  <- orders.amount   direct/aggregation
--   *      <- orders.region   indirect/group_by
```

Lines before the statement:

- `-- table: t(a, b string) using delta` creates a table; a column without a type is an int.
- `-- setup: …` runs a statement.
- `-- since: 4.0` and `-- until: 3.5` limit the case to some Spark versions.
- `-- gap: reason` marks a case whose lineage is wrong today. The lines that come out today follow `-- today:`. The case
  fails when its output changes, and also when the gap is closed, so that the mark is removed.

Lines of the expectation:

- `x <- nothing`: a column without input. `masked` may follow an effect.
- `opaque: MapInPandas`: a step that cannot be analyzed.
- `input: t`, `output: t create`, `read: t.a value filter`: compared only if the case has a line of that kind. `input`
  is a dataset that is read (`view v` for a view, `local data`), `output` a target and its change of state, `read` a
  column that is read and what it is used for.
- A statement with several targets has lines such as `first.a <- …` and `second.a <- …`.

A `.py` file uses `#` for its marks. Its code leaves a DataFrame or SQL text in `df`, or a plan written by hand in
`plan`.
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
RULES_OF_RUN_CASES = PLANS / "run" / "rules.json"
DEFAULT_SPARK = "4.1"
_KEYS = ("table", "setup", "since", "until", "gap")


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
    until: str = ""
    gap: str = ""
    today: tuple[str, ...] = ()
    is_python: bool = False

    @property
    def key(self) -> str:
        return f"{self.topic}: {self.name}"

    @property
    def needs_delta(self) -> bool:
        return "delta" in self._text.lower()

    @property
    def needs_iceberg(self) -> bool:
        return "ice.db." in self._text

    @property
    def needs_hive(self) -> bool:
        return self.topic == "hive"

    @property
    def needs_plain_session(self) -> bool:
        """The SQL parsers of Delta and Iceberg do not support parameters of SQL functions."""
        return self.topic == "sql_functions"

    @property
    def _text(self) -> str:
        return "\n".join((*self.tables, *self.setup, self.code))

    def runs_on(self, version: str) -> bool:
        """Whether the case applies to a Spark version such as `4.1`."""
        number = version_number(version)
        if self.since and number < version_number(self.since):
            return False
        return not self.until or number <= version_number(self.until)

    @property
    def recorded_on(self) -> str:
        """The Spark whose plan is recorded: the default version, or the nearest one that the case applies to."""
        return DEFAULT_SPARK if self.runs_on(DEFAULT_SPARK) else self.until or self.since


def version_number(version: str) -> tuple[int, ...]:
    """`4.1.4` → (4, 1)"""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def all_cases() -> list[Case]:
    """The cases that are analyzed, in the order of their files' names."""
    paths = sorted([*ROOT.glob("*.sql"), *ROOT.glob("*.py")])
    return _unique([case for path in paths for case in read_cases(path)])


def run_cases() -> list[Case]:
    """The cases whose code is executed; their lineage is that of the events."""
    paths = sorted((ROOT.parent / "writes").glob("*.py"))
    return _unique([case for path in paths for case in read_cases(path)])


def _unique(cases: list[Case]) -> list[Case]:
    keys = [case.key for case in cases]
    repeated = {key for key in keys if keys.count(key) > 1}
    assert not repeated, f"two cases have the same name: {repeated}"
    return cases


def read_cases(path: Path) -> Iterator[Case]:
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
        expected=tuple(sorted(_expected_lines(expectation, mark))),
        tables=tuple(notes["table"]),
        setup=tuple(notes["setup"]),
        since="".join(notes["since"]),
        until="".join(notes["until"]),
        gap=" ".join(notes["gap"]),
        today=tuple(sorted(_expected_lines(today, mark))),
        is_python=mark == "#",
    )


def _expected_lines(text: str, mark: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.startswith(f"{mark}   "):
            yield " ".join(line.removeprefix(mark).split())


def check_case(case: Case, plan: Plan, context: Context) -> None:
    """Fail unless the plan has the lineage that the case expects, or today's lineage if the case has a gap."""
    check_lines(case, lineage_lines(case, plan, context))


def check_lines(case: Case, found: tuple[str, ...]) -> None:
    """Fail unless these are the expected lines of the case, or today's lines if the case has a gap."""
    if not case.gap:
        assert found == case.expected
        return
    assert case.today != case.expected, "the lines below `today:` must differ from the expected ones"
    assert found != case.expected, "the gap is closed: remove `gap:` and `today:`"
    assert found == case.today


def lineage_lines(case: Case, plan: Plan, context: Context) -> tuple[str, ...]:
    """The lineage of a plan in the form in which the case states its expectation."""
    found = trace_lineage(plan, context)
    done = statement(plan, context)
    lines = [f"opaque: {step.node}" for step in found.opaque]
    if len(done.writes) > 1:
        lines += [
            line for write in done.writes for line in column_lines(write.lineage, f"{short_name(write.name.name)}.")
        ]
    else:
        lines += column_lines(found)
    for mark, extra_lines in (("input", _inputs), ("output", _outputs), ("read", _reads)):
        if any(line.startswith(f"{mark}: ") for line in case.expected):
            lines += [f"{mark}: {text}" for text in extra_lines(done, found)]
    return tuple(sorted(lines))


def column_lines(lineage: ColumnLineage, prefix: str = "") -> list[str]:
    """The lines of every column, and of `*` for what decides the rows."""
    lines = [line for name, entries in lineage.fields.items() for line in _dependency_lines(prefix + name, entries)]
    return lines + (_dependency_lines(f"{prefix}*", lineage.dataset) if lineage.dataset else [])


def _inputs(done: Statement, found: ColumnLineage) -> list[str]:
    return [_input(dataset) for dataset in (done.inputs or found.inputs)]


def _input(dataset: DatasetRead) -> str:
    if dataset.source.kind is SourceKind.LOCAL:
        return "local data"
    return f"{'view ' if dataset.source.kind is SourceKind.VIEW else ''}{short_name(dataset.name.name)}"


def _outputs(done: Statement, _: ColumnLineage) -> list[str]:
    return [_output(write) for write in done.writes]


def _output(write: Write) -> str:
    kind = "view " if write.target.kind is SourceKind.VIEW else ""
    change = f" {write.lifecycle.value.lower()}" if write.lifecycle is not None else ""
    before = f" from {short_name(write.previous.name)}" if write.previous is not None else ""
    return f"{kind}{short_name(write.name.name)}{change}{before}"


def _reads(done: Statement, found: ColumnLineage) -> list[str]:
    return [
        f"{short_name(dataset.name.name)}.{read.field} {' '.join(use.value for use in read.uses)}"
        for dataset in (done.inputs or found.inputs)
        for read in dataset.reads
    ]


def _dependency_lines(name: str, entries: tuple[Dependency, ...]) -> list[str]:
    if not entries:
        return [f"{name} <- nothing"]
    pairs = [(entry.column, step) for entry in entries for step in entry.transformations]
    names = {column: f"{short_name(column.dataset.name)}.{column.field}" for column, _ in pairs}
    return sorted({f"{name} <- {names[column]} {effect_label(step)}" for column, step in pairs})


def short_name(dataset: str) -> str:
    """The name that a case uses for a dataset: the last part of its path."""
    name = dataset.rstrip("/").rsplit("/", 1)[-1]
    return name.removeprefix("spark_catalog.").removeprefix("default.").removeprefix("ice.db.")


def table_ddl(text: str) -> str:
    """`orders(id, region string) using delta` → the CREATE TABLE statement"""
    found = re.fullmatch(r"([\w.`]+)\(((?:[^()]|\([^()]*\))*)\)(.*)", text, flags=re.DOTALL)
    assert found, f"not a table: {text}"
    columns = [part.strip() for part in _split_columns(found[2])]
    typed = [column if re.search(r"[\w`] \w", column) else f"{column} int" for column in columns]
    using = found[3].strip() or "using parquet"
    return f"create table {found[1]} ({', '.join(typed)}) {using}"


def _split_columns(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]
