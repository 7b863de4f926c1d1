# Operators that run a program: every output depends on every input, and the step is named.

# case: mapInArrow is opaque
# since: 4.0
# table: t(a, b, c, k)
def batches(frames):
    yield from frames


df = spark.table("t").where("c > 0").select("a", "b").mapInArrow(batches, "x int")
# expect:
#   x <- t.a direct/transformation
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   opaque: MapInArrow


# case: applyInPandas is opaque and groups by its key
# table: t(a, b, c, k)
def one(frame):
    return frame


df = spark.table("t").select("a", "k").groupBy("k").applyInPandas(one, "x int, y int")
# expect:
#   x <- t.a direct/transformation
#   x <- t.k direct/transformation
#   y <- t.a direct/transformation
#   y <- t.k direct/transformation
#   opaque: FlatMapGroupsInPandas


# case: cogroup is opaque over both sides
# table: t(a, b, c, k)
# table: u(a, b, c, k)
def first_group(left, right):
    return left


t, u = spark.table("t").select("a", "k"), spark.table("u").select("b", "k")
df = t.groupBy("k").cogroup(u.groupBy("k")).applyInPandas(first_group, "x int")
# expect:
#   x <- t.a direct/transformation
#   x <- t.k direct/transformation
#   x <- u.b direct/transformation
#   x <- u.k direct/transformation
#   opaque: FlatMapCoGroupsInPandas


# case: applyInArrow is opaque and groups by its key
# since: 4.0
# table: t(a, b, c, k)
def one(table):
    return table


df = spark.table("t").select("a", "k").groupBy("k").applyInArrow(one, "x int")
# expect:
#   x <- t.a direct/transformation
#   x <- t.k direct/transformation
#   opaque: FlatMapGroupsInArrow


# case: cogroup of arrow is opaque over both sides
# since: 4.0
# table: t(a, b, c, k)
# table: u(a, b, c, k)
def first_group(left, right):
    return left


t, u = spark.table("t").select("a", "k"), spark.table("u").select("b", "k")
df = t.groupBy("k").cogroup(u.groupBy("k")).applyInArrow(first_group, "x int")
# expect:
#   x <- t.a direct/transformation
#   x <- t.k direct/transformation
#   x <- u.b direct/transformation
#   x <- u.k direct/transformation
#   opaque: FlatMapCoGroupsInArrow

# case: a watermark is transparent
# table: t(a, b, c, k)
path = spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:") + "/t"
stream = spark.readStream.schema("a int, k int").parquet(path).selectExpr("a", "timestamp_seconds(k) as at")
df = stream.withWatermark("at", "1 minute").dropDuplicatesWithinWatermark(["a"]).select("a", "at")
# expect:
#   a <- t.a direct/identity
#   at <- t.k direct/transformation
#   * <- t.a indirect/group_by

# case: applyInPandasWithState is opaque
# table: t(a, b, c, k)
from pyspark.sql.streaming.state import GroupStateTimeout


def stateful(key, frames, state):
    yield from frames


path = spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:") + "/t"
stream = spark.readStream.schema("a int, k int").parquet(path)
df = stream.groupBy("k").applyInPandasWithState(stateful, "x int", "n int", "update", GroupStateTimeout.NoTimeout)
# expect:
#   x <- t.a direct/transformation
#   x <- t.k direct/transformation
#   opaque: FlatMapGroupsInPandasWithState

# case: a script transform is opaque
# table: t(a, b, c, k)
df = spark.sql("select transform(a, b) using 'cat' as (x int, y int) from t where c > 0")
# expect:
#   x <- t.a direct/transformation
#   x <- t.b direct/transformation
#   y <- t.a direct/transformation
#   y <- t.b direct/transformation
#   * <- t.c indirect/filter
#   opaque: ScriptTransformation

# case: a Python UDF of several arguments
# table: t(a, b, c, k)
total = F.udf(lambda a, b: a + b, "int")
df = spark.table("t").where(total("b", "c") > 1).select(total(F.col("a"), F.col("b") + 1).alias("x"))
# expect:
#   x <- t.a direct/transformation
#   x <- t.b direct/transformation
#   * <- t.b indirect/filter
#   * <- t.c indirect/filter

# case: a pandas UDF transforms its arguments
# table: t(a, b, c, k)
import pandas


@F.pandas_udf("int")
def plus(a: pandas.Series, b: pandas.Series) -> pandas.Series:
    return a + b


