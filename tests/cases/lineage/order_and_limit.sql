-- Order and number of rows; hints and aliases change neither.

-- case: order by an output and by an input that is not selected
-- table: t(a, b, c, k)
select a + 1 as x from t order by x desc, c
-- expect:
--   x <- t.a direct/transformation
--   * <- t.a indirect/sort
--   * <- t.c indirect/sort

-- case: sort by and distribute by
-- table: t(a, b, c, k)
select a from t distribute by k sort by b
-- expect:
--   a <- t.a direct/identity
--   * <- t.b indirect/sort

-- case: cluster by is a sort within partitions
-- table: t(a, b, c, k)
select a from t cluster by b
-- expect:
--   a <- t.a direct/identity
--   * <- t.b indirect/sort

-- case: limit and offset are transparent
-- table: t(a, b, c, k)
select a from t limit 10 offset 5
-- expect:
--   a <- t.a direct/identity

-- case: tablesample is transparent
-- table: t(a, b, c, k)
select a from t tablesample (10 percent) repeatable (7)
-- expect:
--   a <- t.a direct/identity

-- case: hints are transparent
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select /*+ broadcast(u), repartition(4, a), coalesce(2), rebalance */ t.a from t join u on t.k = u.k
-- expect:
--   a <- t.a direct/identity
--   * <- t.k indirect/join
--   * <- u.k indirect/join

-- case: order by an aggregate depends on its argument
-- table: t(a, b, c, k)
select k from t group by k order by sum(a)
-- expect:
--   k <- t.k direct/identity
--   * <- t.k indirect/group_by
--   * <- t.a indirect/sort

-- case: order by all
-- table: t(a, b, c, k)
select a, b from t order by all
-- expect:
--   a <- t.a direct/identity
--   b <- t.b direct/identity
--   * <- t.a indirect/sort
--   * <- t.b indirect/sort

-- case: filter and nested filter
-- table: t(a, b, c, k)
select x from (select a as x, b from t where c = 1) where b > 0 or x < 2
-- expect:
--   x <- t.a direct/identity
--   * <- t.c indirect/filter
--   * <- t.b indirect/filter
--   * <- t.a indirect/filter

-- case: a limit inside a filter keeps both
-- table: t(a, b, c, k)
select a from (select a, b from t order by c limit 3) where b > 0
-- expect:
--   a <- t.a direct/identity
--   * <- t.c indirect/sort
--   * <- t.b indirect/filter
