-- Subqueries in every place where SQL allows an expression.

-- case: scalar subquery in SELECT keeps the inner subtypes on its column
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a, (select max(b) from u where c > 0) as m from t
-- expect:
--   a <- t.a direct/identity
--   m <- u.b direct/aggregation
--   m <- u.c indirect/filter

-- case: correlated scalar subquery in SELECT
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a, (select sum(u.b) from u where u.k = t.k) as m from t
-- expect:
--   a <- t.a direct/identity
--   m <- u.b direct/aggregation
--   m <- u.k indirect/filter
--   m <- t.k indirect/filter

-- case: a scalar subquery inside arithmetic
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a * (select max(b) from u) as m from t
-- expect:
--   m <- t.a direct/transformation
--   m <- u.b direct/aggregation

-- case: scalar subquery in WHERE
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a from t where b > (select avg(u.b) from u join t x on u.k = x.k where u.c = 1)
-- expect:
--   a <- t.a direct/identity
--   * <- t.b indirect/filter
--   * <- u.b indirect/filter
--   * <- u.k indirect/filter
--   * <- t.k indirect/filter
--   * <- u.c indirect/filter

-- case: scalar subquery in HAVING
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select k, sum(a) as s from t group by k having sum(b) > (select max(c) from u)
-- expect:
--   k <- t.k direct/identity
--   s <- t.a direct/aggregation
--   * <- t.k indirect/group_by
--   * <- t.b indirect/filter
--   * <- u.c indirect/filter

-- case: scalar subquery in a join condition
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select t.a from t join u on t.k = u.k and t.b > (select min(c) from u)
-- expect:
--   a <- t.a direct/identity
--   * <- t.k indirect/join
--   * <- u.k indirect/join
--   * <- t.b indirect/join
--   * <- u.c indirect/join

-- case: scalar subquery in CASE
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select case when a > (select max(c) from u) then (select min(b) from u where k = 1) else 0 end as x from t
-- expect:
--   x <- t.a indirect/conditional
--   x <- u.c indirect/conditional
--   x <- u.b direct/aggregation
--   x <- u.k indirect/filter

-- case: scalar subquery in ORDER BY
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a from t order by b + (select max(c) from u)
-- expect:
--   a <- t.a direct/identity
--   * <- t.b indirect/sort
--   * <- u.c indirect/sort

-- case: scalar subquery with a group, a sort and a limit
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select (select b from u group by b order by max(c) limit 1) as x from t
-- expect:
--   x <- u.b direct/identity
--   x <- u.b indirect/group_by
--   x <- u.c indirect/sort

-- case: nested correlated subqueries
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a from t where exists (select 1 from u where u.k = t.k and u.b in (select x.c from t x where x.a = u.a))
-- expect:
--   a <- t.a direct/identity
--   * <- t.k indirect/filter
--   * <- u.k indirect/filter
--   * <- u.b indirect/filter
--   * <- t.c indirect/filter
--   * <- t.a indirect/filter
--   * <- u.a indirect/filter

-- case: IN with a subquery
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a from t where k in (select k from u where b > 0)
-- expect:
--   a <- t.a direct/identity
--   * <- t.k indirect/filter
--   * <- u.k indirect/filter
--   * <- u.b indirect/filter

-- case: NOT IN over two columns
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a from t where (k, b) not in (select k, c from u)
-- expect:
--   a <- t.a direct/identity
--   * <- t.k indirect/filter
--   * <- t.b indirect/filter
--   * <- u.k indirect/filter
--   * <- u.c indirect/filter

-- case: EXISTS and NOT EXISTS
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a from t where exists (select * from u where u.k = t.k) and not exists (select 1 from u where u.b > t.b)
-- expect:
--   a <- t.a direct/identity
--   * <- t.k indirect/filter
--   * <- u.k indirect/filter
--   * <- t.b indirect/filter
--   * <- u.b indirect/filter

-- case: IN in a SELECT item is conditional on that column
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a, k in (select k from u where b > 0) as known from t
-- expect:
--   a     <- t.a direct/identity
--   known <- t.k indirect/conditional
--   known <- u.k indirect/conditional
--   known <- u.b indirect/conditional

-- case: EXISTS in a SELECT item is conditional on that column
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a, exists (select 1 from u where u.k = t.k) as known, not exists (select 1 from u where u.c = t.c) as fresh from t
-- expect:
--   a     <- t.a direct/identity
--   known <- t.k indirect/conditional
--   known <- u.k indirect/conditional
--   fresh <- t.c indirect/conditional
--   fresh <- u.c indirect/conditional

-- case: a subquery in FROM is transparent
-- table: t(a, b, c, k)
select y.x from (select a + b as x from t) as y
-- expect:
--   x <- t.a direct/transformation
--   x <- t.b direct/transformation

-- case: EXISTS without a condition still reads the table
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a from t where exists (select 1 from u)
-- expect:
--   a <- t.a direct/identity
--   input: t
--   input: u

-- case: IN over an aggregate
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a from t where b in (select max(b) from u group by k)
-- expect:
--   a <- t.a direct/identity
--   * <- t.b indirect/filter
--   * <- u.b indirect/filter
--   * <- u.k indirect/filter
