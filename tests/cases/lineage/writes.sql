-- Writes of a query: its columns have the names of the target.

-- case: create table as select
-- table: t(a, b, c, k)
create table made using parquet as select a as x, b + 1 as y from t where c > 0
-- expect:
--   x <- t.a direct/identity
--   y <- t.b direct/transformation
--   * <- t.c indirect/filter
--   input: t
--   output: made create

-- case: create delta table as select
-- table: t(a, b, c, k)
create table made using delta as select a as x from t
-- expect:
--   x <- t.a direct/identity
--   input: t
--   output: made create

-- case: create or replace table as select
-- table: t(a, b, c, k)
create or replace table made using delta as select a as x from t order by b
-- expect:
--   x <- t.a direct/identity
--   * <- t.b indirect/sort
--   output: made overwrite

-- case: replace table as select of itself is a self edge
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
replace table d using delta as select k, a + b as a from d
-- expect:
--   k <- d.k direct/identity
--   a <- d.a direct/transformation
--   a <- d.b direct/transformation
--   input: d
--   output: d overwrite

-- case: create table at a location
-- table: t(a, b, c, k)
create table made using parquet location '/elsewhere/made_here' as select a from t
-- expect:
--   a <- t.a direct/identity
--   output: made_here create

-- case: insert into by position takes the target's names
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
insert into u select k, a, b, c + 1 from t where a > 0
-- expect:
--   a <- t.k direct/identity
--   b <- t.a direct/identity
--   c <- t.b direct/identity
--   k <- t.c direct/transformation
--   * <- t.a indirect/filter
--   input: t
--   output: u

-- case: insert with a column list
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
insert into u (k, a) select a, b from t
-- expect:
--   k <- t.a direct/identity
--   a <- t.b direct/identity
--   b <- nothing
--   c <- nothing

-- case: insert by name
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
insert into u by name select b as c, c as a, k as k, a as b from t
-- expect:
--   a <- t.c direct/identity
--   b <- t.a direct/identity
--   c <- t.b direct/identity
--   k <- t.k direct/identity

-- case: insert overwrite
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
insert overwrite u select * from t
-- expect:
--   a <- t.a direct/identity
--   b <- t.b direct/identity
--   c <- t.c direct/identity
--   k <- t.k direct/identity
--   output: u overwrite

-- case: an insert's own casts keep identity, the user's transform
-- table: t(a, b, c, k)
-- table: big(a bigint)
insert into big select a from t
-- expect:
--   a <- t.a direct/identity

-- case: insert into a delta table by position
-- table: t(a, b, c, k)
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
insert into d select a, b, c, named_struct('x', k, 'y', 1) from t
-- expect:
--   k <- t.a direct/identity
--   a <- t.b direct/identity
--   b <- t.c direct/identity
--   o <- t.k direct/transformation
--   input: t
--   output: d

-- case: insert into a delta table by name
-- table: t(a, b, c, k)
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
insert into d by name select b as a, a as b, k from t
-- expect:
--   a <- t.b direct/identity
--   b <- t.a direct/identity
--   k <- t.k direct/identity

-- case: a struct that is fitted to its target keeps identity
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
-- table: shapes(k, a, b, o struct<p:bigint,q:int>) using delta
insert into shapes select k, a, b, o from d
-- expect:
--   k <- d.k direct/identity
--   a <- d.a direct/identity
--   b <- d.b direct/identity
--   o <- d.o direct/identity

-- case: insert overwrite a delta table
-- table: t(a, b, c, k)
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
insert overwrite d select a, b, c, null from t
-- expect:
--   k <- t.a direct/identity
--   a <- t.b direct/identity
--   b <- t.c direct/identity
--   o <- nothing
--   output: d overwrite

-- case: insert into a static partition
-- table: t(a, b, c, k)
-- table: parts(a, b, day string) using parquet partitioned by (day)
insert into parts partition (day = '2020-01-01') select a, b from t
-- expect:
--   a   <- t.a direct/identity
--   b   <- t.b direct/identity
--   day <- nothing

-- case: insert overwrite dynamic partitions
-- table: t(a, b, c, k)
-- table: parts(a, b, day string) using parquet partitioned by (day)
insert overwrite parts partition (day) select a, b, cast(c as string) from t
-- expect:
--   a   <- t.a direct/identity
--   b   <- t.b direct/identity
--   day <- t.c direct/transformation
--   output: parts overwrite

-- case: insert overwrite a static partition of a delta table
-- table: t(a, b, c, k)
-- table: dparts(a, b, day string) using delta partitioned by (day)
insert overwrite dparts partition (day = '2020-01-01') select a, b from t
-- expect:
--   a   <- t.a direct/identity
--   b   <- t.b direct/identity
--   day <- nothing
--   *   <- dparts.day indirect/filter

