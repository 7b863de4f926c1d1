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

# case: delta by path, replaced where a condition of the option holds
# table: t(a, b, c, k)
spark.table("t").select("a", "k").write.format("delta").save(f"{folder}/delta_out")
spark.table("t").where("k = 1").select("a", "k").write.format("delta").mode("overwrite").option(
    "replaceWhere", "K = 1"
).save(f"{folder}/delta_out")
# expect:
#   a <- t.a direct/identity
#   k <- t.k direct/identity
#   * <- t.k indirect/filter
#   * <- delta_out.k indirect/filter
#   output: delta_out

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

# case: a path with data is kept by the mode ignore
# table: t(a, b, c, k)
for provider in ("parquet", "delta"):
    spark.table("t").select("a").write.format(provider).save(f"{folder}/{provider}")
for provider in ("parquet", "delta"):
    spark.table("t").select("b").write.format(provider).mode("ignore").save(f"{folder}/{provider}")
# expect:
#   a <- t.a direct/identity
#   input: t
#   output: delta

# case: an append to a Delta path has the columns of the table, and its generated columns
# table: t(a, b, c, k)
columns = "id int, email string, next int generated always as (id + 1)"
spark.sql(f"create table delta.`{folder}/low` ({columns}) using delta")
rows = spark.table("t").selectExpr("a as ID", "cast(b as string) as EMAIL")
rows.write.format("delta").mode("append").save(f"{folder}/low")
# expect:
#   id <- t.a direct/identity
#   email <- t.b direct/transformation
#   next <- t.a direct/transformation
#   input: t
#   output: low

# case: RDDs of two queries that are joined
# table: t(a, b, c, k)
# table: u(a, b, c, k)
for name in ("t", "u"):
    spark.sql(f"insert into {name} values (1, 2, 3, 4)")
left = spark.table("t").select("a", "b").rdd.map(tuple)
right = spark.table("u").select("c", "k").rdd.map(tuple)
rows = left.join(right).map(lambda pair: (pair[0], pair[1][0]))
spark.createDataFrame(rows, "x int, y int").write.parquet(f"{folder}/joined")
# expect:
#   x <- t.a direct/transformation
#   x <- t.b direct/transformation
#   x <- u.c direct/transformation
#   x <- u.k direct/transformation
#   y <- t.a direct/transformation
#   y <- t.b direct/transformation
#   y <- u.c direct/transformation
#   y <- u.k direct/transformation
#   input: t
#   input: u
#   output: joined

# case: an RDD written as text
# table: t(a, b, c, k)
spark.sql("insert into t values (1, 2, 3, 4)")
spark.table("t").where("c > 0").select("a").rdd.map(str).saveAsTextFile(f"{folder}/lines")
# expect:
#   value <- t.a direct/transformation
#   * <- t.c indirect/filter
#   input: t
#   output: lines

# case: an RDD written by a Hadoop format in a union with a text file
# table: t(a, b, c, k)
spark.sql("insert into t values (1, 2, 3, 4)")
(folder / "names.txt").write_text("a")
lines = spark.sparkContext.textFile(f"{folder}/names.txt").map(lambda line: (line, line))
pairs = spark.table("t").select("a").rdd.map(lambda row: (str(row[0]), "")).union(lines)
format_class = "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat"
text_class = "org.apache.hadoop.io.Text"
pairs.saveAsNewAPIHadoopFile(f"{folder}/pairs", format_class, text_class, text_class)
# expect:
#   value <- t.a direct/transformation
#   value <- names.txt.value direct/transformation
#   input: t
#   input: names.txt
#   output: pairs

# case: a DataFrame of a text file that is read as an RDD
(folder / "names.txt").write_text("a")
lines = spark.sparkContext.textFile(f"{folder}/names.txt").map(lambda line: (line,))
spark.createDataFrame(lines, "x string").write.parquet(f"{folder}/table")
# expect:
#   x <- names.txt.value direct/transformation
#   input: names.txt
#   output: table

# case: a Python data source
# since: 4.0
from pyspark.sql.datasource import DataSource, DataSourceReader


class Crm(DataSource):
    @classmethod
    def name(cls):
        return "crm"

    def schema(self):
        return "id int"

    def reader(self, schema):
        class Reader(DataSourceReader):
            def read(self, partition):
                yield (1,)

        return Reader()


spark.dataSource.register(Crm)
reader = spark.read.format("crm").option("region", "eu").option("api_token", "abc")
reader.option("url", "https://me:secret@host?key=1").load().write.parquet(f"{folder}/customers")
# expect:
#   id <- host.id direct/identity
#   input: host
#   output: customers

# case: a transposed table depends on every column
# since: 4.0
# table: t(a, b, c, k)
spark.sql("insert into t values (1, 2, 3, 4)")
spark.table("t").where("c = 3").select("a", "b").limit(1).transpose().write.parquet(f"{folder}/turned")
# expect:
#   key <- t.a direct/transformation
#   key <- t.b direct/transformation
#   1 <- t.a direct/transformation
#   1 <- t.b direct/transformation
#   * <- t.c indirect/filter
#   input: t
#   output: turned
