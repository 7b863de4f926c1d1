-- Expressions: which columns a value depends on, and how.

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
-- since: 4.0
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

-- case: nullif inside nullif
-- table: t(a, b, c, k)
select nullif(a, nullif(b, c)) as x from t
-- expect:
--   x <- t.a direct/transformation
--   x <- t.a indirect/conditional
--   x <- t.b indirect/conditional
--   x <- t.c indirect/conditional

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

-- case: a struct member has the name that its struct gives it
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select ADDRESS.City.NAME as x, O.Z as y from (select address, struct(id as z, s as w) as o from n)
-- expect:
--   x <- n.address.city.name direct/identity
--   y <- n.id direct/identity

-- case: a struct without some of its members
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select if(address is null, null, struct(address.zip)) as a from n
-- expect:
--   a <- n.address indirect/conditional
--   a <- n.address.zip direct/transformation

-- case: a member of a struct built in the query has the lineage of that member
-- table: t(a, b, c, k)
select s.x from (select named_struct('x', a, 'y', b) as s from t)
-- expect:
--   x <- t.a direct/identity

-- case: a struct is a transformation of its members
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

-- case: a lambda depends on its argument and on the columns it captures
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

-- case: decryption ends masking
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select aes_decrypt(aes_encrypt(s, '0000111122223333'), '0000111122223333') as d,
  md5(aes_decrypt(unbase64(s), '0000111122223333')) as m, try_aes_decrypt(aes_encrypt(s, '0000111122223333'), 'x') as t
from n
-- expect:
--   d <- n.s direct/transformation
--   m <- n.s direct/transformation masked
--   t <- n.s direct/transformation

-- case: masking stays along the path
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select upper(m) as u from (select md5(s) as m from n) where m > 'x'
-- expect:
--   u <- n.s direct/transformation masked
--   * <- n.s indirect/filter masked

-- case: try_cast and the short form of a cast
-- since: 4.0
-- table: t(a, b, c, k)
select try_cast(a as smallint) as d, b :: double as f, date '2020-01-01' as l from t
-- expect:
--   d <- t.a direct/transformation
--   f <- t.b direct/transformation
--   l <- nothing

-- case: a cast that is written as a function
-- table: t(a, b, c, k)
select double(b) as f, string ( a ) as s from t
-- expect:
--   f <- t.b direct/transformation
--   s <- t.a direct/transformation

-- case: a cast of the analyzer next to one written as a function keeps identity
-- table: t(a, b, c, k)
select c as w from t union all select double(1.5)
-- expect:
--   w <- t.c direct/identity

-- case: comparison and logic transform
-- table: t(a, b, c, k)
select a > b and c is not null as p, k between a and b as q, a in (1, b) as r, not (a = 1) as n from t
-- expect:
--   p <- t.a direct/transformation
--   p <- t.b direct/transformation
--   p <- t.c direct/transformation
--   q <- t.k direct/transformation
--   q <- t.a direct/transformation
--   q <- t.b direct/transformation
--   r <- t.a direct/transformation
--   r <- t.b direct/transformation
--   n <- t.a direct/transformation

-- case: greatest, least, zeroifnull and nanvl
-- table: t(a, b, c, k)
select greatest(a, b) as g, least(b, c) as l from t
-- expect:
--   g <- t.a direct/transformation
--   g <- t.b direct/transformation
--   l <- t.b direct/transformation
--   l <- t.c direct/transformation

-- case: a CASE with an operand
-- table: t(a, b, c, k)
select case a when 1 then b when k then c end as d from t
-- expect:
--   d <- t.a indirect/conditional
--   d <- t.k indirect/conditional
--   d <- t.b direct/transformation
--   d <- t.c direct/transformation

-- case: nested conditions stay conditional
-- table: t(a, b, c, k)
select if(coalesce(a, b) > 0, c, k) as d from t
-- expect:
--   d <- t.a indirect/conditional
--   d <- t.b indirect/conditional
--   d <- t.c direct/transformation
--   d <- t.k direct/transformation

-- case: a column that occurs twice in an expression is listed once per transformation
-- table: t(a, b, c, k)
select a * a + a as x from t
-- expect:
--   x <- t.a direct/transformation

