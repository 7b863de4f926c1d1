-- Scripts of several statements, temporary tables and procedures, in the dialects of the databases.

-- case: views of a script lead to their tables
-- dialect: postgres
-- table: shop.orders(id, customer_id, amount, status)
create view shop.paid as select id, amount from shop.orders where status = 'paid';
create or replace view shop.totals (n, total) as select count(*), sum(amount) from shop.paid;
-- expect:
--   shop.paid.id <- shop.orders.id direct/identity
--   shop.paid.amount <- shop.orders.amount direct/identity
--   shop.paid.* <- shop.orders.status indirect/filter
--   shop.totals.n <- nothing
--   shop.totals.total <- shop.paid.amount direct/aggregation

-- case: T-SQL needs no semicolons, and temporary tables are resolved
-- dialect: tsql
-- table: dbo.src(a, b, c)
-- table: dbo.target(x, y)
SET NOCOUNT ON
SELECT a, SUM(b) AS total INTO #sums FROM dbo.src WHERE c > 0 GROUP BY a
INSERT INTO dbo.target (x, y)
SELECT s.a, s.total FROM #sums s
UPDATE dbo.target SET y = y * 2 WHERE x IS NULL
-- expect:
--   dbo.target.x <- dbo.src.a direct/identity
--   dbo.target.y <- dbo.src.b direct/aggregation
--   dbo.target.* <- dbo.src.c indirect/filter
--   dbo.target.* <- dbo.src.a indirect/group_by
--   dbo.target.y <- dbo.target.y direct/transformation
--   dbo.target.y <- dbo.target.x indirect/conditional

-- case: a T-SQL procedure with conditions, a block and a CTE
-- dialect: tsql
-- table: dbo.b(x, y, d)
CREATE OR ALTER PROCEDURE etl.load_a @d date = NULL AS
BEGIN
  SET NOCOUNT ON;
  BEGIN TRY
    IF @d IS NULL
    BEGIN
      TRUNCATE TABLE dbo.a;
    END
    ELSE DELETE FROM dbo.a WHERE day = @d;
    ;WITH daily AS (SELECT x, SUM(y) AS y FROM dbo.b WITH (NOLOCK) WHERE d = @d GROUP BY x)
    INSERT INTO dbo.a (x, total, day) SELECT x, y, @d FROM daily
    EXEC etl.notify @d
  END TRY
  BEGIN CATCH
    THROW
  END CATCH
END
GO
-- expect:
--   etl.load_a: dbo.a.* <- dbo.a.day indirect/filter
--   etl.load_a: dbo.a.x <- dbo.b.x direct/identity
--   etl.load_a: dbo.a.total <- dbo.b.y direct/aggregation
--   etl.load_a: dbo.a.day <- nothing
--   etl.load_a: dbo.a.* <- dbo.b.d indirect/filter
--   etl.load_a: dbo.a.* <- dbo.b.x indirect/group_by

-- case: a T-SQL MERGE and an update through an alias
-- dialect: tsql
-- table: dbo.t(k, a, b)
-- table: dbo.s(k, a, flag)
MERGE INTO dbo.t AS t USING dbo.s AS s ON t.k = s.k
WHEN MATCHED AND s.flag = 1 THEN UPDATE SET t.a = s.a
WHEN NOT MATCHED THEN INSERT (k, a) VALUES (s.k, UPPER(s.a))
WHEN NOT MATCHED BY SOURCE THEN DELETE;
UPDATE x SET x.b = s.a FROM dbo.t x JOIN dbo.s s ON s.k = x.k WHERE s.flag = 2
-- expect:
--   dbo.t.a <- dbo.s.a direct/identity
--   dbo.t.a <- dbo.s.flag indirect/conditional
--   dbo.t.a <- dbo.s.a direct/transformation
--   dbo.t.k <- dbo.s.k direct/identity
--   dbo.t.* <- dbo.t.k indirect/join
--   dbo.t.* <- dbo.s.k indirect/join
--   dbo.t.b <- dbo.s.a direct/identity
--   dbo.t.b <- dbo.s.flag indirect/conditional

