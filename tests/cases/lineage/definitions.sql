-- Views, and statements that create, alter, rename or drop a dataset.

-- case: a view is a dataset of its own
-- table: t(a, b, c, k)
create view made_view as select a, b + 1 as x from t where c > 0
-- expect:
--   a <- t.a direct/identity
--   x <- t.b direct/transformation
--   * <- t.c indirect/filter
--   input: t
--   output: view made_view create

-- case: a view with a column list
-- table: t(a, b, c, k)
create or replace view made_view (p, q comment 'second') as select a, b from t
-- expect:
--   p <- t.a direct/identity
--   q <- t.b direct/identity
--   output: view made_view overwrite

-- case: a view that selects one column twice
-- table: t(a, b, c, k)
create view twice (x, y, z) as select a, a, b from t
-- expect:
--   x <- t.a direct/identity
--   y <- t.a direct/identity
--   z <- t.b direct/identity
--   output: view twice create

-- case: a query of a permanent view has the view and its tables as inputs
-- table: t(a, b, c, k)
-- setup: create view seen_view as select a, b from t where c > 0
select a as x from seen_view
-- expect:
--   x <- t.a direct/identity
--   * <- t.c indirect/filter
--   input: t
--   input: view seen_view

-- case: a view over a view
-- table: t(a, b, c, k)
-- setup: create view seen_view (p, q) as select a, b from t where c > 0
create view made_view as select p + q as r from seen_view
-- expect:
--   r <- t.a direct/transformation
--   r <- t.b direct/transformation
--   * <- t.c indirect/filter
--   input: t
--   input: view seen_view
--   output: view made_view create

-- case: a temporary view by name is not a dataset
-- table: t(a, b, c, k)
-- setup: create temporary view seen as select a from t where b > 0
select a from seen
-- expect:
--   a <- t.a direct/identity
--   * <- t.b indirect/filter
--   input: t

-- case: creating a temporary view writes nothing
-- table: t(a, b, c, k)
create temporary view made_view as select a from t where b > 0
-- expect:
--   a <- t.a direct/identity
--   * <- t.b indirect/filter

-- case: alter view as
-- table: t(a, b, c, k)
-- setup: create view seen_view as select a from t
alter view seen_view as select b from t
-- expect:
--   b <- t.b direct/identity
--   output: view seen_view overwrite

-- case: rename a column
-- setup: create table renamed (a int, b int) using delta tblproperties ('delta.columnMapping.mode' = 'name')
alter table renamed rename column a to z
-- expect:
--   z <- renamed.a direct/identity
--   output: renamed alter

-- case: rename a struct member
-- setup: create table renamed (o struct<x:int,y:int>) using delta tblproperties ('delta.columnMapping.mode' = 'name')
alter table renamed rename column o.x to w
-- expect:
--   o.w <- renamed.o.x direct/identity
--   output: renamed alter

-- case: rename a table
-- setup: create table renamed (a int) using parquet
alter table renamed rename to renamed_since
-- expect:
--   output: renamed_since rename from renamed

-- case: drop a table
-- table: u(a, b, c, k)
drop table u
-- expect:
--   output: u drop

-- case: drop a view
-- table: t(a, b, c, k)
-- setup: create view seen_view as select a from t
drop view seen_view
-- expect:
--   output: view seen_view drop

-- case: create a table without a query
create table made (a int, b string) using parquet
-- expect:
--   output: made create

-- case: create a delta table without a query
create table made (a int, b string) using delta
-- expect:
--   output: made create

-- case: add a column
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
alter table d add columns (e int)
-- expect:
--   output: d alter

-- case: drop a column
-- setup: create table shrunk (a int, b int) using delta tblproperties ('delta.columnMapping.mode' = 'name')
alter table shrunk drop column b
-- expect:
--   output: shrunk alter

-- case: describe a column
-- setup: create table noted (a int, b int) using delta
alter table noted alter column a comment 'the first'
-- expect:
--   output: noted alter

-- case: truncate a table
-- setup: create table emptied (a int) using parquet
truncate table emptied
-- expect:
--   output: emptied truncate

-- case: replace a delta table without a query
-- setup: create table replaced (a int) using delta
create or replace table replaced (b int) using delta
-- expect:
--   output: replaced overwrite

-- case: add a column to a table of files
-- setup: create table widened (a int) using parquet
alter table widened add columns (e int)
-- expect:
--   output: widened alter

-- case: replace the columns of a table
-- setup: create table fitted (a int, b int) using delta tblproperties ('delta.columnMapping.mode' = 'name')
alter table fitted replace columns (a int)
-- expect:
--   output: fitted alter

-- case: describe a column on Spark 3.5
-- until: 3.5
-- setup: create table noted (a int, b int) using delta
alter table noted alter column a comment 'the first'
-- expect:
--   output: noted alter

-- case: the declaration of a variable has no lineage
-- since: 4.0
declare or replace variable counted int default 1
-- expect:
