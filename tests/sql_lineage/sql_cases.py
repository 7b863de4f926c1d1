"""Cases of SQL scripts as text: a dialect, tables, statements, and the lineage that they must have.

`-- dialect:` is sqlglot's name. A line of the expectation is `table.column <- table.column effect`, with the name of
the procedure in front if the statement is in one; `problem: line: text`; `table: column type, …` for DDL; or
`comment: table text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from colline.sql_lineage.script_lineage import ScriptLineage, script_lineage
from colline.sql_lineage.sql_targets import SqlWrite
from colline.sql_lineage.table_schema import FixedTables
from colline.trace.lineage_text import effect_label

ROOT = Path(__file__).parents[1] / "cases" / "sql"


@dataclass(frozen=True)
class SqlCase:
    key: str
    dialect: str
    tables: dict[tuple[str, ...], list[str]]
    sql: str
    expected: tuple[str, ...]

    def lines(self) -> tuple[str, ...]:
        """What comes out today, in the form of the expectation."""
        return tuple(sorted(set(found_lines(script_lineage(self.sql, self.dialect, FixedTables(self.tables, ""))))))


def sql_cases() -> list[SqlCase]:
    return [case for path in sorted(ROOT.glob("*.sql")) for case in _read(path)]


def _read(path: Path) -> Iterator[SqlCase]:
    for block in re.split(r"^-- case:", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        head, _, expectation = block.partition("-- expect:")
        name, _, rest = head.partition("\n")
        marks = re.findall(r"^-- (dialect|table|repeat): (.*)$", rest, flags=re.MULTILINE)
        sql = re.sub(r"^-- (dialect|table|repeat): .*\n", "", rest, flags=re.MULTILINE)
        repeats = [value.partition(" ") for key, value in marks if key == "repeat"]
        for count, _, text in repeats:
            sql = sql.replace("{repeat}", f"{text} " * int(count))
        expected = [" ".join(line[2:].split()) for line in expectation.splitlines() if line.startswith("--   ")]
        yield SqlCase(
            key=f"{path.stem}: {name.strip()}",
            dialect="".join(value for key, value in marks if key == "dialect"),
            tables=dict(_table(value) for key, value in marks if key == "table"),
            sql=sql.strip(),
            expected=tuple(sorted(expected)),
        )


def _table(text: str) -> tuple[tuple[str, ...], list[str]]:
    name, _, columns = text.rstrip(")").partition("(")
    return tuple(name.strip().split(".")), [column.strip().strip('"') for column in columns.split(",")]


def found_lines(found: ScriptLineage) -> Iterator[str]:
    for write in found.writes:
        yield from _write_lines(write)
    for comment in found.comments:
        yield f"comment: {comment.table.name}{'.' if comment.column else ''}{comment.column} {comment.text}"
    for problem in found.problems:
        yield f"problem: {problem.line}: {problem.message.split(' at `')[0]}"


def _write_lines(write: SqlWrite) -> Iterator[str]:
    prefix = f"{write.procedure}: " if write.procedure else ""
    if write.lineage is None:
        yield f"{write.target.name}: {', '.join(f'{column.name} {column.type}' for column in write.columns)}"
        return
    for name, entries in (
        *write.lineage.fields.items(),
        *([("*", write.lineage.dataset)] if write.lineage.dataset else []),
    ):
        target = f"{prefix}{write.target.name}.{name} <- "
        if not entries:
            yield f"{target}nothing"
        for entry in entries:
            source = f"{entry.column.dataset.name}.{entry.column.field}"
            yield from (f"{target}{source} {effect_label(each)}" for each in entry.transformations)
