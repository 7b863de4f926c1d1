# Tables by name. The code is executed; the expected lines are those of its final event.

# case: saveAsTable
# table: t(a, b, c, k)
spark.table("t").where("c > 0").select("a", (F.col("b") + 1).alias("x")).write.saveAsTable("saved")
# expect:
#   a <- t.a direct/identity
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   input: t
#   output: saved create

# case: saveAsTable appends by name
# table: t(a, b, c, k)
spark.table("t").select("a", "b").write.saveAsTable("saved")
spark.table("t").select(F.col("k").alias("b"), F.col("c").alias("a")).write.mode("append").saveAsTable("saved")
# expect:
#   a <- t.c direct/identity
#   b <- t.k direct/identity
#   output: saved

# case: saveAsTable overwrites
# table: t(a, b, c, k)
spark.table("t").select("a", "b").write.saveAsTable("saved")
spark.table("t").select("c").write.mode("overwrite").saveAsTable("saved")
# expect:
#   c <- t.c direct/identity
#   output: saved overwrite

# case: saveAsTable of delta
# table: t(a, b, c, k)
spark.table("t").where("c > 0").select("a", (F.col("b") + 1).alias("x")).write.format("delta").saveAsTable("saved")
# expect:
#   a <- t.a direct/identity
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   input: t
#   output: saved create

# case: saveAsTable of delta appends by name
# table: t(a, b, c, k)
spark.table("t").select("a", "b").write.format("delta").saveAsTable("saved")
spark.table("t").select(F.col("k").alias("b"), F.col("c").alias("a")).write.format("delta").mode("append").saveAsTable(
    "saved"
)
# expect:
#   a <- t.c direct/identity
#   b <- t.k direct/identity
#   output: saved

# case: saveAsTable of delta overwrites
# table: t(a, b, c, k)
spark.table("t").select("a").write.format("delta").saveAsTable("saved")
spark.table("t").select("b").write.format("delta").mode("overwrite").option("overwriteSchema", True).saveAsTable(
    "saved"
)
# expect:
#   b <- t.b direct/identity
#   output: saved overwrite

# case: insertInto goes by position
# table: t(a, b, c, k)
# table: u(a, b, c, k)
spark.table("t").select("k", "a", "b", "c").write.insertInto("u")
# expect:
#   a <- t.k direct/identity
#   b <- t.a direct/identity
#   c <- t.b direct/identity
#   k <- t.c direct/identity
#   output: u

# case: insertInto delta overwrites
# table: t(a, b, c, k)
# table: d2(a, b, c, k) using delta
spark.table("t").select("k", "a", "b", "c").write.insertInto("d2", overwrite=True)
# expect:
#   a <- t.k direct/identity
#   b <- t.a direct/identity
#   c <- t.b direct/identity
#   k <- t.c direct/identity
#   output: d2 overwrite

# case: writeTo creates
# table: t(a, b, c, k)
spark.table("t").where("c > 0").select("a", (F.col("b") + 1).alias("x")).writeTo("saved").using("delta").create()
# expect:
#   a <- t.a direct/identity
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   input: t
#   output: saved create

# case: writeTo appends by name
# table: t(a, b, c, k)
# table: d2(a, b, c, k) using delta
spark.table("t").select("k", "a", F.col("c").alias("b"), F.col("b").alias("c")).writeTo("d2").append()
# expect:
#   a <- t.a direct/identity
#   b <- t.c direct/identity
#   c <- t.b direct/identity
#   k <- t.k direct/identity
#   output: d2

# case: writeTo overwrites where a condition holds
# table: t(a, b, c, k)
# table: d2(a, b, c, k) using delta
spark.table("t").where("k = 1").writeTo("d2").overwrite(F.col("k") == 1)
# expect:
#   a <- t.a direct/identity
#   b <- t.b direct/identity
#   c <- t.c direct/identity
#   k <- t.k direct/identity
#   * <- t.k indirect/filter
#   * <- d2.k indirect/filter
#   output: d2

# case: saveAsTable replaces where a condition of the option holds
# table: t(a, b, c, k)
# table: d2(a, b, c, k) using delta
spark.table("t").where("k = 1").write.format("delta").mode("overwrite").option("replaceWhere", "k = 1").saveAsTable(
    "d2"
)
# expect:
#   a <- t.a direct/identity
#   b <- t.b direct/identity
#   c <- t.c direct/identity
#   k <- t.k direct/identity
#   * <- t.k indirect/filter
#   * <- d2.k indirect/filter
#   output: d2

