"""Tests by experiment that no influence is missed: if a change of an input changes an output, it is in the lineage.

Spark analyzes a query and its lineage is traced. DuckDB runs the same text on every variant of the data. A variant
differs from the base in one column of one table, and is a schema of its own. `python -m tests.trace.perturb 1000`
tries a thousand queries. The seed is printed; it can be passed after the number.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import duckdb

from colline.capture.analyze import QueryError
from colline.trace import ColumnLineage
from tests.trace.queries import TABLES, Maker, Query

Analyze = Callable[[str], ColumnLineage]

ROWS = 9
VALUES = (None, 0, 1, 1, 2, 2, 3)
CHANGES = 3


@dataclass(frozen=True)
class Counterexample:
    """A query with an output that changed with a column which its lineage does not contain."""

    sql: str
    table: str
    column: str
    changed: str

    def __str__(self) -> str:
        return f"{self.changed} changed with {self.table}.{self.column}, which is not in the lineage:\n{self.sql}"


class World:
    """The tables, and for each of their columns a few variants that differ in that column only."""

    def __init__(self, random: Random) -> None:
        self._duck = duckdb.connect(config={"threads": 1})
        # the optimizer takes most of the time of such small queries, and it must not remove anything
        self._duck.execute("pragma disable_optimizer")
        base = {table: self._rows(columns, random) for table, columns in TABLES.items()}
        self._create_schema("base", base)
        self.variants: dict[tuple[str, str], list[str]] = {}
        for table, columns in TABLES.items():
            for place, column in enumerate(columns):
                self._vary(base, table, column, place, random)

    def _rows(self, columns: tuple[str, ...], random: Random) -> list[list[Any]]:
        return [[number, *(random.choice(VALUES) for _ in columns[1:])] for number in range(ROWS)]

    def _vary(self, base: dict[str, list[list[Any]]], table: str, column: str, place: int, random: Random) -> None:
        for number in range(CHANGES):
            rows = [list(row) for row in base[table]]
            new = self._change_values([row[place] for row in rows], number, random, is_key=place == 0)
            for row, value in zip(rows, new, strict=True):
                row[place] = value
            name = f"{column}_{number}"
            self._create_schema(name, {**base, table: rows})
            self.variants.setdefault((table, column), []).append(name)

    def _change_values(self, old: list[Any], number: int, random: Random, *, is_key: bool) -> list[Any]:
        """Other values: a key is shuffled, because it must stay unique; otherwise one cell changes, or all of them."""
        if is_key:
            return random.sample(old, len(old))
        if number == 0:
            place = random.randrange(len(old))
            return [*old[:place], 5 if old[place] != 5 else None, *old[place + 1 :]]
        return [random.choice(VALUES) for _ in old]

    def _create_schema(self, schema: str, tables: dict[str, list[list[Any]]]) -> None:
        self._duck.execute(f"create schema {schema}")
        for table, rows in tables.items():
            columns = ", ".join(f"{column} integer" for column in TABLES[table])
            self._duck.execute(f"create table {schema}.{table} ({columns})")
            marks = ", ".join("?" for _ in TABLES[table])
            self._duck.executemany(f"insert into {schema}.{table} values ({marks})", rows)

    def run(self, query: Query, variant: str) -> list[tuple[Any, ...]]:
        """The rows of the query in that variant of the world."""
        self._duck.execute(f"set search_path = '{variant}'")
        return self._duck.execute(in_duckdb(query.sql)).fetchall()


def in_duckdb(sql: str) -> str:
    """The same query in the SQL of DuckDB."""
    return sql.replace("explode(array(", "unnest(list_value(")


def check(query: Query, analyze: Analyze, world: World) -> Counterexample | None:
    """The first change of an input that changes an output which does not have it as an input, if there is one."""
    found = analyze(query.sql)
    rows = {entry.column.field for entry in found.dataset}
    before = world.run(query, "base")
    for (table, column), variants in world.variants.items():
        if column in rows or column not in query.sql:
            continue
        kept = [place for place, name in enumerate(query.columns) if column not in _inputs_of(found, name)]
        for variant in variants:
            if _comparable_rows(before, kept, query) != _comparable_rows(world.run(query, variant), kept, query):
                changed = ", ".join(query.columns[place] for place in kept) or "the number of rows"
                return Counterexample(query.sql, table, column, changed)
    return None


def _inputs_of(found: ColumnLineage, name: str) -> set[str]:
    return {entry.column.field for entry in found.fields[name]}


def _comparable_rows(rows: list[tuple[Any, ...]], kept: list[int], query: Query) -> object:
    """What must not change: the kept columns of all rows, in order only if the query has an order."""
    rows_kept = [tuple(row[place] for place in kept) for row in rows]
    return rows_kept if query.is_ordered else Counter(rows_kept)


def unmentioned_inputs(query: Query, found: ColumnLineage) -> list[str]:
    """Input columns in the lineage that the text of the query does not mention."""
    entries = (*found.dataset, *(entry for name in found.fields for entry in found.fields[name]))
    return sorted({entry.column.field for entry in entries if entry.column.field not in query.sql})


def smallest_counterexample(query: Query, analyze: Analyze, world: World) -> Counterexample | None:
    """The counterexample from the smallest part of the query that has one."""
    for part in sorted(_parts(query), key=lambda part: len(part.sql)):
        found = check(part, analyze, world)
        if found is not None:
            return found
    return check(query, analyze, world)


def _parts(query: Query) -> Iterator[Query]:
    for part in query.parts:
        yield part
        yield from _parts(part)


def queries(random: Random, count: int, analyze: Analyze) -> Iterator[tuple[Query, ColumnLineage]]:
    """Random queries, from small to large, each with its lineage.

    Spark's analyzer fails on a few correct queries (HAVING over a rollup, with a column of it in BETWEEN); they are
    replaced. It is an error if it rejects too many.
    """
    maker = Maker(random)
    rejected: list[str] = []
    for number in range(count):
        query = maker.complete_query(1 + number % 5)
        while (found := _analyze_or_none(query, analyze)) is None:
            rejected.append(query.sql)
            assert len(rejected) <= 1 + count // 100, f"Spark rejects too many: {rejected}"
            query = maker.complete_query(1 + number % 5)
        yield query, found


def _analyze_or_none(query: Query, analyze: Analyze) -> ColumnLineage | None:
    try:
        return analyze(query.sql)
    except QueryError as error:
        if "MISSING_ATTRIBUTES" not in str(error):
            raise
        return None


def ddl() -> Iterator[str]:
    """The same tables for Spark, without rows."""
    for table, columns in TABLES.items():
        yield f"drop table if exists {table}"
        yield f"create table {table} ({', '.join(f'{column} int' for column in columns)}) using parquet"


def main(count: int, seed: int) -> int:
    """Try `count` queries and print the failures; the exit code is 1 if there are any."""
    import tempfile
    from pathlib import Path

    from colline.capture.analyze import lineage
    from tests.sessions import session

    print(f"seed {seed}", flush=True)
    random = Random(seed)
    world = World(random)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        spark = session(Path(folder))
        for statement in ddl():
            spark.sql(statement)

        def analyze(sql: str) -> ColumnLineage:
            return lineage(sql, spark)

        for number, (query, found) in enumerate(queries(random, count, analyze)):
            if check(query, lambda _, found=found: found, world) is not None:
                failures += 1
                print(smallest_counterexample(query, analyze, world), flush=True)
            for column in unmentioned_inputs(query, found):
                failures += 1
                print(f"{column} is in the lineage and not in the query:\n{query.sql}", flush=True)
            if number % 100 == 99:
                print(f"{number + 1} of {count} queries, {failures} failures", file=sys.stderr, flush=True)
        spark.stop()
    print(f"{count} queries, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(given[0] if given else 300, given[1] if len(given) > 1 else time.time_ns() % 1_000_000))