-- case: the body of a PL/pgSQL function
-- dialect: postgres
-- table: public.b(x, y)
create or replace function load_a() returns void language plpgsql as $$
declare n int;
begin
  select count(*) into n from public.b;
  if n > 0 then
    insert into public.a (x) select upper(x) from public.b where y > 1;
  end if;
end;
$$;
-- expect:
--   load_a: public.a.x <- public.b.x direct/transformation
--   load_a: public.a.* <- public.b.y indirect/filter

-- case: an Oracle procedure
-- dialect: oracle
-- table: SALES.ORDERS(ID, AMOUNT)
CREATE OR REPLACE PROCEDURE sales.refresh IS
  v_day DATE;
BEGIN
  v_day := SYSDATE;
  FOR r IN (SELECT id FROM sales.orders) LOOP
    INSERT INTO sales.history (id, amount) SELECT id, NVL(amount, 0) FROM sales.orders;
  END LOOP;
  COMMIT;
EXCEPTION WHEN OTHERS THEN ROLLBACK;
END;
/
-- expect:
--   sales.refresh: SALES.HISTORY.id <- SALES.ORDERS.ID direct/identity
--   sales.refresh: SALES.HISTORY.amount <- SALES.ORDERS.AMOUNT direct/transformation
--   sales.refresh: SALES.HISTORY.amount <- SALES.ORDERS.AMOUNT indirect/conditional

-- case: a MySQL procedure with its own delimiter
-- dialect: mysql
-- table: b(x)
DELIMITER $$
CREATE PROCEDURE p()
BEGIN
  INSERT INTO a (x) SELECT x FROM b;
END$$
DELIMITER ;
-- expect:
--   p: a.x <- b.x direct/identity

-- case: a BigQuery procedure
-- dialect: bigquery
-- table: d.b(x, y)
CREATE OR REPLACE PROCEDURE d.p(day DATE)
BEGIN
  INSERT INTO d.a (x) SELECT x FROM d.b WHERE y = day;
END
-- expect:
--   d.p: d.a.x <- d.b.x direct/identity
--   d.p: d.a.* <- d.b.y indirect/filter
--   problem: 3: no source has a column `day`

-- case: a Snowflake procedure as text
-- dialect: snowflake
-- table: B(X)
create or replace procedure load() returns string language sql as
$$
begin
  insert into a (x) select x from b;
  return 'done';
end;
$$;
-- expect:
--   load: A.x <- B.X direct/identity

-- case: dynamic SQL is reported
-- dialect: tsql
-- table: dbo.b(x)
EXEC sp_executesql N'insert into dbo.a select x from dbo.b'
INSERT INTO dbo.a (x) SELECT x FROM dbo.b
-- expect:
--   problem: 1: runs SQL text that is built at run time
--   dbo.a.x <- dbo.b.x direct/identity

-- case: a broken statement does not affect the others
-- dialect: postgres
-- table: b(x)
create view v1 as select x from b;
create view v2 as select x frm b wher x;
create view v3 as select x from b;
-- expect:
--   v1.x <- b.x direct/identity
--   v3.x <- b.x direct/identity
--   problem: 2: not understood

-- case: COMMENT ON and DDL describe tables
-- dialect: postgres
create table t (a int, b text);
comment on table t is 'all of it';
comment on column t.b is 'the b';
-- expect:
--   t: a int, b text
--   comment: t all of it
--   comment: t.b the b

-- case: a T-SQL view with an option before its query
-- dialect: tsql
-- table: dbo.src(a, b)
CREATE OR ALTER VIEW [dbo].[v] WITH SCHEMABINDING, VIEW_METADATA AS
SELECT s.[a] FROM [dbo].[src] AS s WITH (NOLOCK);
GO
-- expect:
--   dbo.v.a <- dbo.src.a direct/identity