# case: writeTo replaces and creates
# table: t(a, b, c, k)
spark.table("t").where("c > 0").select("a", (F.col("b") + 1).alias("x")).writeTo("saved").using(
    "delta"
).createOrReplace()
# expect:
#   a <- t.a direct/identity
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   output: saved overwrite

# case: create table as select
# table: t(a, b, c, k)
spark.sql("create table saved using delta as select a, b + 1 as x from t where c > 0")
# expect:
#   a <- t.a direct/identity
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   input: t
#   output: saved create

# case: a view
# table: t(a, b, c, k)
spark.sql("create view saved_view as select a, b + 1 as x from t where c > 0")
# expect:
#   a <- t.a direct/identity
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   input: t
#   output: view saved_view create

# case: a query of a view has the view as an input
# table: t(a, b, c, k)
spark.sql("create view saved_view as select a from t where c > 0")
spark.sql("select a from saved_view").write.saveAsTable("saved")
# expect:
#   a <- t.a direct/identity
#   * <- t.c indirect/filter
#   input: t
#   input: saved_view
#   output: saved create

# case: multi-insert
# table: t(a, b, c, k)
# table: one(a, b)
# table: two(a, b)
spark.sql("from t insert into one select a, b where c > 0 insert into two select k, k + 1")
# expect:
#   one.a <- t.a direct/identity
#   one.b <- t.b direct/identity
#   one.* <- t.c indirect/filter
#   two.a <- t.k direct/identity
#   two.b <- t.k direct/transformation
#   output: one
#   output: two

# case: the worked example
# table: delivery_7_days(order_id, order_placed_on timestamp, order_delivered_on timestamp, customer_id)
# table: top_delivery_times(order_id, order_placed_on timestamp, order_delivered_on timestamp, order_delivery_time bigint)
spark.sql("""
insert into top_delivery_times (order_id, order_placed_on, order_delivered_on, order_delivery_time)
select order_id, order_placed_on, order_delivered_on, datediff(minute, order_placed_on, order_delivered_on) as order_delivery_time
from delivery_7_days order by order_delivery_time desc limit 1""")
# expect:
#   order_id            <- delivery_7_days.order_id           direct/identity
#   order_placed_on     <- delivery_7_days.order_placed_on    direct/identity
#   order_delivered_on  <- delivery_7_days.order_delivered_on direct/identity
#   order_delivery_time <- delivery_7_days.order_placed_on    direct/transformation
#   order_delivery_time <- delivery_7_days.order_delivered_on direct/transformation
#   *                   <- delivery_7_days.order_placed_on    indirect/sort
#   *                   <- delivery_7_days.order_delivered_on indirect/sort
#   input: delivery_7_days
#   output: top_delivery_times

# case: drop
# table: t(a, b, c, k)
spark.sql("create table saved using parquet as select a from t")
spark.sql("drop table saved")
# expect:
#   output: saved drop

# case: rename
# table: t(a, b, c, k)
spark.sql("create table saved using parquet as select a from t")
spark.sql("alter table saved rename to saved_since")
# expect:
#   output: saved_since rename from saved

# case: rename a column
spark.sql("create table saved (a int, b int) using delta tblproperties ('delta.columnMapping.mode' = 'name')")
spark.sql("alter table saved rename column a to z")
# expect:
#   z <- saved.a direct/identity
#   output: saved alter

# case: truncate
# table: t(a, b, c, k)
spark.sql("create table saved using parquet as select a from t")
spark.sql("truncate table saved")
# expect:
#   output: saved truncate

# case: overwritePartitions
# table: t(a, b, c, k)
spark.sql("create table saved (a int, k int) using delta partitioned by (k)")
spark.table("t").where("c > 0").select((F.col("b") + 1).alias("a"), "k").writeTo("saved").overwritePartitions()
# expect:
#   a <- t.b direct/transformation
#   k <- t.k direct/identity
#   * <- t.c indirect/filter
#   input: t
#   output: saved overwrite

# case: a clone has every column of the table it copies
# table: d(a, b, c, k) using delta
spark.sql("create table cloned shallow clone d")
# expect:
#   a <- d.a direct/identity
#   b <- d.b direct/identity
#   c <- d.c direct/identity
#   k <- d.k direct/identity
#   input: d
#   output: cloned create

