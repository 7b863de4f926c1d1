# Plans written by hand, for nodes that no live session produces in a test.

# case: a plan that is too large to read keeps its leaves
writer = PlanWriter()
a, b, x = writer.attribute("a"), writer.attribute("b"), writer.attribute("x")
leaf = writer.files("/data/t", [a, b])
plan = writer.plan(writer.node("Unread", children=[leaf], why="larger than the limit", output=[x]))
# expect:
#   x <- t.a direct/transformation
#   x <- t.b direct/transformation
#   opaque: Unread

# case: drop a view of a catalog, as Spark 4.3 analyzes it
writer = PlanWriter()
catalog = writer.node("Catalog", "o", name="lake")
view = writer.node("ResolvedIdentifier", catalog=catalog, identifier=["db", "seen_view"])
plan = writer.plan(writer.node("DropView", child=view, ifExists=False))
# expect:
#   output: view lake.db.seen_view drop