-- case: insert with replace where reads the target
-- table: t(a, b, c, k)
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
insert into d replace where a > 5 select k, a, b, null from t
-- expect:
--   k <- t.k direct/identity
--   a <- t.a direct/identity
--   b <- t.b direct/identity
--   o <- nothing
--   * <- d.a indirect/filter

-- case: insert with replace where of the table that it reads
-- table: d(k, a, b, o struct<x:int,y:int>) using delta
insert into d replace where a > 5 select k, a, b, o from d order by a
-- expect:
--   k <- d.k direct/identity
--   a <- d.a direct/identity
--   b <- d.b direct/identity
--   o <- d.o direct/identity
--   * <- d.a indirect/filter
--   * <- d.a indirect/sort

-- case: insert overwrite directory
-- table: t(a, b, c, k)
insert overwrite directory '/elsewhere/out' using parquet select a as x, b from t where c > 0
-- expect:
--   x <- t.a direct/identity
--   b <- t.b direct/identity
--   * <- t.c indirect/filter
--   output: out overwrite

-- case: a column with the name of a member's path is written
-- table: t(a, b, c, k)
create table made using parquet as select struct(a as b) as s, c as `s.b` from t
-- expect:
--   s <- t.a direct/transformation
--   `s.b` <- t.c direct/identity
--   output: made create

-- case: multi-insert has one output per target
-- table: t(a, b, c, k)
-- table: one(a, b)
-- table: two(a, b)
from t insert into one select a, b where c > 0 insert overwrite two select k, k + 1 where b > 0
-- expect:
--   one.a <- t.a direct/identity
--   one.b <- t.b direct/identity
--   one.* <- t.c indirect/filter
--   two.a <- t.k direct/identity
--   two.b <- t.k direct/transformation
--   two.* <- t.b indirect/filter
--   output: one
--   output: two overwrite

-- case: insert from a common table
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
with x as (select a, b, c, k from t where a > 0) insert into u select * from x
-- expect:
--   a <- t.a direct/identity
--   b <- t.b direct/identity
--   c <- t.c direct/identity
--   k <- t.k direct/identity
--   * <- t.a indirect/filter
--   input: t
--   output: u

-- case: insert of values comes from local data
-- table: u(a, b, c, k)
insert into u values (1, 2, 3, 4)
-- expect:
--   a <- nothing
--   b <- nothing
--   c <- nothing
--   k <- nothing
--   input: local data
--   output: u

-- case: insert from a table without a query
-- table: t(a, b, c, k)
-- table: u(a, b, c, k)
insert into u table t
-- expect:
--   a <- t.a direct/identity
--   b <- t.b direct/identity
--   c <- t.c direct/identity
--   k <- t.k direct/identity

-- case: the worked example of the specification
-- table: delivery_7_days(order_id, order_placed_on timestamp, order_delivered_on timestamp, customer_id)
-- table: top_delivery_times(order_id, order_placed_on timestamp, order_delivered_on timestamp, order_delivery_time bigint)
insert into top_delivery_times (order_id, order_placed_on, order_delivered_on, order_delivery_time)
select order_id, order_placed_on, order_delivered_on,
  datediff(minute, order_placed_on, order_delivered_on) as order_delivery_time
from delivery_7_days
order by order_delivery_time desc
limit 1
-- expect:
--   order_id            <- delivery_7_days.order_id           direct/identity
--   order_placed_on     <- delivery_7_days.order_placed_on    direct/identity
--   order_delivered_on  <- delivery_7_days.order_delivered_on direct/identity
--   order_delivery_time <- delivery_7_days.order_placed_on    direct/transformation
--   order_delivery_time <- delivery_7_days.order_delivered_on direct/transformation
--   *                   <- delivery_7_days.order_placed_on    indirect/sort
--   *                   <- delivery_7_days.order_delivered_on indirect/sort
--   input: delivery_7_days
--   output: top_delivery_times

-- case: a wide column inserted into a narrow one keeps identity
-- table: u(a, b, c, k)
-- table: wide(n bigint, m)
insert into u select n, m, n, m from wide
-- expect:
--   a <- wide.n direct/identity
--   b <- wide.m direct/identity
--   c <- wide.n direct/identity
--   k <- wide.m direct/identity

-- case: insert into a JDBC table
-- since: 4.0
-- table: t(a, b, c, k)
-- setup: create table if not exists shop.APP.sold (p int, q int)
-- setup: create table sold using jdbc options (url 'jdbc:derby:memory:shop', dbtable 'APP."sold"', driver 'org.apache.derby.iapi.jdbc.AutoloadedDriver')
insert into sold select a, b + 1 from t where c > 0
-- expect:
--   p <- t.a direct/identity
--   q <- t.b direct/transformation
--   * <- t.c indirect/filter
--   input: t
--   output: APP.sold