# case: a clone that overwrites a path
# table: d(a, b, c, k) using delta
spark.sql(f"create or replace table delta.`{folder}/a copy` shallow clone d")
# expect:
#   a <- d.a direct/identity
#   b <- d.b direct/identity
#   c <- d.c direct/identity
#   k <- d.k direct/identity
#   input: d
#   output: a copy overwrite

# case: create table like has no input columns
# table: d(a, b, c, k) using delta
spark.sql("create table alike like d")
# expect:
#   output: alike create

# case: a generated column comes from the columns in its expression
# table: t(a, b, c, k)
# setup: create table if not exists computed (a int, b int, both_of int generated always as (a + b), fixed int) using delta
spark.sql("insert into computed (a, b) select a, c * 2 from t")
# expect:
#   a <- t.a direct/identity
#   b <- t.c direct/transformation
#   both_of <- t.a direct/transformation
#   both_of <- t.c direct/transformation
#   input: t
#   output: computed

# case: an explicit value of a generated column is its input
# table: t(a, b, c, k)
# setup: create table if not exists computed (a int, b int, both_of int generated always as (a + b), fixed int) using delta
spark.sql("select a, b, a + b as both_of from t").write.format("delta").mode("append").saveAsTable("computed")
# expect:
#   a <- t.a direct/identity
#   b <- t.b direct/identity
#   both_of <- t.a direct/transformation
#   both_of <- t.b direct/transformation
#   input: t
#   output: computed

# case: a clone by Delta's Python API
# table: d(a, b, c, k) using delta
from delta.tables import DeltaTable

DeltaTable.forName(spark, "d").clone(f"{folder}/made by hand", isShallow=True)
# expect:
#   a <- d.a direct/identity
#   b <- d.b direct/identity
#   c <- d.c direct/identity
#   k <- d.k direct/identity
#   input: d
#   output: made by hand create

# case: overwritePartitions of an Iceberg table
# table: ice.db.t(id, v string, k) using iceberg
# table: ice.db.parts(id, v string, k) using iceberg partitioned by (k)
rows = spark.table("ice.db.t").where("id > 0").selectExpr("id", "upper(v) as v", "k")
rows.writeTo("ice.db.parts").overwritePartitions()
# expect:
#   id <- t.id direct/identity
#   v <- t.v direct/transformation
#   k <- t.k direct/identity
#   * <- t.id indirect/filter
#   input: t
#   output: parts overwrite

# case: create or replace of a table at a location
spark.sql(f"create or replace table placed (a int) using delta location '{folder}/place'")
# expect:
#   output: place overwrite

# case: rename of an external table keeps its location
spark.sql(f"create table placed (a int) using delta location '{folder}/place'")
spark.sql("alter table placed rename to placed_since")
# expect:
#   output: place rename from place

# case: rename of an external file table keeps its location
spark.sql(f"create table placed (a int) using parquet location '{folder}/place'")
spark.sql("alter table placed rename to placed_since")
# expect:
#   output: place rename from place

# case: saveAsTable of files appends to the columns of the table
# table: t(a, b, c, k)
spark.sql("create table low (id int, email string) using parquet")
rows = spark.table("t").selectExpr("a as ID", "cast(b as string) as EMAIL")
rows.write.mode("append").saveAsTable("low")
# expect:
#   id <- t.a direct/identity
#   email <- t.b direct/transformation
#   output: low

# case: writeTo appends to the columns of the table
# table: t(a, b, c, k)
spark.sql("create table low (id int, email string) using delta")
spark.table("t").selectExpr("a as ID", "cast(b as string) as EMAIL").writeTo("low").append()
# expect:
#   id <- t.a direct/identity
#   email <- t.b direct/transformation
#   output: low

# case: a table that exists is not created again
# table: t(a, b, c, k)
# table: ice.db.kept(a, b) using iceberg
# since: 4.0
spark.sql("create table kept using parquet as select a from t")
spark.sql("create table kept_delta using delta as select a from t")
spark.sql("create view kept_view as select a from t")
spark.sql(f"create table delta.`{folder}/kept` using delta as select a from t")
spark.sql("select a from t").write.saveAsTable("first")
spark.sql(f"create table if not exists delta.`{folder}/kept` using delta as select b from t")
spark.sql("create table if not exists kept using parquet as select b from t")
spark.sql("create table if not exists kept_delta using delta as select b from t")
spark.sql("create table if not exists ice.db.kept using iceberg as select b from t")
spark.sql("create table if not exists kept_delta (b int) using delta")
spark.sql("create view if not exists kept_view as select b from t")
for name, provider in (("kept", "parquet"), ("kept_delta", "delta"), ("ice.db.kept", "iceberg")):
    spark.sql("select b from t").write.mode("ignore").format(provider).saveAsTable(name)
