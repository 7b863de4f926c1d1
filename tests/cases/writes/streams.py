# Streams that run to their end. The expected lines are those of the final event.

# case: a stream of files into a Delta table
# table: t(a, b, c, k)
spark.table("t").write.parquet(f"{folder}/landed")
stream = spark.readStream.schema("a int, b int, c int, k int").parquet(f"{folder}/landed")
rows = stream.where("c > 0").select("a", (F.col("b") + 1).alias("x"))
writer = rows.writeStream.format("delta").option("checkpointLocation", f"{folder}/progress")
writer.trigger(availableNow=True).start(f"{folder}/delta_out").awaitTermination()
# expect:
#   a <- landed.a direct/identity
#   x <- landed.b direct/transformation
#   * <- landed.c indirect/filter
#   input: landed
#   output: delta_out

# case: a stream from an Iceberg table into another
# since: 4.0
# table: ice.db.source(id, v string, k) using iceberg
# table: ice.db.copy(id, v string) using iceberg
spark.sql("insert into ice.db.source values (1, 'x', 1)")
stream = spark.readStream.table("ice.db.source").where("k > 0").selectExpr("id", "upper(v) as v")
writer = stream.writeStream.option("checkpointLocation", f"{folder}/progress").trigger(availableNow=True)
writer.toTable("ice.db.copy").awaitTermination()
# expect:
#   id <- source.id direct/identity
#   v <- source.v direct/transformation
#   * <- source.k indirect/filter
#   input: source
#   output: copy

# case: a stream from an Iceberg table into another on Spark 3.5
# until: 3.5
# gap: the plan of a batch does not contain the table of a V2 stream on Spark 3.5
# table: ice.db.source(id, v string, k) using iceberg
# table: ice.db.copy(id, v string) using iceberg
spark.sql("insert into ice.db.source values (1, 'x', 1)")
stream = spark.readStream.table("ice.db.source").where("k > 0").selectExpr("id", "upper(v) as v")
writer = stream.writeStream.option("checkpointLocation", f"{folder}/progress").trigger(availableNow=True)
writer.toTable("ice.db.copy").awaitTermination()
# expect:
#   id <- source.id direct/identity
#   v <- source.v direct/transformation
#   * <- source.k indirect/filter
#   input: source
#   output: copy
# today:
#   id <- StreamingDataSourceV2Relation.id direct/identity
#   v <- StreamingDataSourceV2Relation.v direct/transformation
#   * <- StreamingDataSourceV2Relation.k indirect/filter
#   input: StreamingDataSourceV2Relation
#   output: copy

# case: a continuous stream into noop
# since: 4.0
import time

stream = spark.readStream.format("rate").option("rowsPerSecond", 10).load().where("value > 0").select("timestamp")
writer = stream.writeStream.format("noop").option("checkpointLocation", f"{folder}/progress")
query = writer.trigger(continuous="1 second").start()
deadline = time.time() + 60
while not list(folder.glob("progress/commits/[0-9]*")) and time.time() < deadline:
    time.sleep(0.1)
query.stop()
# expect:
#   input: rate
#   read: rate.timestamp value
#   read: rate.value filter

# case: a stream into a Delta path has the columns of the table, and its generated columns
# table: t(a, b, c, k)
columns = "id int, email string, next int generated always as (id + 1)"
spark.sql(f"create table delta.`{folder}/low` ({columns}) using delta")
spark.table("t").write.parquet(f"{folder}/landed")
stream = spark.readStream.schema("a int, b int, c int, k int").parquet(f"{folder}/landed")
rows = stream.selectExpr("a as ID", "cast(b as string) as EMAIL")
writer = rows.writeStream.format("delta").option("checkpointLocation", f"{folder}/progress")
writer.trigger(availableNow=True).start(f"{folder}/low").awaitTermination()
# expect:
#   id <- landed.a direct/identity
#   email <- landed.b direct/transformation
#   next <- landed.a direct/transformation
#   input: landed
#   output: low

