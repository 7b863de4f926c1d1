# Calls of the DataFrame API.

# case: dropDuplicates keeps the other columns
# table: t(a, b, c, k)
df = spark.table("t").select("a", "k").dropDuplicates(["k"])
# expect:
#   a <- t.a direct/identity
#   k <- t.k direct/identity
#   * <- t.k indirect/group_by


# case: mapInPandas is opaque
# table: t(a, b, c, k)
def clean(frames):
    yield from frames


df = spark.table("t").select("a", "b").mapInPandas(clean, "x int")
# expect:
#   x <- t.a direct/transformation
#   x <- t.b direct/transformation
#   opaque: MapInPandas

# case: local data has no input
df = spark.createDataFrame([(1, "x")], ["a", "b"])
# expect:
#   a <- nothing
#   b <- nothing

# case: a Python UDF transforms its arguments
# table: t(a, b, c, k)
df = spark.table("t").select(F.udf(lambda a: a.strip(), "string")("a").alias("c"))
# expect:
#   c <- t.a direct/transformation


# case: unionByName matches columns by name and allows missing ones
# table: t(a, b, c, k)
# table: u(a, b, c, k)
df = spark.table("t").select("a", "b").unionByName(spark.table("u").select("b", "c"), allowMissingColumns=True)
# expect:
#   a <- t.a direct/identity
#   b <- t.b direct/identity
#   b <- u.b direct/identity
#   c <- u.c direct/identity

# case: sortWithinPartitions and repartition
# table: t(a, b, c, k)
df = spark.table("t").repartition(3, "k").sortWithinPartitions("b").coalesce(1).select("a")
# expect:
#   a <- t.a direct/identity
#   * <- t.b indirect/sort

# case: sample, limit, offset and hints change nothing
# table: t(a, b, c, k)
df = (
    spark.table("t")
    .select("a")
    .sample(0.5, seed=1)
    .limit(5)
    .offset(1)
    .hint("broadcast")
    .alias("z")
    .repartitionByRange(2, "a")
)
# expect:
#   a <- t.a direct/identity

# case: a cached DataFrame keeps its lineage
# table: t(a, b, c, k)
df = spark.table("t").where("b > 0").cache().select(F.col("a") + 1)
df.unpersist()
# expect:
#   (a + 1) <- t.a direct/transformation
#   *       <- t.b indirect/filter

# case: persist and CACHE TABLE are transparent
# table: t(a, b, c, k)
# setup: cache lazy table cached_t as select a, k from t where b > 0
df = spark.table("cached_t").persist().where("k = 1").select("a")
# expect:
#   a <- t.a direct/identity
#   * <- t.b indirect/filter
#   * <- t.k indirect/filter

# case: a temporary view is not a dataset
# table: t(a, b, c, k)
spark.table("t").where("b > 0").createOrReplaceTempView("seen")
df = spark.sql("select a as x from seen")
# expect:
#   x <- t.a direct/identity
#   * <- t.b indirect/filter
#   input: t

# case: withColumn, withColumnRenamed, drop and selectExpr
# table: t(a, b, c, k)
df = (
    spark.table("t")
    .withColumn("x", F.col("a") + F.col("b"))
    .withColumn("x", F.col("x") * 2)
    .withColumnRenamed("k", "key")
    .drop("a", "b")
    .selectExpr("x", "key", "upper(c) as c")
)
# expect:
#   x   <- t.a direct/transformation
#   x   <- t.b direct/transformation
#   key <- t.k direct/identity
#   c   <- t.c direct/transformation

# case: fillna, replace and dropna
# table: t(a, b, c, k)
df = spark.table("t").select("a", "b").fillna({"a": 0}).dropna(subset=["b"])
# expect:
#   a <- t.a direct/transformation
#   a <- t.a indirect/conditional
#   b <- t.b direct/identity
#   * <- t.b indirect/filter

# case: groupBy, agg and pivot
# table: t(a, b, c, k)
df = spark.table("t").groupBy("k").pivot("b", [1, 2]).agg(F.sum("a").alias("s"))
# expect:
#   k <- t.k direct/identity
#   1 <- t.a direct/aggregation
#   1 <- t.b indirect/conditional
#   2 <- t.a direct/aggregation
#   2 <- t.b indirect/conditional
#   * <- t.k indirect/group_by

# case: a join with a list of names
# table: t(a, b, c, k)
# table: u(a, b, c, k)
df = spark.table("t").join(spark.table("u"), ["k"], "left").select("k", spark.table("t").a)
# expect:
#   k <- t.k direct/identity
#   a <- t.a direct/identity
#   * <- t.k indirect/join
#   * <- u.k indirect/join

# case: crossJoin, semi and anti by name
# table: t(a, b, c, k)
# table: u(a, b, c, k)
t, u = spark.table("t"), spark.table("u")
df = t.join(u, t.k == u.k, "left_semi").join(u, "b", "left_anti").crossJoin(u.select(u.c.alias("z"))).select("a", "z")
# expect:
#   a <- t.a direct/identity
#   z <- u.c direct/identity
#   * <- t.k indirect/join
#   * <- u.k indirect/join
#   * <- t.b indirect/join
#   * <- u.b indirect/join

# case: as-of join
# table: t(a, b, c, k)
# table: u(a, b, c, k)
t, u = spark.table("t"), spark.table("u")
df = t._joinAsOf(u, leftAsOfColumn="b", rightAsOfColumn="c", on="k", how="left", direction="backward").select(t.a, u.b)
# expect:
#   a <- t.a direct/identity
#   b <- u.b direct/identity
#   * <- t.k indirect/join
#   * <- u.k indirect/join
#   * <- t.b indirect/join
#   * <- u.c indirect/join