# expect:
#   a <- t.a direct/identity
#   input: t
#   output: first create

# case: create if not exists of a new table
# table: t(a, b, c, k)
spark.sql("create table if not exists fresh using delta as select b from t")
# expect:
#   b <- t.b direct/identity
#   input: t
#   output: fresh create

# case: statements that change no data have no event
# table: t(a, b, c, k)
# table: d(a, b, c, k) using delta
import contextlib

from pyspark.errors import AnalysisException

spark.sql("select a from t").write.saveAsTable("first")
spark.sql("cache table t")
spark.sql("uncache table t")
spark.sql("cache table some as select a from t")
spark.sql("uncache table some")
spark.sql("describe query select a from t").collect()
spark.sql("describe history d").collect()
spark.sql("analyze table t compute statistics")
spark.sql("drop table if exists absent")
spark.sql("drop view if exists absent")
with contextlib.suppress(AnalysisException):
    spark.table("t").select("no_such_column")
# expect:
#   a <- t.a direct/identity
#   input: t
#   output: first create

# case: drop if exists of a table
spark.sql("create table gone (a int) using delta")
spark.sql("drop table if exists gone")
# expect:
#   output: gone drop

# case: restore of an earlier version
spark.sql("create table back (a int, b int) using delta")
spark.sql("insert into back values (1, 2)")
spark.sql("restore table back to version as of 0")
# expect:
#   a <- back.a direct/identity
#   b <- back.b direct/identity
#   input: back
#   output: back overwrite

# case: create table like of a file table
# table: t(a, b, c, k)
spark.sql("create table alike like t")
# expect:
#   output: alike create

# case: a table of Delta's table builder
from delta.tables import DeltaTable

DeltaTable.create(spark).tableName("built").addColumn("a", "int").location(f"{folder}/built here").execute()
# expect:
#   output: built here create

# case: a session variable has the inputs of its value
# since: 4.0
# table: t(a, b, c, k)
# table: u(a, b, c, k)
spark.sql("declare or replace top int default 1")
spark.sql("set var top = (select max(a) from t where c > 0)")
spark.sql("select b, top from u where k > top").write.saveAsTable("saved")
# expect:
#   b <- u.b direct/identity
#   top <- t.a direct/aggregation
#   top <- t.c indirect/filter
#   * <- u.k indirect/filter
#   * <- t.a indirect/filter
#   * <- t.c indirect/filter
#   input: u
#   input: t
#   output: saved create

# case: a variable in VALUES
# since: 4.0
# table: t(a, b, c, k)
# table: pair(a, b) using delta
spark.sql("declare or replace top int default 1")
spark.sql("execute immediate 'select max(a) from t' into top")
spark.sql("insert into pair values (top, 1)")
# expect:
#   a <- t.a direct/aggregation
#   b <- t.a direct/aggregation
#   input: local data
#   input: t
#   output: pair

# case: a loop of a SQL script
# since: 4.1
# table: t(a, b, c, k)
# table: u(a, b, c, k)
# table: pair(a, b) using delta
spark.sql("insert into t values (1, 2, 3, 4)")
spark.sql("begin for r as select a, b from t do insert into pair select r.b, k from u; end for; end")
# expect:
#   a <- t.b direct/identity
#   b <- u.k direct/identity
#   input: u
#   input: t
#   output: pair

# case: a branch of an Iceberg table is the table
# table: ice.db.t(id, v string, k) using iceberg
# table: t(a, b, c, k)
spark.sql("alter table ice.db.t create or replace branch audit")
spark.sql("select a as id, 'x' as v, k from t").writeTo("ice.db.t.branch_audit").append()
# expect:
#   id <- t.a direct/identity
#   v <- nothing
#   k <- t.k direct/identity
#   output: t

# case: the changes and the snapshots of an Iceberg table
# table: ice.db.log(id, v string) using iceberg
spark.sql("insert into ice.db.log values (1, 'x')")
changes = spark.table("ice.db.log.changes").select("id", "_change_type")
changes.crossJoin(spark.table("ice.db.log.snapshots").select("snapshot_id")).write.saveAsTable("saved")
# expect:
#   id <- log.id direct/identity
#   _change_type <- log._change_type direct/identity
#   snapshot_id <- log.snapshots.snapshot_id direct/identity
#   input: log
#   input: log.snapshots
#   output: saved create
