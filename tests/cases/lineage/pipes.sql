-- Queries in pipe syntax have the lineage of the equivalent queries.

-- case: a pipe of several steps
-- table: t(a, b, c, k)
-- since: 4.0
from t |> where c > 0 |> aggregate sum(a) as s group by k |> extend s * 2 as d |> drop k
-- expect:
--   s <- t.a direct/aggregation
--   d <- t.a direct/aggregation
--   * <- t.c indirect/filter
--   * <- t.k indirect/group_by

-- case: a pipe with a join, a changed column and an order
-- table: t(a, b, c, k)
-- table: u(k, x)
-- since: 4.0
from t |> join u using (k) |> select x, a |> set x = upper(x) |> as v |> order by a |> limit 3
-- expect:
--   x <- u.x direct/transformation
--   a <- t.a direct/identity
--   * <- t.k indirect/join
--   * <- u.k indirect/join
--   * <- t.a indirect/sort
