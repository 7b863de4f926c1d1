-- Aggregates. Grouping keys decide which rows are merged, so they affect every output.

-- case: sum is an aggregation of its argument
-- table: orders(id, region, amount)
select region, sum(amount) as total from orders group by region
-- expect:
--   region <- orders.region   direct/identity
--   total  <- orders.amount   direct/aggregation
--   *      <- orders.region   indirect/group_by

-- case: count masks, count of rows has no input
-- table: t(a, b, c, k)
select count(*) as n, count(1) as o, count(a) as c, count(distinct b) as d, approx_count_distinct(a) as e from t
-- expect:
--   n <- nothing
--   o <- nothing
--   c <- t.a direct/aggregation masked
--   d <- t.b direct/aggregation masked
--   e <- t.a direct/aggregation masked

-- case: the filter of an aggregate is conditional on its column only
-- table: t(a, b, c, k)
select sum(a) filter (where b > 1) as s, max(c) as m from t
-- expect:
--   s <- t.a direct/aggregation
--   s <- t.b indirect/conditional
--   m <- t.c direct/aggregation

-- case: HAVING depends on the argument of its aggregate
-- table: t(a, b, c, k)
select k, sum(a) as s from t group by k having max(b) > 3
-- expect:
--   k <- t.k direct/identity
--   s <- t.a direct/aggregation
--   * <- t.k indirect/group_by
--   * <- t.b indirect/filter

-- case: the ordering argument of max_by is an input
-- table: t(a, b, c, k)
select max_by(a, b) as m, first(a) as f from t
-- expect:
--   m <- t.a direct/aggregation
--   m <- t.b direct/aggregation
--   f <- t.a direct/aggregation

-- case: rollup keeps its columns identity and grouping_id has no input
-- table: t(a, b, c, k)
select k, b, grouping_id() as g, sum(a) as s from t group by rollup(k, b)
-- expect:
--   k <- t.k direct/identity
--   b <- t.b direct/identity
--   g <- nothing
--   s <- t.a direct/aggregation
--   * <- t.k indirect/group_by
--   * <- t.b indirect/group_by

-- case: DISTINCT compares all columns
-- table: t(a, b, c, k)
select distinct a, b from t
-- expect:
--   a <- t.a direct/identity
--   b <- t.b direct/identity
--   * <- t.a indirect/group_by
--   * <- t.b indirect/group_by

-- case: pivot aggregates a value under a key
-- table: sales(k, year, a)
select * from sales pivot (sum(a) for year in (2020, 2021))
-- expect:
--   k    <- sales.k    direct/identity
--   2020 <- sales.a    direct/aggregation
--   2020 <- sales.year indirect/conditional
--   2021 <- sales.a    direct/aggregation
--   2021 <- sales.year indirect/conditional
--   *    <- sales.k    indirect/group_by

-- case: unpivot keeps every unpivoted column as identity
-- table: wide(id, a, b)
select * from wide unpivot (v for n in (a, b))
-- expect:
--   id <- wide.id direct/identity
--   n <- nothing
--   v <- wide.a direct/identity
--   v <- wide.b direct/identity
--   * <- wide.a indirect/filter
--   * <- wide.b indirect/filter

-- case: cube and grouping
-- table: t(a, b, c, k)
select k, b, grouping(k) as g, sum(a) as s from t group by cube(k, b)
-- expect:
--   k <- t.k direct/identity
--   b <- t.b direct/identity
--   g <- nothing
--   s <- t.a direct/aggregation
--   * <- t.k indirect/group_by
--   * <- t.b indirect/group_by

-- case: grouping sets
-- table: t(a, b, c, k)
select k, b, max(a) as m from t group by grouping sets ((k), (b), ())
-- expect:
--   k <- t.k direct/identity
--   b <- t.b direct/identity
--   m <- t.a direct/aggregation
--   * <- t.k indirect/group_by
--   * <- t.b indirect/group_by

