-- Windows. Partition, order and frame affect only the column that the window function computes.

-- case: an aggregate over a window
-- table: t(a, b, c, k)
select a, sum(b) over (partition by k order by c) as s from t
-- expect:
--   a <- t.a direct/identity
--   s <- t.b direct/aggregation
--   s <- t.k indirect/window
--   s <- t.c indirect/window

-- case: rank-like functions have only the window
-- table: t(a, b, c, k)
select rank() over (order by a) as r, dense_rank() over (order by a desc) as d, row_number() over (partition by k order by b) as n,
  percent_rank() over (order by a) as p, cume_dist() over (order by a) as q, ntile(4) over (order by c) as t4
from t
-- expect:
--   r  <- t.a indirect/window
--   d  <- t.a indirect/window
--   n  <- t.k indirect/window
--   n  <- t.b indirect/window
--   p  <- t.a indirect/window
--   q  <- t.a indirect/window
--   t4 <- t.c indirect/window

-- case: lag, lead and values of a frame transform their argument
-- table: t(a, b, c, k)
select lag(a) over (order by c) as before, lead(a, 2, b) over (order by c) as after,
  first_value(a) over (partition by k order by c) as f, last_value(a) over (partition by k order by c) as l,
  nth_value(a, 2) over (order by c) as n
from t
-- expect:
--   before <- t.a direct/transformation
--   before <- t.c indirect/window
--   after  <- t.a direct/transformation
--   after  <- t.b direct/transformation
--   after  <- t.c indirect/window
--   f <- t.a direct/aggregation
--   f <- t.k indirect/window
--   f <- t.c indirect/window
--   l <- t.a direct/aggregation
--   l <- t.k indirect/window
--   l <- t.c indirect/window
--   n <- t.a direct/transformation
--   n <- t.c indirect/window

-- case: frames of rows and ranges
-- table: t(a, b, c, k)
select sum(a) over (partition by k order by c rows between 2 preceding and current row) as r,
  avg(a) over (order by c range between 10 preceding and 10 following) as g,
  count(*) over (partition by b) as n
from t
-- expect:
--   r <- t.a direct/aggregation
--   r <- t.k indirect/window
--   r <- t.c indirect/window
--   g <- t.a direct/aggregation
--   g <- t.c indirect/window
--   n <- t.b indirect/window

-- case: a named window
-- table: t(a, b, c, k)
select sum(a) over w as s, max(b) over w as m from t window w as (partition by k order by c desc)
-- expect:
--   s <- t.a direct/aggregation
--   s <- t.k indirect/window
--   s <- t.c indirect/window
--   m <- t.b direct/aggregation
--   m <- t.k indirect/window
--   m <- t.c indirect/window

-- case: a window over an expression, and arithmetic around it
-- table: t(a, b, c, k)
select a - avg(b + 1) over (partition by k % 10) as x from t
-- expect:
--   x <- t.a direct/transformation
--   x <- t.b direct/aggregation
--   x <- t.k indirect/window

-- case: a filter on a row number filters by its window
-- table: t(a, b, c, k)
select a from (select a, row_number() over (partition by k order by c) as n from t) where n = 1
-- expect:
--   a <- t.a direct/identity
--   * <- t.k indirect/filter
--   * <- t.c indirect/filter

-- case: a window over an aggregate
-- table: t(a, b, c, k)
select k, sum(sum(a)) over (order by k) as running, rank() over (order by max(b)) as r from t group by k
-- expect:
--   k       <- t.k direct/identity
--   running <- t.a direct/aggregation
--   running <- t.k indirect/window
--   r       <- t.b indirect/window
--   *       <- t.k indirect/group_by

-- case: a time window groups by its time, and drops the rows without one
-- table: events(k, ts timestamp, a)
select window(ts, '10 minutes').start as started, sum(a) as s from events group by window(ts, '10 minutes')
-- expect:
--   started <- events.ts direct/transformation
--   started <- events.ts indirect/conditional
--   s       <- events.a direct/aggregation
--   *       <- events.ts indirect/group_by
--   *       <- events.ts indirect/filter

-- case: session windows group by the gap
-- table: events(k, ts timestamp, a)
select k, sum(a) as s from events group by k, session_window(ts, '5 minutes')
-- expect:
--   k <- events.k direct/identity
--   s <- events.a direct/aggregation
--   * <- events.k indirect/group_by
--   * <- events.ts indirect/group_by
--   * <- events.ts indirect/filter
