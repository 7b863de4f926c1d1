-- Expressions: what reaches one value, and how.

-- case: a column and an alias are identity
-- table: t(a, b)
select a, b as c from t
-- expect:
--   a <- t.a direct/identity
--   c <- t.b direct/identity

-- case: arithmetic transforms
-- table: t(a, b)
select a + b * 2 as c from t
-- expect:
--   c <- t.a direct/transformation
--   c <- t.b direct/transformation

-- case: a cast the user wrote transforms
-- table: t(a)
select cast(a as string) as s, a :: bigint as b from t
-- expect:
--   s <- t.a direct/transformation
--   b <- t.a direct/transformation

-- case: a cast the analyzer added keeps identity
-- table: t(a int)
-- table: u(a bigint)
select a from t union all select a from u
-- expect:
--   a <- t.a direct/identity
--   a <- u.a direct/identity

-- case: predicates of CASE are conditional, results are transformed
-- table: t(a, b, c)
select case when a > 1 then b when c is null then 'x' else c end as d from t
-- expect:
--   d <- t.a indirect/conditional
--   d <- t.b direct/transformation
--   d <- t.c indirect/conditional
--   d <- t.c direct/transformation

-- case: if
-- table: t(a, b, c)
select if(a = 1, b, c) as d from t
-- expect:
--   d <- t.a indirect/conditional
--   d <- t.b direct/transformation
--   d <- t.c direct/transformation

-- case: an argument of coalesce decides and is chosen
-- table: t(a, b)
select coalesce(a, b) as c, nvl(a, b) as d, ifnull(a, 0) as e from t
-- expect:
--   c <- t.a direct/transformation
--   c <- t.a indirect/conditional
--   c <- t.b direct/transformation
--   c <- t.b indirect/conditional
--   d <- t.a direct/transformation
--   d <- t.a indirect/conditional
--   d <- t.b direct/transformation
--   d <- t.b indirect/conditional
--   e <- t.a direct/transformation
--   e <- t.a indirect/conditional

-- case: nullif, nvl2 and decode
-- table: t(a, b, c)
select nullif(a, b) as x, nvl2(a, b, c) as y, decode(a, 1, b, 2, c) as z from t
-- expect:
--   x <- t.a direct/transformation
--   x <- t.a indirect/conditional
--   x <- t.b indirect/conditional
--   y <- t.a indirect/conditional
--   y <- t.b direct/transformation
--   y <- t.c direct/transformation
--   z <- t.a indirect/conditional
--   z <- t.b direct/transformation
--   z <- t.c direct/transformation

-- case: literals, clocks and random numbers have no input
-- table: t(a)
select 1 as one, rand() as r, uuid() as u, current_timestamp() as now, monotonically_increasing_id() as n from t
-- expect:
--   one <- nothing
--   r <- nothing
--   u <- nothing
--   now <- nothing
--   n <- nothing

-- case: a struct member is a column of its own
-- table: t(id, address struct<zip:string,city:struct<name:string>>)
select address.zip, address.city.name as n, address from t
-- expect:
--   zip <- t.address.zip direct/identity
--   n <- t.address.city.name direct/identity
--   address <- t.address direct/identity

-- case: a struct that is taken apart again leads to its member
-- table: t(a, b)
select s.x from (select named_struct('x', a, 'y', b) as s from t)
-- expect:
--   x <- t.a direct/identity

-- case: a struct is a transformation of what went in
-- table: t(a, b)
select struct(a, b) as s, to_json(struct(a, b)) as j, array(a, b) as l from t
-- expect:
--   s <- t.a direct/transformation
--   s <- t.b direct/transformation
--   j <- t.a direct/transformation
--   j <- t.b direct/transformation
--   l <- t.a direct/transformation
--   l <- t.b direct/transformation

-- case: an element of an array is a transformation of the column
-- table: t(l array<int>, m map<string,int>)
select l[0] as x, m['k'] as y from t
-- expect:
--   x <- t.l direct/transformation
--   y <- t.m direct/transformation

-- case: a lambda takes its argument and what it captures
-- table: t(l array<int>, a)
select transform(l, x -> x + a) as y, filter(l, x -> x > a) as z, aggregate(l, 0, (s, x) -> s + x) as w from t
-- expect:
--   y <- t.l direct/transformation
--   y <- t.a direct/transformation
--   z <- t.l direct/transformation
--   z <- t.a direct/transformation
--   w <- t.l direct/transformation

-- case: hashes and encryption mask, encodings do not
-- table: t(a string)
select md5(a) as m, sha2(a, 256) as s, xxhash64(a) as x, mask(a) as k, aes_encrypt(a, '0000111122223333') as e,
  base64(a) as b, hex(a) as h, reverse(a) as r, upper(a) as u
from t
-- expect:
--   m <- t.a direct/transformation masked
--   s <- t.a direct/transformation masked
--   x <- t.a direct/transformation masked
--   k <- t.a direct/transformation masked
--   e <- t.a direct/transformation masked
--   b <- t.a direct/transformation
--   h <- t.a direct/transformation
--   r <- t.a direct/transformation
--   u <- t.a direct/transformation

-- case: masking stays along the path
-- table: t(a string)
select upper(m) as u from (select md5(a) as m from t) where m > 'x'
-- expect:
--   u <- t.a direct/transformation masked
--   * <- t.a indirect/filter masked
