"""Random queries over three small tables, in SQL that Spark and DuckDB read alike.

A query has columns and, if possible, a key that identifies its rows. LIMIT and row numbers are used only over a key:
without one they could differ between two runs on the same data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

# column names are unique over all tables, so that the text of a query shows which columns it uses
TABLES = {
    "persons": ("p_id", "p_a", "p_b", "p_c", "p_k"),
    "purchases": ("o_id", "o_a", "o_b", "o_k", "o_p"),
    "parcels": ("i_id", "i_a", "i_b", "i_k"),
}


@dataclass(frozen=True)
class Query:
    """SQL text, its columns, the columns that identify a row (None: nothing does), and the queries it is made of."""

    sql: str
    columns: tuple[str, ...]
    key: tuple[str, ...] | None
    parts: tuple[Query, ...] = ()
    is_ordered: bool = False


class Maker:
    """Generates queries from a random source."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._names = 0

    def new_name(self, letter: str) -> str:
        """A new name."""
        self._names += 1
        return f"{letter}{self._names}"

    def query(self, depth: int) -> Query:
        """A query with up to `depth` steps on top of a table."""
        if depth <= 0:
            return self.table()
        step = self.random.choice(STEPS)
        return step(self, depth - 1)

    def complete_query(self, depth: int) -> Query:
        """A query as a user would send it: some columns of another one, sometimes ordered."""
        inner = self.query(depth)
        chosen = self.choose_columns(inner.columns)
        name = self.new_name("q")
        text = f"select {', '.join(chosen)} from ({inner.sql}) {name}"
        if inner.key is None or self.random.random() < 0.5:
            return Query(text, chosen, None, (inner,))
        order = [f"{self.column(inner.columns)} + {self.column(inner.columns)}", *inner.key]
        return Query(f"{text} order by {', '.join(order)}", chosen, None, (inner,), is_ordered=True)

    def table(self) -> Query:
        """All columns of a table."""
        name = self.random.choice(list(TABLES))
        columns = TABLES[name]
        return Query(f"select {', '.join(columns)} from {name}", columns, columns[:1])

    def choose_columns(self, columns: tuple[str, ...], most: int = 4) -> tuple[str, ...]:
        """A few of the columns, in their order."""
        count = self.random.randint(1, min(most, len(columns)))
        chosen = set(self.random.sample(columns, count))
        return tuple(column for column in columns if column in chosen)

    def column(self, columns: tuple[str, ...]) -> str:
        return self.random.choice(columns)

    def number(self, columns: tuple[str, ...], depth: int = 2) -> str:
        """An expression that is a number."""
        if depth == 0 or self.random.random() < 0.3:
            return self.column(columns)
        one = self.number(columns, depth - 1)
        two = self.number(columns, depth - 1)
        forms = (
            f"({one} + {two})",
            f"({one} * 2 - {two})",
            f"coalesce({one}, {two})",
            f"nullif({one}, {two})",
            f"greatest({one}, {two})",
            f"case when {self.test(columns, 0)} then {one} else {two} end",
            f"case {one} when 1 then {two} when 2 then 7 end",
            f"case when {self.subtest(columns)} then {one} end",
            f"({one} + {self.scalar(columns)})",
            f"abs({one})",
            f"length(concat('x', cast({one} as varchar(9)), cast({two} as varchar(9))))",
        )
        return self.random.choice(forms)

    def test(self, columns: tuple[str, ...], depth: int = 1) -> str:
        """An expression that is true or false."""
        one, two = self.column(columns), self.column(columns)
        forms = [
            f"{one} > {self.random.randint(0, 2)}",
            f"{one} = {two}",
            f"{one} is not null",
            f"{one} in (1, {two})",
            f"{one} between 0 and {two}",
        ]
        if depth > 0:
            forms += [
                f"({self.test(columns, 0)} and {self.test(columns, 0)})",
                f"({self.test(columns, 0)} or not {self.test(columns, 0)})",
                f"{self.number(columns, 1)} >= {one}",
                self.subtest(columns),
            ]
        return self.random.choice(forms)

    def subtest(self, columns: tuple[str, ...]) -> str:
        """A test by a sub-query, correlated or not."""
        other, name = self.table(), self.new_name("s")
        inner = f"({other.sql}) {name}"
        one, mine, another = self.column(columns), self.column(other.columns), self.test(other.columns, 0)
        forms = (
            f"{one} in (select {mine} from {inner} where {another})",
            f"{one} not in (select {mine} from {inner} where {mine} is not null)",
            f"exists (select 1 from {inner} where {name}.{mine} = outer_row.{one})",
            f"not exists (select 1 from {inner} where {name}.{mine} = outer_row.{one} and {another})",
            f"{one} > {self.scalar(columns)}",
        )
        return self.random.choice(forms)

    def scalar(self, columns: tuple[str, ...]) -> str:
        """A sub-query of one value, correlated or not."""
        other, name = self.table(), self.new_name("s")
        where = f"{name}.{self.column(other.columns)} = outer_row.{self.column(columns)}"
        where = self.random.choice((where, self.test(other.columns, 0), "true"))
        return f"(select {self.aggregate(other.columns)} from ({other.sql}) {name} where {where})"

    def aggregate(self, columns: tuple[str, ...]) -> str:
        one, two = self.column(columns), self.column(columns)
        forms = (
            f"sum({one})",
            f"max({one} + {two})",
            f"min({one})",
            "count(*)",
            f"count({one})",
            f"count(distinct {one})",
            f"sum({one}) filter (where {self.test(columns, 0)})",
            f"sum(case when {self.test(columns, 0)} then {two} else 0 end)",
        )
        return self.random.choice(forms)


