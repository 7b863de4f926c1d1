# What only the DataFrame API can say.

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
