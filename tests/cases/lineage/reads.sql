-- Queries that write nothing: the columns that are read and their uses.

-- case: values, filters, joins, groups and order
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select t.k, sum(u.b) as s from t join u on t.a = u.a where t.b > 0 group by t.k order by t.k
-- expect:
--   k <- t.k direct/identity
--   s <- u.b direct/aggregation
--   * <- t.a indirect/join
--   * <- u.a indirect/join
--   * <- t.b indirect/filter
--   * <- t.k indirect/group_by
--   * <- t.k indirect/sort
--   read: t.k value group_by sort
--   read: t.a join
--   read: t.b filter
--   read: u.b value
--   read: u.a join

-- case: windows and conditions
-- table: t(a, b, c, k)
select if(a > 0, b, 0) as x, rank() over (order by c) as r from t
-- expect:
--   x <- t.a indirect/conditional
--   x <- t.b direct/transformation
--   r <- t.c indirect/window
--   read: t.a conditional
--   read: t.b value
--   read: t.c window

-- case: a count of rows reads no column
-- table: t(a, b, c, k)
select count(*) as n from t
-- expect:
--   n <- nothing
--   input: t

-- case: a delta table by name and its history
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
select a from d version as of 0
-- expect:
--   a <- d.a direct/identity
--   input: d