# case: a lateral join
# since: 4.0
# table: t(a, b, c, k)
# table: u(a, b, c, k)
t, u = spark.table("t").alias("l"), spark.table("u").alias("r")
df = t.lateralJoin(u.where(F.col("r.k") == F.col("l.k").outer()).select(F.col("r.b").alias("z"))).select("a", "z")
# expect:
#   a <- t.a direct/identity
#   z <- u.b direct/identity
#   * <- u.k indirect/filter
#   * <- t.k indirect/filter

# case: windows of the DataFrame API
# table: t(a, b, c, k)
from pyspark.sql import Window

by = Window.partitionBy("k").orderBy(F.desc("c"))
df = spark.table("t").select(
    F.row_number().over(by).alias("n"),
    F.sum("a").over(by.rowsBetween(-1, 1)).alias("s"),
    F.lag("b").over(by).alias("l"),
)
# expect:
#   n <- t.k indirect/window
#   n <- t.c indirect/window
#   s <- t.a direct/aggregation
#   s <- t.k indirect/window
#   s <- t.c indirect/window
#   l <- t.b direct/transformation
#   l <- t.k indirect/window
#   l <- t.c indirect/window

# case: a struct with a field set and a field dropped
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
df = spark.table("n").select(
    F.col("address").withField("zip", F.col("s")).alias("o"), F.col("address").dropFields("city").alias("p")
)
# expect:
#   o <- n.address.city direct/transformation
#   o <- n.s direct/transformation
#   p <- n.address.zip direct/transformation

# case: a struct field that is set and then read has the lineage of its new value
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
changed = spark.table("n").select(F.col("address").withField("zip", F.col("s")).alias("o"))
df = changed.select("o.zip", "o.city.name")
# expect:
#   zip  <- n.s direct/identity
#   name <- n.address.city.name direct/identity

# case: unionByName of structs with different members
# table: person(id, name struct<first:string,last:string>)
# table: company(id, name struct<last:string,form:string>)
both = spark.table("person").unionByName(spark.table("company"), allowMissingColumns=True)
df = both.select("name", "name.first", "name.last", "name.form")
# expect:
#   name  <- person.name direct/identity
#   name  <- company.name direct/identity
#   first <- person.name.first direct/identity
#   last  <- person.name.last direct/identity
#   last  <- company.name.last direct/identity
#   form  <- company.name.form direct/identity

# case: unpivot of the DataFrame API
# table: wide(id, a, b)
df = spark.table("wide").unpivot("id", ["a", "b"], "n", "v")
# expect:
#   id <- wide.id direct/identity
#   n  <- nothing
#   v  <- wide.a direct/identity
#   v  <- wide.b direct/identity

# case: intersect, exceptAll and subtract
# table: t(a, b, c, k)
# table: u(a, b, c, k)
t, u = spark.table("t"), spark.table("u")
df = t.select("a").exceptAll(u.select("b")).intersectAll(u.select("c"))
# expect:
#   a <- t.a direct/identity
#   * <- t.a indirect/join
#   * <- u.b indirect/join
#   * <- u.c indirect/join

# case: rollup and cube of the DataFrame API
# table: t(a, b, c, k)
df = spark.table("t").rollup("k").agg(F.max("a").alias("m"), F.grouping_id().alias("g"))
# expect:
#   k <- t.k direct/identity
#   m <- t.a direct/aggregation
#   g <- nothing
#   * <- t.k indirect/group_by

# case: local data of pandas and of a list of rows
import pandas

frame = spark.createDataFrame(pandas.DataFrame({"p": [1]}))
df = frame.join(spark.createDataFrame([(1, "x")], "p int, q string"), "p").select("p", F.upper("q").alias("q"))
# expect:
#   p <- nothing
#   q <- nothing
#   input: local data

# case: observe, watermark and describe the rows without changing them
# table: t(a, b, c, k)
df = spark.table("t").observe("seen", F.count(F.lit(1))).select("a")
# expect:
#   a <- t.a direct/identity

# case: a higher-order function of the DataFrame API
# table: n(id, s string, address struct<zip:string,city:struct<name:string>>, items array<struct<sku:string,qty:int>>, tags map<string,string>, l array<int>)
df = spark.table("n").select(F.transform("l", lambda x: x + F.col("id")).alias("y"))
# expect:
#   y <- n.l direct/transformation
#   y <- n.id direct/transformation

# case: a scalar subquery and exists of the DataFrame API
# since: 4.0
# table: t(a, b, c, k)
# table: u(a, b, c, k)
u = spark.table("u")
df = (
    spark.table("t")
    .where(u.where(F.col("k") == F.col("t.k").outer()).exists())
    .select("a", u.select(F.max("b")).scalar().alias("m"))
)
# expect:
#   a <- t.a direct/identity
#   m <- u.b direct/aggregation
#   * <- u.k indirect/filter
#   * <- t.k indirect/filter

# case: files read by path are one dataset, their folder
# table: t(a, b, c, k)
path = spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:") + "/t"
df = spark.read.schema("a int, b int").parquet(path).select("a")
# expect:
#   a <- t.a direct/identity
#   input: t

# case: the result of a command has no input
df = spark.sql("show tables").select("tableName")
# expect:
#   tableName <- nothing

# case: the default index of the pandas API has no input
# since: 4.0
# table: t(a, b, c, k)
import pyspark.pandas

df = spark.table("t").where("c > 0").select("a", "b").pandas_api().to_spark(index_col="i")
# expect:
#   i <- nothing
#   a <- t.a direct/identity
#   b <- t.b direct/identity
#   * <- t.c indirect/filter
