-- Functions written in SQL have the lineage of their bodies. They need a session without Delta and Iceberg.

-- case: a SQL function has the lineage of its body
-- table: t(a, b, c, k)
-- setup: create or replace temporary function twice(x int) returns int return x * 2
-- since: 4.0
select twice(cast(a as int)) as x, twice(max(b)) as y from t where twice(c) > 3 group by a
-- expect:
--   x <- t.a direct/transformation
--   y <- t.b direct/aggregation
--   * <- t.c indirect/filter
--   * <- t.a indirect/group_by

-- case: a SQL function that queries a table: its argument only filters rows
-- table: t(a, b, c, k)
-- table: u(k, x)
-- setup: create or replace temporary function total_of(wanted int) returns bigint return select sum(u.x) from u where u.k = wanted
-- since: 4.0
select a, total_of(b) as s from t
-- expect:
--   a <- t.a direct/identity
--   s <- u.x direct/aggregation
--   s <- u.k indirect/filter
--   s <- t.b indirect/filter

-- case: a SQL function that returns a table
-- table: t(a, b, c, k)
-- table: u(k, x)
-- setup: create or replace temporary function rows_of(wanted int) returns table (k int, x int) return select u.k, u.x from u where u.k = wanted
-- since: 4.0
select t.a, found.x from t, lateral rows_of(t.b) as found
-- expect:
--   a <- t.a direct/identity
--   x <- u.x direct/identity
--   * <- u.k indirect/filter
--   * <- t.b indirect/filter
