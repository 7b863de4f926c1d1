# Queries that write nothing. Their final event has inputs, the columns read, and no output.

# case: count
# table: t(a, b, c, k)
spark.table("t").where("a > 0").count()
# expect:
#   input: t
#   read: t.a filter

# case: collect
# table: t(a, b, c, k)
# table: u(a, b, c, k)
spark.sql("select t.k, sum(u.b) as s from t join u on t.a = u.a group by t.k order by s").collect()
# expect:
#   input: t
#   input: u
#   read: t.k value group_by
#   read: t.a join
#   read: u.a join
#   read: u.b value sort

# case: show
# table: t(a, b, c, k)
import contextlib
import io

with contextlib.redirect_stdout(io.StringIO()):
    spark.table("t").select("a", "b").show()
# expect:
#   input: t
#   read: t.a value
#   read: t.b value

# case: toPandas
# table: t(a, b, c, k)
spark.table("t").select("a").toPandas()
# expect:
#   input: t
#   read: t.a value

# case: a write to noop is a read
# table: t(a, b, c, k)
spark.table("t").where("c > 0").select("a").write.format("noop").mode("overwrite").save()
# expect:
#   input: t
#   read: t.a value
#   read: t.c filter

# case: tail of the JVM API
# table: t(a, b, c, k)
spark.table("t").where("c > 0").select("a")._jdf.tail(2)
# expect:
#   input: t
#   read: t.a value
#   read: t.c filter

# case: an action on the union of two RDDs
# table: t(a, b, c, k)
# table: u(a, b, c, k)
for name in ("t", "u"):
    spark.sql(f"insert into {name} values (1, 2, 3, 4)")
spark.table("t").select("a").rdd.union(spark.table("u").select("b").rdd).count()
# expect:
#   input: t
#   input: u
#   read: t.a value
#   read: u.b value

# case: whole files as an RDD have their folder as input
(folder / "texts").mkdir()
(folder / "texts" / "a.txt").write_text("x", encoding="utf-8")
pairs = spark.sparkContext.wholeTextFiles(f"{folder}/texts")
pairs.toDF(["path", "text"]).write.parquet(f"{folder}/out")
# expect:
#   path <- texts.value direct/transformation
#   text <- texts.value direct/transformation
#   input: texts
#   output: out
