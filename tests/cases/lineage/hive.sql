-- Hive tables and Hive formats: they need a session with a Hive metastore.

-- case: a read of a Hive table
-- setup: create table hive_table (a int, b int) partitioned by (k int) stored as textfile
select a, b + 1 as x, k from hive_table where b > 0
-- expect:
--   a <- hive_table.a direct/identity
--   x <- hive_table.b direct/transformation
--   k <- hive_table.k direct/identity
--   * <- hive_table.b indirect/filter
--   input: hive_table

-- case: insert into a Hive table
-- table: t(a, b, c, k)
-- setup: set hive.exec.dynamic.partition.mode=nonstrict
-- setup: create table hive_table (p int, q int) partitioned by (k int) stored as textfile
insert into hive_table partition (k) select a, b + 1, k from t where c > 0
-- expect:
--   p <- t.a direct/identity
--   q <- t.b direct/transformation
--   k <- t.k direct/identity
--   * <- t.c indirect/filter
--   input: t
--   output: hive_table

-- case: insert overwrite a static partition of a Hive table
-- table: t(a, b, c, k)
-- setup: create table hive_table (p int, q int) partitioned by (k int) stored as textfile
insert overwrite table hive_table partition (k = 3) select a, b from t where c > 0
-- expect:
--   p <- t.a direct/identity
--   q <- t.b direct/identity
--   * <- t.c indirect/filter
--   output: hive_table overwrite

-- case: insert overwrite a directory in a Hive format
-- table: t(a, b, c, k)
insert overwrite directory '/data/hive_out' stored as textfile select a, b + 1 as x from t where c > 0
-- expect:
--   a <- t.a direct/identity
--   x <- t.b direct/transformation
--   * <- t.c indirect/filter
--   output: hive_out overwrite

-- case: insert overwrite a local directory in a Hive format
-- table: t(a, b, c, k)
insert overwrite local directory '/data/hive_out' row format delimited fields terminated by ',' select a, b + 1 as x from t where c > 0
-- expect:
--   a <- t.a direct/identity
--   x <- t.b direct/transformation
--   * <- t.c indirect/filter
--   output: hive_out overwrite

-- case: create a Hive table without a query
create table made (a int, b string) stored as textfile
-- expect:
--   output: made create

-- case: create a Hive table as select
-- table: t(a, b, c, k)
create table made stored as textfile as select a, b + 1 as x from t where c > 0
-- expect:
--   a <- t.a direct/identity
--   x <- t.b direct/transformation
--   * <- t.c indirect/filter
--   output: made create

-- case: create a Hive table of Parquet files as select
-- table: t(a, b, c, k)
create table made stored as parquet as select a, b + 1 as x from t where c > 0
-- expect:
--   a <- t.a direct/identity
--   x <- t.b direct/transformation
--   * <- t.c indirect/filter
--   output: made create

-- case: insert into a Hive table of Parquet files
-- table: t(a, b, c, k)
-- setup: create table hive_table (p int, q int) stored as parquet
insert into hive_table select a, b + 1 from t where c > 0
-- expect:
--   p <- t.a direct/identity
--   q <- t.b direct/transformation
--   * <- t.c indirect/filter
--   output: hive_table

-- case: load data into a Hive table
-- setup: create table if not exists loaded (a int, b string)
load data inpath '/landing/day' overwrite into table loaded
-- expect:
--   a <- day.a direct/identity
--   b <- day.b direct/identity
--   output: loaded overwrite
