# Typed Datasets and SparkR, called through the JVM: every output depends on every input.

# case: a typed map is opaque
# table: t(a, b, c, k)
rows = spark.table("t").where("c > 0").select("a", "b")._jdf
numbers = spark._jvm.org.apache.spark.sql.Encoders.INT()
mapped = rows.map(java("MapFunction", "public Object call(Object row) { return 1; }"), numbers)
df = DataFrame(mapped.toDF(), spark).toDF("x")
# expect:
#   x <- t.a direct/transformation
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   opaque: DeserializeToObject
#   opaque: MapElements
#   opaque: SerializeFromObject

# case: a typed mapPartitions is opaque
# table: t(a, b, c, k)
rows = spark.table("t").where("c > 0").select("a", "b")._jdf
numbers = spark._jvm.org.apache.spark.sql.Encoders.INT()
parts = java("MapPartitionsFunction", "public java.util.Iterator call(java.util.Iterator rows) { return rows; }")
df = DataFrame(rows.mapPartitions(parts, numbers).toDF(), spark).toDF("x")
# expect:
#   x <- t.a direct/transformation
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   opaque: DeserializeToObject
#   opaque: MapPartitions
#   opaque: SerializeFromObject

# case: a typed filter keeps the columns and decides the rows by all of them
# table: t(a, b, c, k)
rows = spark.table("t").select("a", "b")._jdf
df = DataFrame(rows.filter(java("FilterFunction", "public boolean call(Object row) { return true; }")), spark)
# expect:
#   a <- t.a direct/identity
#   b <- t.b direct/identity
#   * <- t.a indirect/filter
#   * <- t.b indirect/filter
#   opaque: TypedFilter

# case: mapGroups is opaque
# table: t(a, b, c, k)
rows = spark.table("t").where("c > 0").select("a", "k")._jdf
numbers = spark._jvm.org.apache.spark.sql.Encoders.INT()
key = java("MapFunction", "public Object call(Object row) { return 1; }")
groups = java("MapGroupsFunction", "public Object call(Object key, java.util.Iterator rows) { return key; }")
df = DataFrame(rows.groupByKey(key, numbers).mapGroups(groups, numbers).toDF(), spark).toDF("x")
# expect:
#   x <- t.a direct/transformation
#   x <- t.k direct/transformation
#   * <- t.c indirect/filter
#   opaque: AppendColumns
#   opaque: MapGroups
#   opaque: SerializeFromObject

# case: a typed cogroup is opaque over both sides
# table: t(a, b, c, k)
# table: u(a, b, c, k)
numbers = spark._jvm.org.apache.spark.sql.Encoders.INT()
key = java("MapFunction", "public Object call(Object row) { return 1; }")
both = java(
    "CoGroupFunction",
    "public java.util.Iterator call(Object key, java.util.Iterator left, java.util.Iterator right) { return left; }",
)
left = spark.table("t").select("a", "k")._jdf.groupByKey(key, numbers)
right = spark.table("u").select("b", "k")._jdf.groupByKey(key, numbers)
df = DataFrame(left.cogroup(right, both, numbers).toDF(), spark).toDF("x")
# expect:
#   x <- t.a direct/transformation
#   x <- t.k direct/transformation
#   x <- u.b direct/transformation
#   x <- u.k direct/transformation
#   opaque: AppendColumns
#   opaque: CoGroup
#   opaque: SerializeFromObject

# case: flatMapGroupsWithState is opaque
# table: t(a, b, c, k)
streaming = spark._jvm.org.apache.spark.sql.streaming
rows = spark.table("t").where("c > 0").select("a", "k")._jdf
numbers = spark._jvm.org.apache.spark.sql.Encoders.INT()
key = java("MapFunction", "public Object call(Object row) { return 1; }")
step = java(
    "FlatMapGroupsWithStateFunction",
    "public java.util.Iterator call(Object key, java.util.Iterator rows,"
    " org.apache.spark.sql.streaming.GroupState state) { return rows; }",
)
update, no_timeout = streaming.OutputMode.Update(), streaming.GroupStateTimeout.NoTimeout()
mapped = rows.groupByKey(key, numbers).flatMapGroupsWithState(step, update, numbers, numbers, no_timeout)
df = DataFrame(mapped.toDF(), spark).toDF("x")
# expect:
#   x <- t.a direct/transformation
#   x <- t.k direct/transformation
#   * <- t.c indirect/filter
#   opaque: AppendColumns
#   opaque: FlatMapGroupsWithState
#   opaque: SerializeFromObject