df = spark.table("t").select(plus("a", "b").alias("x"))
# expect:
#   x <- t.a direct/transformation
#   x <- t.b direct/transformation

# case: an iterator pandas UDF transforms its argument
# table: t(a, b, c, k)
from collections.abc import Iterator

import pandas


@F.pandas_udf("int")
def pass_through(parts: Iterator[pandas.Series]) -> Iterator[pandas.Series]:
    yield from parts


df = spark.table("t").select(pass_through("a").alias("x"))
# expect:
#   x <- t.a direct/transformation

# case: a grouped pandas UDF aggregates its argument
# table: t(a, b, c, k)
import pandas


@F.pandas_udf("double")
def middle(a: pandas.Series) -> float:
    return a.median()


df = spark.table("t").groupBy("k").agg(middle("a").alias("x"))
# expect:
#   k <- t.k direct/identity
#   x <- t.a direct/aggregation
#   * <- t.k indirect/group_by

# case: a grouped pandas UDF over a window
# table: t(a, b, c, k)
import pandas
from pyspark.sql import Window


@F.pandas_udf("double")
def middle(a: pandas.Series) -> float:
    return a.median()


df = spark.table("t").select(middle("a").over(Window.partitionBy("k")).alias("x"))
# expect:
#   x <- t.a direct/aggregation
#   x <- t.k indirect/window

# case: an Arrow UDF transforms its argument
# since: 4.1
# table: t(a, b, c, k)
import pyarrow


@F.arrow_udf("int")
def copy_values(a: pyarrow.Array) -> pyarrow.Array:
    return a


df = spark.table("t").select(copy_values("a").alias("x"))
# expect:
#   x <- t.a direct/transformation

# case: a registered Python UDF in SQL
# table: t(a, b, c, k)
spark.udf.register("doubled", lambda a: a * 2, "int")
df = spark.sql("select doubled(a) as x from t where doubled(b) > 1")
# expect:
#   x <- t.a direct/transformation
#   * <- t.b indirect/filter


# case: a Python table function joined with a table
# table: t(a, b, c, k)
class Split:
    def eval(self, a: int, b: int):
        yield a, b


spark.udtf.register("split_up", F.udtf(Split, returnType="x int, y int"))
df = spark.sql("select t.k, s.x from t, lateral split_up(t.a, t.b) s")
# expect:
#   k <- t.k direct/identity
#   x <- t.a direct/transformation
#   x <- t.b direct/transformation
#   * <- t.a indirect/filter
#   * <- t.b indirect/filter


# case: a Python table function over a whole table
# since: 4.0
# table: t(a, b, c, k)
class Whole:
    def eval(self, row):
        yield (row["a"],)


spark.udtf.register("whole", F.udtf(Whole, returnType="x int"))
df = spark.sql("select x from whole(table(select a, b from t where c > 0) partition by b)")
# expect:
#   x <- t.a direct/transformation
#   x <- t.b direct/transformation
#   * <- t.a indirect/filter
#   * <- t.b indirect/filter
#   * <- t.b indirect/sort
#   * <- t.c indirect/filter

# case: an RDD of local data has an unknown origin
df = spark.createDataFrame(spark.sparkContext.parallelize([1, 2]).map(lambda value: (value,)), "x int")
# expect:
#   x <- nothing

# case: a UDF of the JVM transforms its arguments
# table: t(a, b, c, k)
plus = java("org.apache.spark.sql.api.java.UDF2", "public Object call(Object a, Object b) { return a; }")
number = spark._jvm.org.apache.spark.sql.types.DataTypes.IntegerType
spark._jsparkSession.udf().register("plus_java", plus, number)
df = spark.sql("select plus_java(a, b) as x from t where plus_java(c, 1) > 0")
# expect:
#   x <- t.a direct/transformation
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter


# case: mapInArrow is opaque on Spark 3.5
# until: 3.5
# table: t(a, b, c, k)
def batches(frames):
    yield from frames


df = spark.table("t").where("c > 0").select("a", "b").mapInArrow(batches, "x int")
# expect:
#   x <- t.a direct/transformation
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   opaque: PythonMapInArrow

# case: a JVM function of a primitive value transforms its argument
# table: t(a, b, c, k)
from pyspark.ml.feature import Bucketizer

df = Bucketizer(splits=[0.0, 1.0, 2.0], inputCol="a", outputCol="x").transform(spark.table("t")).select("x")
# expect:
#   x <- t.a direct/transformation
