-- Expressions: what reaches one value, and how.

-- case: a column and an alias are identity
-- table: t(a, b, c, k)
select a, b as c from t
-- expect:
--   a <- t.a direct/identity
--   c <- t.b direct/identity

-- case: arithmetic transforms
-- table: t(a, b, c, k)
select a + b * 2 as c from t
-- expect:
--   c <- t.a direct/transformation
--   c <- t.b direct/transformation

-- case: a cast the user wrote transforms
-- table: t(a, b, c, k)
select cast(a as string) as s, a :: bigint as b from t
-- expect:
--   s <- t.a direct/transformation
--   b <- t.a direct/transformation

-- case: a cast the analyzer added keeps identity
-- table: t(a, b, c, k)
-- table: big(a bigint)
select a from t union all select a from big
-- expect:
--   a <- t.a   direct/identity
--   a <- big.a direct/identity

-- case: predicates of CASE are conditional, results are transformed
-- table: t(a, b, c, k)
select case when a > 1 then b when c is null then 'x' else c end as d from t
-- expect:
--   d <- t.a indirect/conditional
--   d <- t.b direct/transformation
--   d <- t.c indirect/conditional
--   d <- t.c direct/transformation

-- case: if
-- table: t(a, b, c, k)
select if(a = 1, b, c) as d from t
-- expect:
--   d <- t.a indirect/conditional
--   d <- t.b direct/transformation
--   d <- t.c direct/transformation

-- case: an argument of coalesce decides and is chosen
-- table: t(a, b, c, k)
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
-- table: t(a, b, c, k)
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
-- table: t(a, b, c, k)
select 1 as one, rand() as r, uuid() as u, current_timestamp() as now, monotonically_increasing_id() as n from t
-- expect:
--   one <- nothing
--   r <- nothing
--   u <- nothing
--   now <- nothing
--   n <- nothing

-- case: a struct member is a column of its own
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select address.zip, address.city.name as n, address from n
-- expect:
--   zip <- n.address.zip direct/identity
--   n <- n.address.city.name direct/identity
--   address <- n.address direct/identity

-- case: a struct that is taken apart again leads to its member
-- table: t(a, b, c, k)
select s.x from (select named_struct('x', a, 'y', b) as s from t)
-- expect:
--   x <- t.a direct/identity

-- case: a struct is a transformation of what went in
-- table: t(a, b, c, k)
select struct(a, b) as s, to_json(struct(a, b)) as j, array(a, b) as l from t
-- expect:
--   s <- t.a direct/transformation
--   s <- t.b direct/transformation
--   j <- t.a direct/transformation
--   j <- t.b direct/transformation
--   l <- t.a direct/transformation
--   l <- t.b direct/transformation

-- case: an element of an array is a transformation of the column
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select l[0] as x, tags['k'] as y from n
-- expect:
--   x <- n.l direct/transformation
--   y <- n.tags direct/transformation

-- case: a lambda takes its argument and what it captures
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select transform(l, x -> x + id) as y, filter(l, x -> x > id) as z, aggregate(l, 0, (s, x) -> s + x) as w from n
-- expect:
--   y <- n.l direct/transformation
--   y <- n.id direct/transformation
--   z <- n.l direct/transformation
--   z <- n.id direct/transformation
--   w <- n.l direct/transformation

-- case: hashes and encryption mask, encodings do not
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select md5(s) as m, sha2(s, 256) as s, xxhash64(s) as x, mask(s) as k, aes_encrypt(s, '0000111122223333') as e,
  base64(s) as b, hex(s) as h, reverse(s) as r, upper(s) as u
from n
-- expect:
--   m <- n.s direct/transformation masked
--   s <- n.s direct/transformation masked
--   x <- n.s direct/transformation masked
--   k <- n.s direct/transformation masked
--   e <- n.s direct/transformation masked
--   b <- n.s direct/transformation
--   h <- n.s direct/transformation
--   r <- n.s direct/transformation
--   u <- n.s direct/transformation

-- case: masking stays along the path
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select upper(m) as u from (select md5(s) as m from n) where m > 'x'
-- expect:
--   u <- n.s direct/transformation masked
--   * <- n.s indirect/filter masked
