# Files and Delta by path. The code is executed; the expected lines are those of its final event.

# case: parquet files by path
# table: t(a, b, c, k)
spark.table("t").where("c > 0").select("a", (F.col("b") + 1).alias("x")).write.parquet(f"{folder}/parquet_out")
# expect:
#   a <- t.a direct/identity
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   input: t
#   output: parquet_out

# case: csv files by path
# table: t(a, b, c, k)
spark.table("t").where("c > 0").select("a", (F.col("b") + 1).alias("x")).write.csv(f"{folder}/csv_out")
# expect:
#   a <- t.a direct/identity
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   input: t
#   output: csv_out

# case: json files by path
# table: t(a, b, c, k)
spark.table("t").where("c > 0").select("a", (F.col("b") + 1).alias("x")).write.json(f"{folder}/json_out")
# expect:
#   a <- t.a direct/identity
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   input: t
#   output: json_out

# case: orc files by path
# table: t(a, b, c, k)
spark.table("t").where("c > 0").select("a", (F.col("b") + 1).alias("x")).write.orc(f"{folder}/orc_out")
# expect:
#   a <- t.a direct/identity
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   input: t
#   output: orc_out

# case: parquet overwritten, by partition
# table: t(a, b, c, k)
path = f"{folder}/partitioned"
spark.table("t").select("a", "k").write.mode("overwrite").partitionBy("k").parquet(path)
# expect:
#   a <- t.a direct/identity
#   k <- t.k direct/identity
#   output: partitioned overwrite

# case: text files have one column
# table: t(a, b, c, k)
spark.table("t").select(F.concat_ws(",", "a", "b").alias("value")).write.text(f"{folder}/lines")
# expect:
#   value <- t.a direct/transformation
#   value <- t.b direct/transformation
#   output: lines

# case: delta by path
# table: t(a, b, c, k)
spark.table("t").where("c > 0").select("a", (F.col("b") + 1).alias("x")).write.format("delta").save(
    f"{folder}/delta_out"
)
# expect:
#   a <- t.a direct/identity
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   input: t
#   output: delta_out

# case: delta by path, overwritten with another schema
# table: t(a, b, c, k)
spark.table("t").select("a").write.format("delta").save(f"{folder}/delta_out")
spark.table("t").select("b").write.format("delta").mode("overwrite").option("overwriteSchema", True).save(
    f"{folder}/delta_out"
)
# expect:
#   b <- t.b direct/identity
#   output: delta_out overwrite

# case: delta by path, appended with a new column
# table: t(a, b, c, k)
spark.table("t").select("a").write.format("delta").save(f"{folder}/delta_out")
spark.table("t").select("a", "b").write.format("delta").mode("append").option("mergeSchema", True).save(
    f"{folder}/delta_out"
)
# expect:
#   a <- t.a direct/identity
#   b <- t.b direct/identity
#   output: delta_out

# case: delta by path read and written again
# table: t(a, b, c, k)
spark.table("t").select("a").write.format("delta").save(f"{folder}/first")
spark.read.format("delta").load(f"{folder}/first").select((F.col("a") * 2).alias("x")).write.parquet(f"{folder}/second")
# expect:
#   x <- first.a direct/transformation
#   input: first
#   output: second

# case: a checkpoint has the lineage of the checkpointed query
# table: t(a, b, c, k)
df = spark.table("t").where("c > 0").select("a", (F.col("b") + 1).alias("x")).localCheckpoint()
df.select("x").write.parquet(f"{folder}/after")
# expect:
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   input: t
#   output: after

# case: a later query does not change what decides the rows of a checkpoint
# table: t(a, b, c, k)
table = spark.table("t").select("a", "b")
kept = table.localCheckpoint(eager=False)
table.orderBy("b").collect()
kept.select("a").write.parquet(f"{folder}/after")
# expect:
#   a <- t.a direct/identity
#   input: t
#   output: after

# case: a checkpoint joined with itself, and checkpointed again
# table: t(a, b, c, k)
first = spark.table("t").where("c > 0").select("k", (F.col("b") + 1).alias("x")).localCheckpoint()
again = first.alias("l").join(first.alias("r"), F.col("l.k") == F.col("r.k")).select("l.k", "r.x").localCheckpoint()
again.select("x").write.parquet(f"{folder}/after")
# expect:
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   * <- t.k indirect/join
#   input: t
#   output: after

# case: an RDD round trip depends on every input column
# table: t(a, b, c, k)
rows = spark.table("t").select("a", "b").rdd.map(lambda row: (row.a,))
spark.createDataFrame(rows, "x int").write.parquet(f"{folder}/after")
# expect:
#   x <- t.a direct/transformation
#   x <- t.b direct/transformation
#   input: t
#   output: after

# case: a cached DataFrame has the lineage of its query
# table: t(a, b, c, k)
df = spark.table("t").where("c > 0").select("a").cache()
df.count()
df.write.parquet(f"{folder}/after")
df.unpersist()
# expect:
#   a <- t.a direct/identity
#   * <- t.c indirect/filter
#   input: t
#   output: after

# case: local data is an input
spark.createDataFrame([(1, "x")], "a int, b string").write.parquet(f"{folder}/after")
# expect:
#   a <- nothing
#   b <- nothing
#   input: local data
#   output: after

# case: a JDBC table
# table: t(a, b, c, k)
url = f"jdbc:derby:{folder}/shop;create=true"
options = {"driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver"}
spark.table("t").where("c > 0").select("a", (F.col("b") + 1).alias("x")).write.jdbc(url, "sold", "append", options)
# expect:
#   a <- t.a direct/identity
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   input: t
#   output: SOLD

# case: a JDBC table, read
# table: t(a, b, c, k)
url = f"jdbc:derby:{folder}/shop;create=true"
options = {"driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver"}
spark.table("t").select("a", "b").write.jdbc(url, "sold", "overwrite", options)
spark.read.jdbc(url, "sold", properties=options).where("b > 0").select("a").write.parquet(f"{folder}/after")
# expect:
#   a <- SOLD.a direct/identity
#   * <- SOLD.b indirect/filter
#   input: SOLD
#   output: after