# A query's columns can be referred to by a sub-query as those of `outer_row`.
def project(maker: Maker, depth: int) -> Query:
    inner = maker.query(depth)
    kept = tuple(dict.fromkeys((*(inner.key or ()), *maker.choose_columns(inner.columns))))
    computed = [(maker.number(inner.columns), maker.new_name("x")) for _ in range(maker.random.randint(1, 3))]
    items = [*kept, *(f"{text} as {name}" for text, name in computed)]
    text = f"select {', '.join(items)} from ({inner.sql}) outer_row"
    return Query(text, (*kept, *(name for _, name in computed)), inner.key, (inner,))


def restrict(maker: Maker, depth: int) -> Query:
    inner = maker.query(depth)
    text = f"select {', '.join(inner.columns)} from ({inner.sql}) outer_row where {maker.test(inner.columns)}"
    return Query(text, inner.columns, inner.key, (inner,))


def join(maker: Maker, depth: int) -> Query:
    left, right = maker.query(depth), rename_columns(maker, maker.query(depth - 1))
    kind = maker.random.choice(("join", "left join", "right join", "full join", "cross join", "semi", "anti"))
    one, two = maker.column(left.columns), maker.column(right.columns)
    on = f"l.{one} = r.{two}" + maker.random.choice(("", f" and {maker.test(right.columns, 0)}"))
    if kind in {"semi", "anti"}:
        text = f"select {', '.join(left.columns)} from ({left.sql}) l {kind} join ({right.sql}) r on {on}"
        return Query(text, left.columns, left.key, (left, right))
    columns = (*left.columns, *right.columns)
    condition = "" if kind == "cross join" else f" on {on}"
    text = f"select {', '.join(columns)} from ({left.sql}) l {kind} ({right.sql}) r{condition}"
    key = (*left.key, *right.key) if left.key is not None and right.key is not None else None
    return Query(text, columns, key, (left, right))


def rename_columns(maker: Maker, inner: Query) -> Query:
    """The same query, its columns under fresh names."""
    names = {column: maker.new_name("c") for column in inner.columns}
    items = ", ".join(f"{column} as {name}" for column, name in names.items())
    key = tuple(names[column] for column in inner.key) if inner.key is not None else None
    return Query(f"select {items} from ({inner.sql}) {maker.new_name('q')}", tuple(names.values()), key, (inner,))


def group(maker: Maker, depth: int) -> Query:
    inner = maker.query(depth)
    keys = maker.choose_columns(inner.columns, 2)
    computed = [(maker.aggregate(inner.columns), maker.new_name("g")) for _ in range(2)]
    items = ", ".join([*keys, *(f"{text} as {name}" for text, name in computed)])
    columns = (*keys, *(name for _, name in computed))
    text = f"select {items} from ({inner.sql}) {maker.new_name('q')}"
    grouping = ", ".join(keys)
    having = maker.random.choice(("", "", f" having {maker.aggregate(inner.columns)} > 1"))
    if maker.random.random() < 0.25:
        return Query(f"{text} group by rollup ({grouping}){having}", columns, None, (inner,))
    return Query(f"{text} group by {grouping}{having}", columns, keys, (inner,))


def total(maker: Maker, depth: int) -> Query:
    inner = maker.query(depth)
    name = maker.new_name("g")
    text = f"select {maker.aggregate(inner.columns)} as {name} from ({inner.sql}) {maker.new_name('q')}"
    return Query(text, (name,), (name,), (inner,))