-- case: rollup over an expression
-- table: t(a, b, c, k)
select k % 10 as d, sum(a) as s from t group by rollup(k % 10) having grouping_id() = 0
-- expect:
--   d <- t.k direct/transformation
--   s <- t.a direct/aggregation
--   * <- t.k indirect/group_by

-- case: grouping by an expression and by position
-- table: t(a, b, c, k)
select a + b as x, count(*) as n from t group by 1
-- expect:
--   x <- t.a direct/transformation
--   x <- t.b direct/transformation
--   n <- nothing
--   * <- t.a indirect/group_by
--   * <- t.b indirect/group_by

-- case: group by all
-- table: t(a, b, c, k)
select k, b, sum(a) as s from t group by all
-- expect:
--   k <- t.k direct/identity
--   b <- t.b direct/identity
--   s <- t.a direct/aggregation
--   * <- t.k indirect/group_by
--   * <- t.b indirect/group_by

-- case: arithmetic of aggregates and keys
-- table: t(a, b, c, k)
select k, sum(a) / count(b) + k as r from t group by k
-- expect:
--   k <- t.k direct/identity
--   r <- t.a direct/aggregation
--   r <- t.b direct/aggregation masked
--   r <- t.k direct/transformation
--   * <- t.k indirect/group_by

-- case: collections and percentiles
-- table: t(a, b, c, k)
select collect_list(a) as l, collect_set(b) as s, percentile(c, 0.5) as p, stddev(k) as d, corr(a, b) as r from t
-- expect:
--   l <- t.a direct/aggregation
--   s <- t.b direct/aggregation
--   p <- t.c direct/aggregation
--   d <- t.k direct/aggregation
--   r <- t.a direct/aggregation
--   r <- t.b direct/aggregation

-- case: an ordered aggregate reads its order
-- since: 4.0
-- table: t(a, b, c, k)
select listagg(s, ',') within group (order by b) as l from (select cast(a as string) as s, b from t)
-- expect:
--   l <- t.a direct/aggregation
--   l <- t.b direct/aggregation

-- case: count_if, any, every and sketches
-- table: t(a, b, c, k)
select count_if(a > 1) as c, any(b > 0) as y, every(b > 0) as e, hll_sketch_estimate(hll_sketch_agg(k)) as h from t
-- expect:
--   c <- t.a direct/aggregation masked
--   y <- t.b direct/aggregation
--   e <- t.b direct/aggregation
--   h <- t.k direct/aggregation masked

-- case: min_by, last, any_value and mode
-- table: t(a, b, c, k)
select min_by(a, b) as m, last(c) as l, any_value(k) as v, mode(a) as o from t
-- expect:
--   m <- t.a direct/aggregation
--   m <- t.b direct/aggregation
--   l <- t.c direct/aggregation
--   v <- t.k direct/aggregation
--   o <- t.a direct/aggregation

-- case: an aggregate of a CASE
-- table: t(a, b, c, k)
select sum(case when b > 0 then a else 0 end) as s from t
-- expect:
--   s <- t.a direct/aggregation
--   s <- t.b indirect/conditional

-- case: a HAVING without an aggregate in the list
-- table: t(a, b, c, k)
select k from t group by k having count(*) > 1 and k > 0
-- expect:
--   k <- t.k direct/identity
--   * <- t.k indirect/group_by
--   * <- t.k indirect/filter

-- case: distinct of an expression after a filter
-- table: t(a, b, c, k)
select distinct a % 2 as odd from t where b > 0
-- expect:
--   odd <- t.a direct/transformation
--   *   <- t.b indirect/filter
--   *   <- t.a indirect/group_by

-- case: the member of the greatest struct needs the whole struct
-- table: t(a, b, c, k)
select k, max(struct(b, a)).a as latest from t group by k
-- expect:
--   k <- t.k direct/identity
--   latest <- t.a direct/aggregation
--   latest <- t.b direct/aggregation
--   * <- t.k indirect/group_by

-- case: grouping by a struct member
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select address.zip as z, count(*) as n from n group by address.zip
-- expect:
--   z <- n.address.zip direct/identity
--   n <- nothing
--   * <- n.address.zip indirect/group_by
