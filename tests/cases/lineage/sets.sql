-- Set operators. UNION matches columns by position, INTERSECT and EXCEPT compare rows.

-- case: union all by position
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a, b as x from t union all select c, k from u
-- expect:
--   a <- t.a direct/identity
--   a <- u.c direct/identity
--   x <- t.b direct/identity
--   x <- u.k direct/identity

-- case: each branch keeps its own filter
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
-- table: big(a bigint)
select a from t where b > 1 union all select a + 1 from u where c < 3 union all select a from big
-- expect:
--   a <- t.a   direct/identity
--   a <- u.a   direct/transformation
--   a <- big.a direct/identity
--   * <- t.b   indirect/filter
--   * <- u.c   indirect/filter

-- case: union distinct compares what comes out
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a from t union select b from u
-- expect:
--   a <- t.a direct/identity
--   a <- u.b direct/identity
--   * <- t.a indirect/group_by
--   * <- u.b indirect/group_by

-- case: intersect takes the values of the left side
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a, b from t intersect select c, k from u where b > 0
-- expect:
--   a <- t.a direct/identity
--   b <- t.b direct/identity
--   * <- t.a indirect/join
--   * <- t.b indirect/join
--   * <- u.c indirect/join
--   * <- u.k indirect/join
--   * <- t.a indirect/group_by
--   * <- t.b indirect/group_by
--   * <- u.c indirect/group_by
--   * <- u.k indirect/group_by
--   * <- u.b indirect/filter

-- case: intersect all does not merge rows
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a from t intersect all select c from u
-- expect:
--   a <- t.a direct/identity
--   * <- t.a indirect/join
--   * <- u.c indirect/join

-- case: except
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a from t except select c from u
-- expect:
--   a <- t.a direct/identity
--   * <- t.a indirect/join
--   * <- u.c indirect/join
--   * <- t.a indirect/group_by
--   * <- u.c indirect/group_by

-- case: except all, also called minus
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a from t minus all select c from u
-- expect:
--   a <- t.a direct/identity
--   * <- t.a indirect/join
--   * <- u.c indirect/join

-- case: a branch that selects one column twice
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select k as x, b as y, c as z from t union all select a, a, b from u
-- expect:
--   x <- t.k direct/identity
--   x <- u.a direct/identity
--   y <- t.b direct/identity
--   y <- u.a direct/identity
--   z <- t.c direct/identity
--   z <- u.b direct/identity

-- case: a branch that groups by one column and selects it twice
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select k as x, b as y, c as z from t union all select a, a, max(b) from u group by a
-- expect:
--   x <- t.k direct/identity
--   x <- u.a direct/identity
--   y <- t.b direct/identity
--   y <- u.a direct/identity
--   z <- t.c direct/identity
--   z <- u.b direct/aggregation
--   * <- u.a indirect/group_by

-- case: a literal in one branch adds nothing
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select a, 'one' as origin from t union all select null, 'two' from u
-- expect:
--   a <- t.a direct/identity
--   origin <- nothing
--   input: t
--   input: u

-- case: a member of structs built in two branches
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select o.x from (select named_struct('x', a, 'y', b) as o from t union all select named_struct('x', c, 'y', k) from u)
-- expect:
--   x <- t.a direct/identity
--   x <- u.c direct/identity

-- case: a member of a struct column of either branch
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select address.zip from (select address from n union all select address from n where id > 1)
-- expect:
--   zip <- n.address.zip direct/identity
--   *   <- n.id indirect/filter

-- case: members of structs are matched by position
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
select s.x as x, s.Y as y from (select struct(a as x, b as y) as s from t union all select struct(c as Y, k as z) from u)
-- expect:
--   x <- t.a direct/identity
--   x <- u.c direct/identity
--   y <- t.b direct/identity
--   y <- u.k direct/identity

-- case: members of struct columns are matched by position
-- table: t(a, b, c, k)
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
select s.p as p, s.q as q from (select struct(a as p, b as q) as s from t union all select o from d)
-- expect:
--   p <- t.a direct/identity
--   p <- d.o.x direct/identity
--   q <- t.b direct/identity
--   q <- d.o.y direct/identity