-- case: a T-SQL merge after a common table expression, with an output clause
-- dialect: tsql
-- table: dbo.src(id, x)
-- table: dbo.target(id, x)
CREATE PROCEDURE dbo.load AS
BEGIN
  WITH d AS (SELECT id, x FROM dbo.src)
  MERGE INTO dbo.target AS t USING d AS s ON t.id = s.id
  WHEN MATCHED THEN UPDATE SET t.x = s.x
  WHEN NOT MATCHED BY TARGET THEN INSERT (id, x) VALUES (s.id, s.x)
  WHEN NOT MATCHED BY SOURCE THEN DELETE
  OUTPUT $action, inserted.id INTO dbo.audit (act, id);
END
-- expect:
--   dbo.load: dbo.target.x <- dbo.src.x direct/identity
--   dbo.load: dbo.target.id <- dbo.src.id direct/identity
--   dbo.load: dbo.target.* <- dbo.target.id indirect/join
--   dbo.load: dbo.target.* <- dbo.src.id indirect/join

-- case: a change of a common table expression changes the table behind it
-- dialect: tsql
-- table: dbo.src(id, x, at)
-- table: dbo.new(id, x)
WITH ranked AS (SELECT id, ROW_NUMBER() OVER (PARTITION BY id ORDER BY at DESC) AS n FROM dbo.src)
DELETE FROM ranked WHERE n > 1;
WITH fresh AS (SELECT id, x FROM dbo.new)
UPDATE s SET s.x = f.x FROM dbo.src s JOIN fresh f ON f.id = s.id;
-- expect:
--   dbo.src.* <- dbo.src.id indirect/filter
--   dbo.src.* <- dbo.src.at indirect/filter
--   dbo.src.x <- dbo.new.x direct/identity
--   dbo.src.* <- dbo.src.id indirect/join
--   dbo.src.* <- dbo.new.id indirect/join

-- case: an upsert in a function of PostgreSQL
-- dialect: postgres
-- table: shop.src(id, x)
-- table: shop.target(id, x, n)
create function shop.load() returns void language plpgsql as $$
begin
  insert into shop.target (id, x) select id, x from shop.src
  on conflict (id) do update set x = excluded.x;
  update shop.target set n = 1 where x is null;
end;
$$;
-- expect:
--   shop.load: shop.target.id <- shop.src.id direct/identity
--   shop.load: shop.target.x <- shop.src.x direct/identity
--   shop.load: shop.target.* <- shop.target.id indirect/join
--   shop.load: shop.target.* <- shop.src.id indirect/join
--   shop.load: shop.target.n <- shop.target.x indirect/conditional

-- case: a column that only the conflict clause of an upsert sets
-- dialect: postgres
-- table: shop.src(id, x, at)
-- table: shop.target(id, x, n, at)
insert into shop.target as t (id, x) select id, upper(x) from shop.src
on conflict (id) do update set x = excluded.x, n = t.n + 1, at = t.at where t.x is null;
-- expect:
--   shop.target.id <- shop.src.id direct/identity
--   shop.target.x <- shop.src.x direct/transformation
--   shop.target.x <- shop.target.x indirect/conditional
--   shop.target.n <- shop.target.n direct/transformation
--   shop.target.n <- shop.target.x indirect/conditional
--   shop.target.* <- shop.target.id indirect/join
--   shop.target.* <- shop.src.id indirect/join

-- case: an upsert of MySQL
-- dialect: mysql
-- table: src(id, x, y)
-- table: target(id, x, y)
insert into target (id, x) select id, x from src on duplicate key update y = values(x), x = target.x;
-- expect:
--   target.id <- src.id direct/identity
--   target.x <- src.x direct/identity
--   target.y <- src.x direct/identity
