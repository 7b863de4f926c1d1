-- Common table expressions are transparent, also when they are read several times.

-- case: a common table
-- table: t(a, b, c, k)
with x as (select a, b + c as s from t where k > 0) select a, s from x
-- expect:
--   a <- t.a direct/identity
--   s <- t.b direct/transformation
--   s <- t.c direct/transformation
--   * <- t.k indirect/filter

-- case: a common table that is read twice
-- table: t(a, b, c, k)
with x as (select k, max(a) as m from t group by k) select l.m as mine, r.m as other from x l join x r on l.k = r.m
-- expect:
--   mine  <- t.a direct/aggregation
--   other <- t.a direct/aggregation
--   *     <- t.k indirect/group_by
--   *     <- t.k indirect/join
--   *     <- t.a indirect/join

-- case: a common table over another, with column names
-- table: t(a, b, c, k)
with x(p, q) as (select a, b from t), y as (select p + 1 as r, q from x where q > 1) select r, q from y
-- expect:
--   r <- t.a direct/transformation
--   q <- t.b direct/identity
--   * <- t.b indirect/filter

-- case: nested with clauses shadow
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
with x as (select a from t) select * from (with x as (select b from u) select * from x)
-- expect:
--   b <- u.b direct/identity

-- case: an unused common table
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
with x as (select a from t) select b from u
-- expect:
--   b <- u.b direct/identity

-- case: a common table in a subquery
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
with x as (select k from u where b > 0) select a from t where k in (select k from x)
-- expect:
--   a <- t.a direct/identity
--   * <- t.k indirect/filter
--   * <- u.k indirect/filter
--   * <- u.b indirect/filter

-- case: a recursive common table to the fixed point
-- since: 4.1
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
with recursive r(x, y) as (
  select a, b from t
  union all
  select u.a, r.x from r join u on u.k = r.y
)
select x, y from r
-- expect:
--   x <- t.a direct/identity
--   x <- u.a direct/identity
--   y <- t.b direct/identity
--   y <- t.a direct/identity
--   y <- u.a direct/identity
--   * <- u.k indirect/join
--   * <- t.b indirect/join
--   * <- t.a indirect/join
--   * <- u.a indirect/join

-- case: a counting recursion has no input
-- since: 4.1
with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select n from r
-- expect:
--   n <- nothing