# case: a stream into an Iceberg table has the columns of the table
# since: 4.0
# table: t(a, b, c, k)
# table: ice.db.low(id, email string) using iceberg
spark.table("t").write.parquet(f"{folder}/landed")
stream = spark.readStream.schema("a int, b int, c int, k int").parquet(f"{folder}/landed")
rows = stream.selectExpr("a as ID", "cast(b as string) as EMAIL")
writer = rows.writeStream.option("checkpointLocation", f"{folder}/progress").trigger(availableNow=True)
writer.toTable("ice.db.low").awaitTermination()
# expect:
#   id <- landed.a direct/identity
#   email <- landed.b direct/transformation
#   input: landed
#   output: low

# case: foreachBatch writes one table twice
# table: t(a, b, c, k)
spark.table("t").write.parquet(f"{folder}/landed")
stream = spark.readStream.schema("a int, b int, c int, k int").parquet(f"{folder}/landed")


def write_twice(rows, _number):
    rows.select("a").write.mode("append").parquet(f"{folder}/both")
    rows.selectExpr("a", "c as b").write.mode("append").parquet(f"{folder}/both")


writer = stream.writeStream.foreachBatch(write_twice).option("checkpointLocation", f"{folder}/progress")
writer.trigger(availableNow=True).start().awaitTermination()
# expect:
#   a <- landed.a direct/identity
#   b <- landed.c direct/identity
#   input: landed
#   output: both

# case: a stream without new data
# since: 4.0
# table: ice.db.source(id, v string, k) using iceberg
# table: ice.db.copy(id, v string) using iceberg
stream = spark.readStream.table("ice.db.source").where("k > 0").selectExpr("id", "upper(v) as v")
for _ in range(2):
    writer = stream.writeStream.option("checkpointLocation", f"{folder}/progress").trigger(availableNow=True)
    writer.toTable("ice.db.copy").awaitTermination()
# expect:
#   id <- source.id direct/identity
#   v <- source.v direct/transformation
#   * <- source.k indirect/filter
#   input: source
#   output: copy

# case: a stream of the changes of a Delta table
spark.sql("create table changed (a int, b int) using delta tblproperties (delta.enableChangeDataFeed = true)")
spark.sql("insert into changed values (1, 2)")
stream = spark.readStream.format("delta").option("readChangeFeed", "true").table("changed")
writer = stream.select("a", "_change_type").writeStream.format("delta")
writer = writer.option("checkpointLocation", f"{folder}/progress").trigger(availableNow=True)
writer.start(f"{folder}/feed").awaitTermination()
# expect:
#   a <- changed.a direct/identity
#   _change_type <- changed._change_type direct/identity
#   input: changed
#   output: feed

# case: a stream into memory, and a query of its table
# since: 4.0
# table: t(a, b, c, k)
spark.table("t").write.parquet(f"{folder}/landed")
stream = spark.readStream.schema("a int, b int, c int, k int").parquet(f"{folder}/landed")
writer = stream.where("c > 0").select("a").writeStream.format("memory").queryName("kept_rows")
writer.trigger(availableNow=True).start().awaitTermination()
spark.table("kept_rows").write.saveAsTable("saved")
# expect:
#   a <- kept_rows.a direct/identity
#   input: kept_rows
#   output: saved create

# case: a stream into memory has its table as output
# since: 4.0
# table: t(a, b, c, k)
spark.table("t").write.parquet(f"{folder}/landed")
stream = spark.readStream.schema("a int, b int, c int, k int").parquet(f"{folder}/landed")
writer = stream.where("c > 0").select("a").writeStream.format("memory").queryName("kept_rows")
writer.trigger(availableNow=True).start().awaitTermination()
# expect:
#   a <- landed.a direct/identity
#   * <- landed.c indirect/filter
#   input: landed
#   output: kept_rows
