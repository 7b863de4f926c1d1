-- Joins. The condition decides which rows meet, so it touches every output; a cross join decides nothing.

-- case: inner join on a condition
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select t.a, u.b from t join u on t.k = u.k and t.c > 1
-- expect:
--   a <- t.a direct/identity
--   b <- u.b direct/identity
--   * <- t.k indirect/join
--   * <- u.k indirect/join
--   * <- t.c indirect/join

-- case: left and right outer join
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select t.a, u.b, v.c from t left join u on t.k = u.k right join u v on v.a = t.b
-- expect:
--   a <- t.a direct/identity
--   b <- u.b direct/identity
--   c <- u.c direct/identity
--   * <- t.k indirect/join
--   * <- u.k indirect/join
--   * <- u.a indirect/join
--   * <- t.b indirect/join

-- case: full outer join
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select t.a, u.b from t full outer join u on t.k <=> u.k
-- expect:
--   a <- t.a direct/identity
--   b <- u.b direct/identity
--   * <- t.k indirect/join
--   * <- u.k indirect/join

-- case: full outer join with using takes the key of either side
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select k, t.a, u.b from t full outer join u using (k)
-- expect:
--   k <- t.k direct/transformation
--   k <- t.k indirect/conditional
--   k <- u.k direct/transformation
--   k <- u.k indirect/conditional
--   a <- t.a direct/identity
--   b <- u.b direct/identity
--   * <- t.k indirect/join
--   * <- u.k indirect/join

-- case: inner join with using takes the key of the left side
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select k, t.a, u.b from t join u using (k)
-- expect:
--   k <- t.k direct/identity
--   a <- t.a direct/identity
--   b <- u.b direct/identity
--   * <- t.k indirect/join
--   * <- u.k indirect/join

-- case: natural join compares the columns of one name
-- table: t(a, b, c, k)
-- table: big(a bigint)
select * from (select a, b from t) natural join big
-- expect:
--   a <- t.a direct/identity
--   b <- t.b direct/identity
--   * <- t.a indirect/join
--   * <- big.a indirect/join

-- case: cross join decides nothing
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select t.a, u.b from t cross join u
-- expect:
--   a <- t.a direct/identity
--   b <- u.b direct/identity

-- case: a comma with a where is a filter as written
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select t.a, u.b from t, u where t.k = u.k
-- expect:
--   a <- t.a direct/identity
--   b <- u.b direct/identity
--   * <- t.k indirect/filter
--   * <- u.k indirect/filter

-- case: left semi join
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select * from (select a, k from t) t left semi join u on t.k = u.k
-- expect:
--   a <- t.a direct/identity
--   k <- t.k direct/identity
--   * <- t.k indirect/join
--   * <- u.k indirect/join

-- case: left anti join
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a from t left anti join u on t.k = u.k and u.b > t.b
-- expect:
--   a <- t.a direct/identity
--   * <- t.k indirect/join
--   * <- u.k indirect/join
--   * <- t.b indirect/join
--   * <- u.b indirect/join

-- case: a self join reads one table under two names
-- table: t(a, b, c, k)
select x.a as mine, y.a as other from t x join t y on x.k = y.b
-- expect:
--   mine  <- t.a direct/identity
--   other <- t.a direct/identity
--   *     <- t.k indirect/join
--   *     <- t.b indirect/join

-- case: lateral join sees the columns of its left side
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select t.a, r.x from t, lateral (select u.b + t.c as x from u where u.k = t.k) r
-- expect:
--   a <- t.a direct/identity
--   x <- u.b direct/transformation
--   x <- t.c direct/transformation
--   * <- u.k indirect/filter
--   * <- t.k indirect/filter

-- case: left lateral join with an aggregate
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select t.a, r.m from t left join lateral (select max(u.b) as m from u where u.k = t.k) r on r.m > t.c
-- expect:
--   a <- t.a direct/identity
--   m <- u.b direct/aggregation
--   * <- u.k indirect/filter
--   * <- t.k indirect/filter
--   * <- u.b indirect/join
--   * <- t.c indirect/join

-- case: a join on what a subquery aggregates
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select t.a, s.total from t join (select k, sum(b) as total from u where c > 0 group by k) s on t.k = s.k
-- expect:
--   a     <- t.a direct/identity
--   total <- u.b direct/aggregation
--   *     <- u.c indirect/filter
--   *     <- u.k indirect/group_by
--   *     <- u.k indirect/join
--   *     <- t.k indirect/join

-- case: a join without selected columns still decides the rows
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select t.a from t left join u on t.k = u.k
-- expect:
--   a <- t.a direct/identity
--   * <- t.k indirect/join
--   * <- u.k indirect/join
--   input: t
--   input: u
