# ruff: noqa: E501  SQL reads best unbroken
"""A hundred and more queries of the shape of decision-support benchmarks, over a small star schema of our own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MEASURES = ("quantity", "price", "discount", "cost", "tax", "shipping", "paid", "net", "profit", "returned")
DIMENSIONS = {
    "store": ("store_id", "store_name", "city", "state", "manager", "floor_space"),
    "customer": ("customer_id", "first_name", "last_name", "email", "birth_year", "segment"),
    "product": ("product_id", "product_name", "brand", "category", "color", "list_price"),
    "calendar": ("date_id", "year", "quarter", "month", "weekday", "holiday"),
}
KEYS = {"store": "store_id", "customer": "customer_id", "product": "product_id", "calendar": "date_id"}


def make_tables(spark: SparkSession, rows: int = 2000) -> None:
    """The fact table and its dimensions, in parquet."""
    keys = ", ".join(f"cast(id % {50 * (n + 1)} as int) as {key}" for n, key in enumerate(KEYS.values()))
    measures = ", ".join(f"cast((id * {n + 3}) % 997 as double) as {name}" for n, name in enumerate(MEASURES))
    extra = ", ".join(f"cast(id % {n + 2} as int) as attribute_{n}" for n in range(190))
    spark.sql(f"create table sales using parquet as select {keys}, {measures} from range({rows})")
    spark.sql(f"create table wide using parquet as select {keys}, {measures}, {extra} from range(200)")
    for place, (name, columns) in enumerate(DIMENSIONS.items()):
        values = ", ".join(_value(column, first=column == KEYS[name]) for column in columns)
        spark.sql(f"create table {name} using parquet as select {values} from range({50 * (place + 1)})")


def _value(column: str, *, first: bool) -> str:
    if first or column in {"year", "quarter", "month", "birth_year", "floor_space", "list_price"}:
        return f"cast(id % 2000 as int) as {column}"
    return f"concat('{column} ', cast(id % 17 as string)) as {column}"


def queries() -> list[str]:
    """All of them, in a fixed order."""
    return [*_stars(), *_windows(), *_rollups(), *_nested_queries(), *_wide_queries(), *_sets()]


def _star(dimensions: list[str]) -> str:
    joins = " ".join(f"join {name} on sales.{KEYS[name]} = {name}.{KEYS[name]}" for name in dimensions)
    return f"sales {joins}"


def _stars() -> Iterator[str]:
    names = list(DIMENSIONS)
    for place, measure in enumerate(MEASURES):
        for size in (1, 2, 4):
            chosen = names[:size]
            by = [f"{name}.{DIMENSIONS[name][2]}" for name in chosen]
            yield (
                f"select {', '.join(f'{key} as k{n}' for n, key in enumerate(by))}, sum({measure}) as total, "
                f"avg({measure} * (1 - discount / 1000)) as mean, count(distinct sales.customer_id) as customers "
                f"from {_star(chosen)} where {measure} > {place * 10} and quantity between 1 and 900 "
                f"group by {', '.join(by)} having sum({measure}) > 0 order by total desc limit 100"
            )


def _windows() -> Iterator[str]:
    for measure in MEASURES:
        yield (
            f"select *, rank() over (partition by state order by total desc) as place, total / sum(total) over "
            f"(partition by state) as share, lag(total, 1) over (partition by state order by store_name) as before "
            f"from (select store_name, state, sum({measure}) as total from {_star(['store'])} group by store_name, state)"
        )
        yield (
            f"select * from (select product_name, month, {measure}, row_number() over (partition by month order by "
            f"{measure} desc, product_name) as n, avg({measure}) over (partition by product_name order by month rows "
            f"between 2 preceding and current row) as moving from {_star(['product', 'calendar'])}) where n <= 10"
        )


def _rollups() -> Iterator[str]:
    for measure in MEASURES:
        yield (
            f"select category, brand, year, grouping_id() as level, sum({measure}) as total, max(net) as best "
            f"from {_star(['product', 'calendar'])} group by rollup(category, brand, year)"
        )
        yield (
            f"select segment, state, sum(case when weekday = 'weekday 3' then {measure} else 0 end) as a, "
            f"sum(case when holiday = 'holiday 1' then {measure} when quarter = 2 then cost end) as b "
            f"from {_star(['store', 'customer', 'calendar'])} group by cube(segment, state)"
        )


def _nested_queries() -> Iterator[str]:
    for measure in MEASURES:
        yield (
            f"with yearly as (select customer.customer_id as id, first_name, last_name, year, sum({measure}) as total "
            f"from {_star(['customer', 'calendar'])} group by 1, 2, 3, 4), firsts as (select * from yearly where total > 1), "
            "growth as (select a.id, a.first_name, a.last_name, a.total as one, b.total as two, coalesce(b.total, 0) / "
            "nullif(a.total, 0) as rate from firsts a left join firsts b on a.id = b.id and a.year = b.year - 1) "
            "select id, upper(concat(first_name, ' ', last_name)) as who, max(rate) as best from growth "
            "where rate > (select avg(rate) from growth) group by id, first_name, last_name order by best"
        )
        yield (
            f"select c.customer_id, c.email, (select max({measure}) from sales s where s.customer_id = c.customer_id) as top "
            "from customer c where exists (select 1 from sales s where s.customer_id = c.customer_id and s.quantity > 5) "
            "and c.segment in (select segment from customer where birth_year > 10)"
        )


def _wide_queries() -> Iterator[str]:
    for size in (20, 50, 100, 150, 190):
        columns = [f"attribute_{n}" for n in range(size)]
        yield f"select {', '.join(columns)} from wide where quantity > 1"
        yield f"select {', '.join(f'{c} + quantity as {c}_more' for c in columns)} from wide"
        yield f"select store_id, {', '.join(f'sum({c}) as {c}' for c in columns)} from wide group by store_id"


def _sets() -> Iterator[str]:
    for measure in MEASURES[:5]:
        yield (
            f"select 'store' as channel, store_id as id, sum({measure}) as total from sales group by store_id union all "
            f"select 'product', product_id, sum({measure}) from sales group by product_id union all "
            f"select 'customer', customer_id, sum({measure}) from sales where discount > 3 group by customer_id"
        )