-- case: a condition of an inner query stays conditional in the outer query
-- table: t(a, b, c, k)
select y + 1 as z from (select if(a > 0, b, 0) as y from t)
-- expect:
--   z <- t.a indirect/conditional
--   z <- t.b direct/transformation

-- case: a lateral alias has the lineage of its expression
-- since: 4.0
-- table: t(a, b, c, k)
select a + 1 as x, x * b as y from t
-- expect:
--   x <- t.a direct/transformation
--   y <- t.a direct/transformation
--   y <- t.b direct/transformation

-- case: two output columns of one name have the inputs of both
-- table: t(a, b, c, k)
select a as x, b as x from t
-- expect:
--   x <- t.a direct/identity
--   x <- t.b direct/identity

-- case: CHAR and VARCHAR keep identity
-- table: codes(code char(4), name varchar(20))
select code, name from codes
-- expect:
--   code <- codes.code direct/identity
--   name <- codes.name direct/identity

-- case: struct star selects the members
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select address.* from n
-- expect:
--   zip  <- n.address.zip direct/identity
--   city <- n.address.city direct/identity

-- case: a nested member of a struct built in the query
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select o.i.x as x, o.z as z from (select named_struct('i', named_struct('x', id, 'y', s), 'z', address.zip) as o from n)
-- expect:
--   x <- n.id direct/identity
--   z <- n.address.zip direct/identity

-- case: a member of a struct of a common table
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
with x as (select struct(id, upper(s) as up) as o from n) select o.id, o.up from x
-- expect:
--   id <- n.id direct/identity
--   up <- n.s direct/transformation

-- case: a filter on a struct member reads the member
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select id from n where address.city.name = 'x'
-- expect:
--   id <- n.id direct/identity
--   *  <- n.address.city.name indirect/filter

-- case: a member of an array of structs is a transformation of the column
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select items.sku as skus, items[0].qty as first from n
-- expect:
--   skus  <- n.items direct/transformation
--   first <- n.items direct/transformation

-- case: maps and arrays transform
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select map_keys(tags) as ks, element_at(l, 1) as e, size(l) as z, map('k', id) as m, array_contains(l, id) as c, sort_array(l) as o from n
-- expect:
--   ks <- n.tags direct/transformation
--   e  <- n.l direct/transformation
--   z  <- n.l direct/transformation
--   m  <- n.id direct/transformation
--   c  <- n.l direct/transformation
--   c  <- n.id direct/transformation
--   o  <- n.l direct/transformation

-- case: from_json and get_json_object transform, and so do their members
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select from_json(s, 'p int, q string').p as p, get_json_object(s, '$.q') as q, to_json(address) as j from n
-- expect:
--   p <- n.s direct/transformation
--   q <- n.s direct/transformation
--   j <- n.address direct/transformation

-- case: lambdas within lambdas capture columns
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select transform(items, i -> transform(l, x -> x + i.qty + id)) as y, exists(l, x -> x > id) as e, map_filter(tags, (k, v) -> v = s) as m,
  zip_with(l, l, (x, y) -> x * y) as z, reduce(l, id, (acc, x) -> acc + x) as r from n
-- expect:
--   y <- n.items direct/transformation
--   y <- n.l direct/transformation
--   y <- n.id direct/transformation
--   e <- n.l direct/transformation
--   e <- n.id direct/transformation
--   m <- n.tags direct/transformation
--   m <- n.s direct/transformation
--   z <- n.l direct/transformation
--   r <- n.l direct/transformation
--   r <- n.id direct/transformation

-- case: every masking function of Spark's own
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select hash(s) as h, sha(s) as a, sha1(s) as b, crc32(s) as c, sha2(s, 512) as d, mask(s, 'X') as m from n
-- expect:
--   h <- n.s direct/transformation masked
--   a <- n.s direct/transformation masked
--   b <- n.s direct/transformation masked
--   c <- n.s direct/transformation masked
--   d <- n.s direct/transformation masked
--   m <- n.s direct/transformation masked

