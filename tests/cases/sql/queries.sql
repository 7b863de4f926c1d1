-- Queries and statements that only some dialects have. What all have in common is compared with Spark.

-- case: QUALIFY decides the rows
-- dialect: snowflake
-- table: T(A, B, C)
create view v as select a from t qualify row_number() over (partition by b order by c desc) = 1
-- expect:
--   V.a <- T.A direct/identity
--   V.* <- T.B indirect/filter
--   V.* <- T.C indirect/filter

-- case: flatten a variant
-- dialect: snowflake
-- table: RAW(ID, ITEMS)
create table items as
select r.id, f.value:name::string as name, f.index from raw r, lateral flatten(input => r.items) f
-- expect:
--   ITEMS.id <- RAW.ID direct/identity
--   ITEMS.name <- RAW.ITEMS direct/transformation
--   ITEMS.index <- RAW.ITEMS direct/transformation
--   ITEMS.* <- RAW.ITEMS indirect/filter

-- case: unnest with structs
-- dialect: bigquery
-- table: shop.orders(id, items)
create view shop.lines as select id, item.price * item.quantity as amount from shop.orders, unnest(items) as item
-- expect:
--   shop.lines.id <- shop.orders.id direct/identity
--   shop.lines.amount <- shop.orders.items direct/transformation
--   shop.lines.* <- shop.orders.items indirect/filter

-- case: select star with exceptions and replacements
-- dialect: bigquery
-- table: t(a, b, c)
create view v as select * except (c) replace (b + 1 as b) from t
-- expect:
--   v.a <- t.a direct/identity
--   v.b <- t.b direct/transformation

-- case: materialized views with options that sqlglot does not know
-- dialect: postgres
-- table: t(a, b)
create materialized view mv as select a, max(b) as b from t group by a with no data;
-- expect:
--   mv.a <- t.a direct/identity
--   mv.b <- t.b direct/aggregation
--   mv.* <- t.a indirect/group_by

-- case: live tables
-- dialect: databricks
-- table: raw.t(a, b)
create or refresh live table clean comment 'no nulls' as select a, b from raw.t where a is not null
-- expect:
--   clean.a <- raw.t.a direct/identity
--   clean.b <- raw.t.b direct/identity
--   clean.* <- raw.t.a indirect/filter

-- case: insert into several tables
-- dialect: snowflake
-- table: T(X, Y, Z)
insert all when z > 1 then into a (x) values (x) else into b (y) values (upper(y)) select x, y, z from t
-- expect:
--   A.x <- T.X direct/identity
--   A.* <- T.Z indirect/filter
--   B.y <- T.Y direct/transformation

-- case: star over an unknown table keeps the table open
-- dialect: postgres
-- table: known(a, b)
create view v as select u.*, k.a from unknown_table u join known k on k.b = u.id
-- expect:
--   v.a <- known.a direct/identity
--   v.* <- known.b indirect/join
--   v.* <- unknown_table.id indirect/join
--   problem: 1: `*` stands for the columns of unknown_table, which are not known

-- case: a column without a table name may come from every table with unknown columns
-- dialect: postgres
create view v as select x from one join two on one.k = two.k
-- expect:
--   v.x <- one.x direct/identity
--   v.x <- two.x direct/identity
--   v.* <- one.k indirect/join
--   v.* <- two.k indirect/join

-- case: hash functions of several databases mask
-- dialect: tsql
-- table: dbo.people(email, name)
create view dbo.hashed as select hashbytes('SHA2_256', email) as h, upper(name) as n from dbo.people
-- expect:
--   dbo.hashed.h <- dbo.people.email direct/transformation masked
--   dbo.hashed.n <- dbo.people.name direct/transformation

-- case: update with a join
-- dialect: mysql
-- table: t(k, a)
-- table: s(k, b, z)
update t join s on t.k = s.k set t.a = s.b where s.z > 0
-- expect:
--   t.a <- s.b direct/identity
--   t.a <- s.z indirect/conditional
--   t.* <- t.k indirect/join
--   t.* <- s.k indirect/join

-- case: a union of two hundred branches
-- dialect: postgres
-- repeat: 200 select a from t union all
-- table: t(a)
create view v as {repeat} select a from t
-- expect:
--   v.a <- t.a direct/identity

-- case: cross apply of a table function
-- dialect: tsql
-- table: dbo.t(id, tags)
create view dbo.v as select t.id, s.value from dbo.t cross apply string_split(t.tags, ',') s
-- expect:
--   dbo.v.id <- dbo.t.id direct/identity
--   dbo.v.value <- dbo.t.tags direct/transformation
--   dbo.v.* <- dbo.t.tags indirect/filter

-- case: quoted names keep their case
-- dialect: snowflake
-- table: Mixed("a b")
create view "MyView" as select "a b" as "Out" from "Mixed"
-- expect:
--   MyView.Out <- Mixed.a b direct/identity