# case: a typed transformWithState is opaque
# since: 4.0
# table: t(a, b, c, k)
streaming = spark._jvm.org.apache.spark.sql.streaming
rows = spark.table("t").where("c > 0").select("a", "k")._jdf
numbers = spark._jvm.org.apache.spark.sql.Encoders.INT()
key = java("MapFunction", "public Object call(Object row) { return 1; }")
processor = java(
    "org.apache.spark.sql.streaming.StatefulProcessor",
    "public void init(org.apache.spark.sql.streaming.OutputMode o, org.apache.spark.sql.streaming.TimeMode t) {}"
    " public scala.collection.Iterator handleInputRows(Object key, scala.collection.Iterator rows,"
    " org.apache.spark.sql.streaming.TimerValues timer) { return rows; }",
)
no_time = getattr(streaming.TimeMode, "None")()
grouped = rows.groupByKey(key, numbers)
mapped = grouped.transformWithState(processor, no_time, streaming.OutputMode.Update(), numbers)
df = DataFrame(mapped.toDF(), spark).toDF("x")
# expect:
#   x <- t.a direct/transformation
#   x <- t.k direct/transformation
#   * <- t.c indirect/filter
#   opaque: AppendColumns
#   opaque: SerializeFromObject
#   opaque: TransformWithState

# case: a Dataset of local objects has no input
jvm = spark._jvm
numbers = spark._jsc.parallelize(jvm.java.util.ArrayList([1, 2])).rdd()
dataset = spark._jsparkSession.createDataset(numbers, jvm.org.apache.spark.sql.Encoders.INT())
df = DataFrame(dataset.toDF(), spark).toDF("x")
# expect:
#   x <- nothing
#   input: local data
#   opaque: SerializeFromObject

# case: a Dataset of an RDD of local data has an unknown origin
values = spark._jvm.java.util.ArrayList()
values.add("a")
lines = spark._jsc.parallelize(values).rdd()
dataset = spark._jsparkSession.createDataset(lines, spark._jvm.org.apache.spark.sql.Encoders.STRING())
df = DataFrame(dataset.toDF(), spark).toDF("x")
# expect:
#   x <- nothing
#   opaque: SerializeFromObject

# case: dapply of SparkR is opaque
# table: t(a, b, c, k)
rows = spark.table("t").where("c > 0").select("a", "b")._jdf
variables = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.Object, 0)
schema = spark._jvm.org.apache.spark.sql.types.StructType.fromDDL("x int")
df = DataFrame(spark._jvm.org.apache.spark.sql.api.r.SQLUtils.dapply(rows, b"f", b"", variables, schema), spark)
# expect:
#   x <- t.a direct/transformation
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   opaque: DeserializeToObject
#   opaque: MapPartitionsInR
#   opaque: SerializeFromObject

# case: dapply of SparkR with Arrow is opaque
# table: t(a, b, c, k)
rows = spark.table("t").where("c > 0").select("a", "b")._jdf
variables = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.Object, 0)
schema = spark._jvm.org.apache.spark.sql.types.StructType.fromDDL("x int")
spark.conf.set("spark.sql.execution.arrow.sparkr.enabled", True)
df = DataFrame(spark._jvm.org.apache.spark.sql.api.r.SQLUtils.dapply(rows, b"f", b"", variables, schema), spark)
spark.conf.unset("spark.sql.execution.arrow.sparkr.enabled")
# expect:
#   x <- t.a direct/transformation
#   x <- t.b direct/transformation
#   * <- t.c indirect/filter
#   opaque: MapPartitionsInRWithArrow

# case: gapply of SparkR is opaque
# table: t(a, b, c, k)
rows = spark.table("t").where("c > 0").select("a", "k")
variables = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.Object, 0)
schema = spark._jvm.org.apache.spark.sql.types.StructType.fromDDL("x int")
grouped = rows.groupBy(rows["k"])._jgd
df = DataFrame(spark._jvm.org.apache.spark.sql.api.r.SQLUtils.gapply(grouped, b"f", b"", variables, schema), spark)
# expect:
#   x <- t.a direct/transformation
#   x <- t.k direct/transformation
#   * <- t.c indirect/filter
#   opaque: FlatMapGroupsInR
#   opaque: SerializeFromObject

# case: gapply of SparkR with Arrow is opaque
# table: t(a, b, c, k)
rows = spark.table("t").where("c > 0").select("a", "k")
variables = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.Object, 0)
schema = spark._jvm.org.apache.spark.sql.types.StructType.fromDDL("x int")
grouped = rows.groupBy(rows["k"])._jgd
spark.conf.set("spark.sql.execution.arrow.sparkr.enabled", True)
df = DataFrame(spark._jvm.org.apache.spark.sql.api.r.SQLUtils.gapply(grouped, b"f", b"", variables, schema), spark)
spark.conf.unset("spark.sql.execution.arrow.sparkr.enabled")
# expect:
#   x <- t.a direct/transformation
#   x <- t.k direct/transformation
#   * <- t.c indirect/filter
#   opaque: FlatMapGroupsInRWithArrow
