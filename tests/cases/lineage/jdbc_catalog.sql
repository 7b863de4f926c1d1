-- Statements over a catalog of JDBC tables, which receives UPDATE, DELETE and MERGE as they are written. Iceberg's
-- extension for Spark 3.5 fails on UPDATE and MERGE of other catalogs.

-- case: a read of a table in a JDBC catalog
-- setup: create table if not exists shop.APP.stock (id int, amount int, k int)
select id, amount + 1 as x from shop.APP.stock where k > 0
-- expect:
--   id <- APP.stock.id direct/identity
--   x <- APP.stock.amount direct/transformation
--   * <- APP.stock.k indirect/filter
--   input: APP.stock

-- case: update uses the target's spelling of a column
-- since: 4.0
-- setup: create table if not exists shop.APP.stock (id int, amount int, k int)
update shop.APP.stock set AMOUNT = ID + 1 where k > 0
-- expect:
--   amount <- APP.stock.id direct/transformation
--   amount <- APP.stock.k indirect/conditional
--   input: APP.stock
--   output: APP.stock

-- case: delete with a condition
-- setup: create table if not exists shop.APP.stock (id int, amount int, k int)
delete from shop.APP.stock where k > 0
-- expect:
--   * <- APP.stock.k indirect/filter
--   input: APP.stock
--   output: APP.stock

-- case: merge with every kind of clause
-- since: 4.0
-- table: t(a, b, c, k)
-- setup: create table if not exists shop.APP.stock (id int, amount int, k int)
merge into shop.APP.stock s using t on s.id = t.a
when matched and t.c > 0 then update set AMOUNT = t.b
when matched and s.k = 9 then delete
when not matched then insert (id, amount) values (t.a, t.b + 1)
-- expect:
--   id <- t.a direct/identity
--   amount <- t.b direct/identity
--   amount <- t.b direct/transformation
--   amount <- t.c indirect/conditional
--   * <- APP.stock.id indirect/join
--   * <- t.a indirect/join
--   * <- APP.stock.k indirect/filter
--   * <- t.c indirect/filter
--   input: APP.stock
--   input: t
--   output: APP.stock