-- case: reversible functions do not mask
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select substring(s, 1, 3) as a, lower(s) as b, trim(s) as c, concat(s, '!') as d, regexp_replace(s, 'x', 'y') as e, translate(s, 'a', 'b') as f,
  encode(s, 'utf-8') as g, unhex(s) as h, length(s) as i, left(s, 2) as j, split(s, ',') as k, overlay(s placing 'x' from 2) as l from n
-- expect:
--   a <- n.s direct/transformation
--   b <- n.s direct/transformation
--   c <- n.s direct/transformation
--   d <- n.s direct/transformation
--   e <- n.s direct/transformation
--   f <- n.s direct/transformation
--   g <- n.s direct/transformation
--   h <- n.s direct/transformation
--   i <- n.s direct/transformation
--   j <- n.s direct/transformation
--   k <- n.s direct/transformation
--   l <- n.s direct/transformation

-- case: a struct with one masked member masks that member only
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select o.h as h, o.s as s from (select struct(md5(s) as h, s as s) as o from n)
-- expect:
--   h <- n.s direct/transformation masked
--   s <- n.s direct/identity

-- case: a column masked on one path and clear on another
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select concat(md5(s), s) as x from n
-- expect:
--   x <- n.s direct/transformation masked
--   x <- n.s direct/transformation

-- case: clocks and settings of the session have no input
-- table: t(a, b, c, k)
select now() as n, current_date() as d, current_user() as u, current_catalog() as c, randn(1) as r, spark_partition_id() as p, version() as v from t
-- expect:
--   n <- nothing
--   d <- nothing
--   u <- nothing
--   c <- nothing
--   r <- nothing
--   p <- nothing
--   v <- nothing

-- case: the file that a row is in
-- table: t(a, b, c, k)
select a, input_file_name() as f from t
-- expect:
--   a <- t.a direct/identity
--   f <- nothing

-- case: metadata columns are columns of their dataset
-- table: t(a, b, c, k)
select a, _metadata.file_path as p, _metadata.row_index as i from t where _metadata.file_size > 0
-- expect:
--   a <- t.a direct/identity
--   p <- t._metadata.file_path direct/identity
--   i <- t._metadata.row_index direct/identity
--   * <- t._metadata.file_size indirect/filter

-- case: dates, intervals and times
-- table: events(k, ts timestamp, a)
select date_trunc('day', ts) as d, ts + interval 1 day as n, timestampdiff(minute, ts, now()) as m, extract(year from ts) as y from events
-- expect:
--   d <- events.ts direct/transformation
--   n <- events.ts direct/transformation
--   m <- events.ts direct/transformation
--   y <- events.ts direct/transformation

-- case: a variable of the session has no input
-- since: 4.0
-- table: t(a, b, c, k)
-- setup: declare or replace variable limit_of int default 5
select a from t where b > limit_of
-- expect:
--   a <- t.a direct/identity
--   * <- t.b indirect/filter

-- case: an identifier clause and parameters are resolved
-- table: t(a, b, c, k)
select identifier('a') as x from identifier('t')
-- expect:
--   x <- t.a direct/identity

-- case: variant members
-- since: 4.1
-- table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
select parse_json(s):p.q::int as x from n
-- expect:
--   x <- n.s direct/transformation

-- case: a column with the name of a member's path is another column
-- table: t(a, b, c, k)
-- setup: create table pathlike (a struct<b:int>, `a.b` int) using parquet
select a.b as member, `a.b` as own from pathlike where `a.b` > 0
-- expect:
--   member <- pathlike.a.b direct/identity
--   own <- pathlike.`a.b` direct/identity
--   * <- pathlike.`a.b` indirect/filter

-- case: names with spaces and dots
-- table: odd(`a b` int, `c.d` int)
select `a b` as `x y`, `c.d` from odd
-- expect:
--   x y <- odd.a b direct/identity
--   c.d <- odd.c.d direct/identity

-- case: nullif on Spark 4.3
-- since: 4.3
-- table: t(a, b, c, k)
select nullif(a, b) as x from t
-- expect:
--   x <- t.a direct/transformation
--   x <- t.a indirect/conditional
--   x <- t.b indirect/conditional
