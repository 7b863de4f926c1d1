-- Statements that change rows in place.

-- case: merge with update and insert
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
-- table: t(a, b, c, k)
merge into d using t on d.k = t.k
when matched then update set a = t.a + d.b
when not matched then insert (k, a, b) values (t.k, t.b, 0)
-- expect:
--   a <- t.a direct/transformation
--   a <- d.b direct/transformation
--   a <- t.b direct/identity
--   k <- t.k direct/identity
--   b <- nothing
--   o <- nothing
--   * <- d.k indirect/join
--   * <- t.k indirect/join
--   output: d

-- case: merge with conditions on its clauses
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
-- table: t(a, b, c, k)
merge into d using t on d.k = t.k
when matched and t.c > 0 then update set a = t.a
when matched and d.b = 7 then delete
when not matched and t.b > 1 then insert (k, b) values (t.k, t.c)
-- expect:
--   a <- t.a direct/identity
--   a <- t.c indirect/conditional
--   a <- t.b indirect/conditional
--   k <- t.k direct/identity
--   k <- t.b indirect/conditional
--   b <- t.c direct/identity
--   b <- t.b indirect/conditional
--   o <- t.b indirect/conditional
--   * <- d.k indirect/join
--   * <- t.k indirect/join
--   * <- d.b indirect/filter
--   * <- t.c indirect/filter

-- case: a later update clause depends on the conditions of the updates before it
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
-- table: t(a, b, c, k)
merge into d using t on d.k = t.k
when matched and t.c > 0 then update set a = t.a
when matched and d.a > 9 then delete
when matched then update set b = t.b
-- expect:
--   a <- t.a direct/identity
--   a <- t.c indirect/conditional
--   b <- t.b direct/identity
--   b <- t.c indirect/conditional
--   * <- d.k indirect/join
--   * <- t.k indirect/join
--   * <- d.a indirect/filter
--   * <- t.c indirect/filter

-- case: a later insert clause depends on the conditions of the inserts before it
-- table: d2(a, b, c, k) using delta
-- table: t(a, b, c, k)
merge into d2 using t on d2.k = t.k
when not matched and t.c > 0 then insert (a, b, c, k) values (t.a, 0, 0, t.k)
when not matched then insert (a, b, c, k) values (0, t.b, 0, t.k)
-- expect:
--   a <- t.a direct/identity
--   a <- t.c indirect/conditional
--   b <- t.b direct/identity
--   b <- t.c indirect/conditional
--   c <- t.c indirect/conditional
--   k <- t.k direct/identity
--   k <- t.c indirect/conditional
--   * <- d2.k indirect/join
--   * <- t.k indirect/join

-- case: merge with star forms
-- table: d2(a, b, c, k) using delta
-- table: t(a, b, c, k)
merge into d2 using (select a, b, c + 1 as c, k from t where a > 0) s on d2.k = s.k
when matched then update set *
when not matched then insert *
-- expect:
--   a <- t.a direct/identity
--   b <- t.b direct/identity
--   c <- t.c direct/transformation
--   k <- t.k direct/identity
--   * <- t.a indirect/filter
--   * <- d2.k indirect/join
--   * <- t.k indirect/join
--   input: t
--   input: d2
--   output: d2

-- case: merge not matched by source
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
-- table: t(a, b, c, k)
merge into d using t on d.k = t.k
when not matched by source and d.b > 3 then update set a = d.a + 1
when not matched by source then delete
-- expect:
--   a <- d.a direct/transformation
--   a <- d.b indirect/conditional
--   * <- d.k indirect/join
--   * <- t.k indirect/join
--   * <- d.b indirect/filter

-- case: merge that evolves the schema
-- table: d2(a, b, c, k) using delta
-- table: t(a, b, c, k)
-- since: 4.0
merge with schema evolution into d2 using (select a, k, b as fresh from t) s on d2.k = s.k
when matched then update set *
when not matched then insert *
-- expect:
--   a     <- t.a direct/identity
--   k     <- t.k direct/identity
--   fresh <- t.b direct/identity
--   b     <- nothing
--   c     <- nothing
--   *     <- d2.k indirect/join
--   *     <- t.k indirect/join

-- case: merge sets a struct member
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
-- table: t(a, b, c, k)
merge into d using t on d.k = t.k when matched then update set o.x = t.a
-- expect:
--   o <- t.a direct/transformation
--   o <- d.o.y direct/transformation
--   * <- d.k indirect/join
--   * <- t.k indirect/join

-- case: merge from a subquery with an aggregate
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
-- table: t(a, b, c, k)
merge into d using (select k, max(a) as m from t group by k) s on d.k = s.k and s.m > 0
when matched then update set d.a = case when s.m > d.b then s.m else d.a end
-- expect:
--   a <- t.a direct/aggregation
--   a <- t.a indirect/conditional
--   a <- d.b indirect/conditional
--   a <- d.a direct/transformation
--   * <- t.k indirect/group_by
--   * <- t.k indirect/join
--   * <- t.a indirect/join
--   * <- d.k indirect/join

-- case: update without where
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
update d set a = b + 1
-- expect:
--   a <- d.b direct/transformation
--   output: d

-- case: update with where is conditional on the columns set
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
update d set a = b, b = 0 where k > 1
-- expect:
--   a <- d.b direct/identity
--   a <- d.k indirect/conditional
--   b <- d.k indirect/conditional
--   input: d
--   output: d

-- case: update of a struct member
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
update d set o.x = a where b = 1
-- expect:
--   o <- d.a direct/transformation
--   o <- d.o.y direct/transformation
--   o <- d.b indirect/conditional

-- case: delete with a condition
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
delete from d where a > 1 and b is null
-- expect:
--   * <- d.a indirect/filter
--   * <- d.b indirect/filter
--   input: d
--   output: d

-- case: delete of everything
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
delete from d
-- expect:
--   output: d truncate

-- case: truncate
-- table: u(a, b, c, k)
truncate table u
-- expect:
--   output: u truncate

-- case: update of a narrow column with a wide one keeps identity
-- table: narrow(n bigint, m) using delta
update narrow set m = n
-- expect:
--   m <- narrow.n direct/identity
--   input: narrow
--   output: narrow
