-- Aggregates. Grouping keys decide which rows merge, so they touch every output.

-- case: sum is an aggregation of its argument
-- table: orders(id, region, amount)
select region, sum(amount) as total from orders group by region
-- expect:
--   region <- orders.region   direct/identity
--   total  <- orders.amount   direct/aggregation
--   *      <- orders.region   indirect/group_by

-- case: count masks, count of rows has no input
-- table: t(a, b)
select count(*) as n, count(1) as o, count(a) as c, count(distinct b) as d, approx_count_distinct(a) as e from t
-- expect:
--   n <- nothing
--   o <- nothing
--   c <- t.a direct/aggregation masked
--   d <- t.b direct/aggregation masked
--   e <- t.a direct/aggregation masked

-- case: the filter of an aggregate is conditional on its column only
-- table: t(a, b, c)
select sum(a) filter (where b > 1) as s, max(c) as m from t
-- expect:
--   s <- t.a direct/aggregation
--   s <- t.b indirect/conditional
--   m <- t.c direct/aggregation

-- case: HAVING leads on to the argument of its aggregate
-- table: t(k, a, b)
select k, sum(a) as s from t group by k having max(b) > 3
-- expect:
--   k <- t.k direct/identity
--   s <- t.a direct/aggregation
--   * <- t.k indirect/group_by
--   * <- t.b indirect/filter

-- case: the ordering argument of max_by counts too
-- table: t(a, b)
select max_by(a, b) as m, first(a) as f from t
-- expect:
--   m <- t.a direct/aggregation
--   m <- t.b direct/aggregation
--   f <- t.a direct/aggregation

-- case: rollup keeps its columns identity and grouping_id has no input
-- table: t(k, j, a)
select k, j, grouping_id() as g, sum(a) as s from t group by rollup(k, j)
-- expect:
--   k <- t.k direct/identity
--   j <- t.j direct/identity
--   g <- nothing
--   s <- t.a direct/aggregation
--   * <- t.k indirect/group_by
--   * <- t.j indirect/group_by

-- case: DISTINCT compares all columns
-- table: t(a, b)
select distinct a, b from t
-- expect:
--   a <- t.a direct/identity
--   b <- t.b direct/identity
--   * <- t.a indirect/group_by
--   * <- t.b indirect/group_by

-- case: pivot aggregates a value under a key
-- table: t(k, year, a)
select * from t pivot (sum(a) for year in (2020, 2021))
-- expect:
--   k    <- t.k    direct/identity
--   2020 <- t.a    direct/aggregation
--   2020 <- t.year indirect/conditional
--   2021 <- t.a    direct/aggregation
--   2021 <- t.year indirect/conditional
--   *    <- t.k    indirect/group_by

-- case: unpivot takes every column as is
-- table: t(id, a, b)
select * from t unpivot (v for n in (a, b))
-- expect:
--   id <- t.id direct/identity
--   n <- nothing
--   v <- t.a direct/identity
--   v <- t.b direct/identity
--   * <- t.a indirect/filter
--   * <- t.b indirect/filter