def window(maker: Maker, depth: int) -> Query:
    inner = maker.query(depth)
    one, two = maker.column(inner.columns), maker.column(inner.columns)
    order = ", ".join((two, *(inner.key or ())))
    functions = [f"sum({one})", f"max({one})", "rank()", "count(*)"]
    if inner.key is not None:
        functions += ["row_number()", f"lag({one})", f"first_value({one})"]
    frame = maker.random.choice((f"order by {order}", f"partition by {maker.column(inner.columns)} order by {order}"))
    name = maker.new_name("w")
    call = f"{maker.random.choice(functions)} over ({frame}) as {name}"
    text = f"select {', '.join(inner.columns)}, {call} from ({inner.sql}) {maker.new_name('q')}"
    return Query(text, (*inner.columns, name), inner.key, (inner,))


def combine(maker: Maker, depth: int) -> Query:
    left, right = maker.query(depth), maker.query(depth - 1)
    width = min(len(left.columns), len(right.columns), 3)
    one = f"select {', '.join(left.columns[:width])} from ({left.sql}) {maker.new_name('q')}"
    two = f"select {', '.join(right.columns[-width:])} from ({right.sql}) {maker.new_name('q')}"
    kind = maker.random.choice(("union all", "union all", "union", "intersect", "except"))
    columns = left.columns[:width]
    key = None if kind == "union all" else columns
    return Query(f"{one} {kind} {two}", columns, key, (left, right))


def unique(maker: Maker, depth: int) -> Query:
    inner = maker.query(depth)
    columns = maker.choose_columns(inner.columns, 3)
    text = f"select distinct {', '.join(columns)} from ({inner.sql}) {maker.new_name('q')}"
    return Query(text, columns, columns, (inner,))


def top(maker: Maker, depth: int) -> Query:
    inner = maker.query(depth)
    if inner.key is None:
        return inner
    order = ", ".join((f"{maker.column(inner.columns)} desc", *inner.key))
    text = f"select {', '.join(inner.columns)} from ({inner.sql}) {maker.new_name('q')} order by {order} limit 3"
    return Query(text, inner.columns, inner.key, (inner,))


def common(maker: Maker, depth: int) -> Query:
    """A common table that is read twice."""
    inner, name = maker.query(depth), maker.new_name("t")
    one, two, three = (maker.column(inner.columns) for _ in range(3))
    left, right = maker.new_name("x"), maker.new_name("x")
    text = (
        f"with {name} as ({inner.sql}) select l.{one} as {left}, r.{two} as {right} "
        f"from {name} l join {name} r on l.{three} = r.{three}"
    )
    return Query(text, (left, right), None, (inner,))


def spread(maker: Maker, depth: int) -> Query:
    inner = maker.query(depth)
    kept, name = maker.choose_columns(inner.columns, 2), maker.new_name("e")
    one, two = maker.column(inner.columns), maker.column(inner.columns)
    text = f"select {', '.join(kept)}, explode(array({one}, {two})) as {name}"
    return Query(f"{text} from ({inner.sql}) {maker.new_name('q')}", (*kept, name), None, (inner,))


def turn(maker: Maker, depth: int) -> Query:
    """PIVOT: one column for each of two values of a key."""
    inner = maker.query(depth)
    if len(inner.columns) < 3:
        return inner
    kept, key, value = maker.random.sample(inner.columns, 3)
    names = maker.new_name("v"), maker.new_name("v")
    function = maker.random.choice(("sum", "max", "count"))
    source = f"select {kept}, {key}, {value} from ({inner.sql}) {maker.new_name('q')}"
    text = (
        f"select {kept}, {names[0]}, {names[1]} from ({source}) "
        f"pivot ({function}({value}) for {key} in (1 as {names[0]}, 2 as {names[1]}))"
    )
    return Query(text, (kept, *names), (kept,), (inner,))


def lateral(maker: Maker, depth: int) -> Query:
    inner, other = maker.query(depth), maker.table()
    name, row = maker.new_name("m"), maker.new_name("s")
    right = (
        f"select {maker.aggregate(other.columns)} as {name} from ({other.sql}) {row} "
        f"where {row}.{maker.column(other.columns)} = outer_row.{maker.column(inner.columns)}"
    )
    text = (
        f"select {', '.join(inner.columns)}, {name} from ({inner.sql}) outer_row, "
        f"lateral ({right}) {maker.new_name('q')}"
    )
    return Query(text, (*inner.columns, name), inner.key, (inner,))


STEPS: tuple[Callable[[Maker, int], Query], ...] = (
    project, project, restrict, restrict, join, join, group, group, total, window, window, combine, unique, top, common,
    spread, turn, lateral,
)  # fmt: skip
