# Delta's API and its statements. The code is executed; the expected lines are those of its final event.

# case: merge by the API
# table: t(a, b, c, k)
# table: d(k, a, b, o struct<x:int,y:int>) using delta
from delta.tables import DeltaTable

(
    DeltaTable.forName(spark, "d")
    .alias("d")
    .merge(spark.table("t").alias("t"), "d.k = t.k")
    .whenMatchedUpdate("t.c > 0", {"a": "t.a + d.b"})
    .whenMatchedDelete("d.b = 7")
    .whenNotMatchedInsert(values={"k": "t.k", "a": "t.b"})
    .execute()
)
# expect:
#   a <- t.a direct/transformation
#   a <- d.b direct/transformation
#   a <- t.c indirect/conditional
#   a <- t.b direct/identity
#   k <- t.k direct/identity
#   b <- nothing
#   o <- nothing
#   * <- d.k indirect/join
#   * <- t.k indirect/join
#   * <- d.b indirect/filter
#   * <- t.c indirect/filter
#   input: t
#   input: d
#   output: d

# case: merge of everything by the API
# table: t(a, b, c, k)
# table: d2(a, b, c, k) using delta
from delta.tables import DeltaTable

merge = DeltaTable.forName(spark, "d2").alias("d").merge(spark.table("t").alias("s"), "d.k = s.k")
merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().whenNotMatchedBySourceDelete("d.a > 5").execute()
# expect:
#   a <- t.a direct/identity
#   b <- t.b direct/identity
#   c <- t.c direct/identity
#   k <- t.k direct/identity
#   * <- d2.k indirect/join
#   * <- t.k indirect/join
#   * <- d2.a indirect/filter
#   input: t
#   input: d2
#   output: d2

# case: update by the API
# table: d(k, a, b, o struct<x:int,y:int>) using delta
from delta.tables import DeltaTable

DeltaTable.forName(spark, "d").update("k > 1", {"a": "b + 1"})
# expect:
#   a <- d.b direct/transformation
#   a <- d.k indirect/conditional
#   input: d
#   output: d

# case: delete by the API
# table: d(k, a, b, o struct<x:int,y:int>) using delta
from delta.tables import DeltaTable

DeltaTable.forName(spark, "d").delete("a > 1")
# expect:
#   * <- d.a indirect/filter
#   input: d
#   output: d

# case: merge
# table: t(a, b, c, k)
# table: d2(a, b, c, k) using delta
spark.sql(
    "merge into d2 using (select * from t where a > 0) s on d2.k = s.k when matched then update set * when not matched then insert *"
)
# expect:
#   a <- t.a direct/identity
#   b <- t.b direct/identity
#   c <- t.c direct/identity
#   k <- t.k direct/identity
#   * <- t.a indirect/filter
#   * <- d2.k indirect/join
#   * <- t.k indirect/join
#   input: t
#   input: d2
#   output: d2

# case: merge that evolves the schema
# table: t(a, b, c, k)
spark.sql("create table saved using delta as select a, k from t")
spark.sql(
    "merge with schema evolution into saved using (select a, k, b as fresh from t) s on saved.k = s.k "
    "when matched then update set * when not matched then insert *"
)
# expect:
#   a     <- t.a direct/identity
#   k     <- t.k direct/identity
#   fresh <- t.b direct/identity
#   *     <- saved.k indirect/join
#   *     <- t.k indirect/join
#   output: saved

# case: update
# table: d(k, a, b, o struct<x:int,y:int>) using delta
spark.sql("update d set o.x = a where b = 1")
# expect:
#   o <- d.a direct/transformation
#   o <- d.o.y direct/transformation
#   o <- d.b indirect/conditional
#   output: d

# case: delete
# table: d(k, a, b, o struct<x:int,y:int>) using delta
spark.sql("delete from d where a > 1")
# expect:
#   * <- d.a indirect/filter
#   output: d

# case: the change data feed of a table
# table: t(a, b, c, k)
spark.sql("create table saved using delta tblproperties ('delta.enableChangeDataFeed' = 'true') as select a from t")
changes = spark.read.option("readChangeFeed", True).option("startingVersion", 0).table("saved")
changes.select("a", F.col("_change_type").alias("x")).write.parquet(f"{folder}/after")
# expect:
#   a <- saved.a direct/identity
#   x <- saved._change_type direct/identity
#   input: saved
#   output: after
