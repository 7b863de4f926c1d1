# Streaming queries before they are started. `tests/cases/writes/streams.py` runs some.

# case: a stream of an Iceberg table
# table: ice.db.t(id, v string, k) using iceberg
df = spark.readStream.table("ice.db.t").where("k > 0").select("id")
# expect:
#   id <- t.id direct/identity
#   * <- t.k indirect/filter
#   input: t

# case: transformWithState is opaque
# since: 4.1
# table: t(a, b, c, k)
from pyspark.sql.streaming import StatefulProcessor


class Last(StatefulProcessor):
    def init(self, handle):
        pass

    def handleInputRows(self, key, rows, timerValues):
        yield from rows

    def close(self):
        pass


path = spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:") + "/t"
stream = spark.readStream.schema("a int, c int, k int").parquet(path).where("c > 0").select("a", "k")
df = stream.groupBy("k").transformWithState(Last(), "x int", "Update", "None")
# expect:
#   x <- t.a direct/transformation
#   x <- t.k direct/transformation
#   * <- t.c indirect/filter
#   opaque: TransformWithStateInPySpark

# case: transformWithState with an event time column
# since: 4.1
# table: t(a, b, c, k)
from pyspark.sql.streaming import StatefulProcessor


class Last(StatefulProcessor):
    def init(self, handle):
        pass

    def handleInputRows(self, key, rows, timerValues):
        yield from rows

    def close(self):
        pass


path = spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:") + "/t"
stream = spark.readStream.schema("a int, k int").parquet(path).selectExpr("k", "timestamp_seconds(a) as at")
grouped = stream.withWatermark("at", "1 minute").groupBy("k")
df = grouped.transformWithState(Last(), "x int, at timestamp", "Append", "EventTime", eventTimeColumnName="at")
# expect:
#   x <- t.a direct/transformation
#   x <- t.k direct/transformation
#   at <- t.a direct/transformation
#   at <- t.k direct/transformation
#   opaque: TransformWithStateInPySpark

# case: transformWithStateInPandas is opaque
# since: 4.0
# until: 4.0
# table: t(a, b, c, k)
from pyspark.sql.streaming import StatefulProcessor


class Last(StatefulProcessor):
    def init(self, handle):
        pass

    def handleInputRows(self, key, rows, timerValues):
        yield from rows

    def close(self):
        pass


path = spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:") + "/t"
stream = spark.readStream.schema("a int, c int, k int").parquet(path).where("c > 0").select("a", "k")
df = stream.groupBy("k").transformWithStateInPandas(Last(), "x int", "Update", "None")
# expect:
#   x <- t.a direct/transformation
#   x <- t.k direct/transformation
#   * <- t.c indirect/filter
#   opaque: TransformWithStateInPandas
