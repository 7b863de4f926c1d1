"""The steps that write datasets and columns: what exists, since when, under which id."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from colline.pipeline import identity
from colline.pipeline.facts import target_key
from colline.pipeline.identity import NAME, Links
from colline.pipeline.names import field_key, name_of, namespace_of
from colline.pipeline.rules import metadata, tags_of, word_of
from colline.pipeline.store import Store, cut
from colline.pipeline.tables import BUCKETS, COLUMNS, DATASETS
from colline.pipeline.work import NOT_A_WRITE, Work

SCHEMAS_KEPT = 100
# columns of a dataset → how two values become one
TIMES = {"first_seen": F.min, "last_seen": F.max, "last_written": F.max, "last_read": F.max, "dropped_at": F.max}
WORDS = ("kind", "layer", "owner", "domain")
# weakest first
KINDS = ("OTHER", "FILE", "JDBC", "TOPIC", "TABLE", "VIEW")


def bucket_of(dataset_id: Column) -> Column:
    """The part of a gold table that a dataset's rows are in."""
    return F.pmod(dataset_id, F.lit(BUCKETS)).cast("int")


def write_datasets(work: Work) -> None:
    """Merge the datasets that the news speak of; a dataset that turns out to be another's symlink is merged into it."""
    known = work.store.read(DATASETS)
    live = known.where("merged_into is null")
    links = identity.links(work.spoken.withColumn("seen", F.col("last")), known, work.rules)
    new = cut(links.of(_mentioned(work)))
    gone = cut(live.join(_alias(links.frame), list(NAME)).select(*live.columns))
    names = cut(new.select(*NAME).distinct())
    old = live.join(names, list(NAME), "left_semi").unionByName(gone).distinct()
    old = cut(links.of_known(old))
    rows = cut(_rows(new, old, work.store))
    symlinks, schemas = cut(_symlinks(work, links, old)), cut(_schemas(work, links, old))
    rows = rows.join(symlinks, list(NAME), "left").join(schemas, list(NAME), "left")
    rows = rows.withColumn("merged_into", F.lit(None).cast("bigint")).withColumn(
        "merged_in", F.lit(None).cast("string")
    )
    rows = cut(_described(work, rows).select(*known.columns))
    if not gone.isEmpty():
        rows = rows.unionByName(_stones(work, gone, rows, links))
    work.store.merge(DATASETS, rows, on="t.id = s.id")


def _described(work: Work, rows: DataFrame) -> DataFrame:
    """The rows with what the user's metadata table says of them."""
    told = metadata(work.store.spark, work.rules)
    if told is None:
        return rows
    said = told.where("column is null").select(*NAME, *(F.col(w).alias(f"told_{w}") for w in (*WORDS[1:], "tags")))
    joined = rows.join(F.broadcast(said.dropDuplicates(list(NAME))), list(NAME), "left")
    words = {word: F.coalesce(f"told_{word}", word) for word in WORDS[1:]}
    tags = F.array_sort(F.array_union("tags", F.coalesce("told_tags", F.array().cast("array<string>"))))
    return joined.withColumns({**words, "tags": tags})


def _stones(work: Work, gone: DataFrame, rows: DataFrame, links: Links) -> DataFrame:
    """The rows that stay where a dataset was, and say which one it is."""
    stamp = work.store.stamp
    marker = F.lit(f"{stamp.app}/{stamp.version}" if stamp else None)
    moved = links.of_known(gone.select(*NAME, F.struct(*gone.columns).alias("row")))
    moved = moved.join(rows.select(*NAME, F.col("id").alias("into")), list(NAME)).select("row.*", "into")
    moved = moved.withColumn("merged_into", F.col("into")).withColumn("merged_in", marker)
    return moved.select(*gone.columns)


def _alias(links: DataFrame) -> DataFrame:
    return links.select(F.col("alias_namespace").alias("namespace"), F.col("alias_name").alias("name")).distinct()


def _mentioned(work: Work) -> DataFrame:
    """Every dataset the news name, in an event or inside a lineage facet."""
    writes = (F.col("role") == "O") & ~F.coalesce(F.col("lifecycle"), F.lit("")).isin(*NOT_A_WRITE)
    none = F.lit(None)
    tags = F.filter("tags", lambda t: t.field.isNull() | (t.field == ""))
    in_events = work.spoken.select(
        *NAME,
        F.col("first").alias("first_seen"),
        F.col("last").alias("last_seen"),
        F.when(writes, F.col("last")).alias("last_written"),
        F.when(F.col("role") == "I", F.col("last")).alias("last_read"),
        F.when(F.col("lifecycle") == "DROP", F.col("last")).alias("dropped_at"),
        "kind",
        word_of("layer", work.rules).alias("layer"),
        F.coalesce(word_of("owner", work.rules), F.col("owner")).alias("owner"),
        word_of("domain", work.rules).alias("domain"),
        F.coalesce(_words(tags), F.array().cast("array<string>")).alias("tags"),
    )
    in_facts = work.facts.select("shape", *NAME).distinct().join(work.shape_times, "shape")
    in_facts = in_facts.select(
        *NAME,
        F.col("first").alias("first_seen"),
        F.col("last").alias("last_seen"),
        none.cast("timestamp").alias("last_written"),
        F.col("last").alias("last_read"),
        none.cast("timestamp").alias("dropped_at"),
        none.cast("string").alias("kind"),
        *(word_of(word, work.rules).alias(word) for word in WORDS if word != "kind"),
        F.array().cast("array<string>").alias("tags"),
    )
    return in_events.unionByName(in_facts)


def _words(tags: Column) -> Column:
    """`{key: PII, value: true}` → `PII`, `{key: domain, value: sales}` → `domain=sales`."""

    def word(tag: Column) -> Column:
        plain = F.lower(F.coalesce(tag.value, F.lit(""))).isin("", "true", "yes")
        return F.when(plain, tag.key).otherwise(F.concat_ws("=", tag.key, tag.value))

    return F.transform(tags, word)


def _rank(kind: Column) -> Column:
    """How much a kind says: what a facet tells is before what a name suggests."""
    return F.array_position(F.array(*(F.lit(k) for k in KINDS)), F.coalesce(kind, F.lit("OTHER"))).alias("rank")


def _rows(new: DataFrame, old: DataFrame, store: Store) -> DataFrame:
    """One row per dataset, old and new united; a dataset that is written after it was dropped is there again."""
    both = new.select(*NAME, *TIMES, *WORDS, "tags").unionByName(old.select(*NAME, *TIMES, *WORDS, "tags"))
    united = both.groupBy(*NAME).agg(
        *(fold(name).alias(name) for name, fold in TIMES.items()),
        F.max(F.struct(_rank(F.col("kind")), "kind"))["kind"].alias("kind"),
        *(F.max(word).alias(word) for word in WORDS if word != "kind"),
        F.array_sort(F.array_distinct(F.flatten(F.collect_list("tags")))).alias("tags"),
    )
    numbered = cut(
        identity.with_new_ids(cut(united), store.ids(DATASETS, list(NAME)), store.top_id(DATASETS), list(NAME))
    )
    written_later = F.col("last_written") > F.col("dropped_at")
    return numbered.withColumn(
        "dropped_at", F.when(~F.coalesce(written_later, F.lit(False)), F.col("dropped_at"))
    ).withColumn("kind", F.coalesce("kind", F.lit("OTHER")))


def _symlinks(work: Work, links: Links, old: DataFrame) -> DataFrame:
    told = work.spoken.select(*NAME, F.col("last").alias("seen"), F.explode("symlinks").alias("s"))
    spelled = told.select(
        *NAME, "seen", namespace_of(F.col("s.namespace")).alias("ns"), F.col("s.name").alias("link"), "s.type"
    )
    spelled = links.of(spelled.withColumn("link", name_of(F.col("ns"), F.col("link"))))
    before = old.select(*NAME, F.explode("symlinks").alias("s"))
    before = before.select(*NAME, "s.seen", F.col("s.namespace").alias("ns"), F.col("s.name").alias("link"), "s.type")
    each = spelled.unionByName(before).where("length(link) > 0")
    each = each.groupBy(*NAME, "ns", "link", "type").agg(F.max("seen").alias("seen"))
    link = F.struct(F.col("ns").alias("namespace"), F.col("link").alias("name"), "type", "seen")
    return each.groupBy(*NAME).agg(F.array_sort(F.collect_list(link)).alias("symlinks"))


def _schemas(work: Work, links: Links, old: DataFrame) -> DataFrame:
    """Every schema a dataset was written with, when first and last, newest first."""
    is_write = F.col("role").isin("O", "D") & ~F.coalesce(F.col("lifecycle"), F.lit("")).isin("DROP")
    told = work.spoken.where(is_write & (F.size("schema") > 0)).select(
        *NAME, F.hex(F.xxhash64("schema")).alias("digest"), "first", "last", F.col("schema").alias("fields")
    )
    before = old.select(*NAME, F.explode("schemas").alias("s"))
    before = before.select(
        *NAME, "s.digest", F.col("s.first_seen").alias("first"), F.col("s.last_seen").alias("last"), "s.fields"
    )
    each = links.of(told).unionByName(before).groupBy(*NAME, "digest")
    each = each.agg(F.min("first").alias("first"), F.max("last").alias("last"), F.max("fields").alias("fields"))
    entry = F.struct(F.col("last").alias("l"), "digest", "first", "fields")
    newest = F.slice(F.sort_array(F.collect_list(entry), asc=False), 1, SCHEMAS_KEPT)
    shaped = F.transform(
        newest,
        lambda s: F.struct(
            s.digest.alias("digest"), s.first.alias("first_seen"), s.l.alias("last_seen"), s.fields.alias("fields")
        ),
    )
    return each.groupBy(*NAME).agg(shaped.alias("schemas"))


def write_columns(work: Work) -> None:
    """Merge the columns that the news speak of, and mark those that the newest schema no longer has."""
    gone = work.gone
    moved = cut(work.store.read(COLUMNS).join(F.broadcast(gone), "dataset_id"))
    new = cut(_column_news(work))
    touched = cut(new.select("dataset_id").unionByName(gone.select(F.col("into").alias("dataset_id"))).distinct())
    buckets = _buckets(touched.unionByName(gone.select("dataset_id")))
    known = work.store.read(COLUMNS).where(F.col("bucket").isin(buckets))
    old = known.join(touched, "dataset_id", "left_semi")
    before = old.unionByName(moved.withColumn("dataset_id", F.col("into")).select(*old.columns))
    columns = _column_rows(work, new, cut(before.withColumn("key", field_key(F.col("field")))))
    rows = columns.withColumn("action", F.lit("upsert"))
    rows = rows.unionByName(moved.select(*old.columns).withColumn("action", F.lit("delete")).select(*rows.columns))
    listed = ", ".join(str(b) for b in buckets) or "-1"
    on = f"t.bucket in ({listed}) and t.bucket = s.bucket and t.id = s.id"
    work.store.merge(COLUMNS, rows, on=on, action="action")


def _buckets(touched: DataFrame) -> list[int]:
    found = touched.agg(F.collect_set(bucket_of(F.col("dataset_id"))).alias("buckets")).first()
    return sorted(found["buckets"]) if found else []


def _column_news(work: Work) -> DataFrame:
    """`dataset_id`, `key`, `field`, `type`, `ordinal`, `tags`, `first`, `last`: columns in schemas and in facts."""
    none = F.array().cast("array<string>")
    schema = work.spoken.where(F.coalesce(F.col("lifecycle"), F.lit("")) != "DROP")
    tag = F.filter("tags", lambda t: F.length(t.field) > 0)
    in_schema = schema.select(
        *NAME,
        "first",
        "last",
        F.coalesce(tag, F.array().cast("array<struct<key:string,value:string,field:string>>")).alias("column_tags"),
        F.posexplode("schema").alias("ordinal", "f"),
    ).select(
        *NAME,
        F.col("f")["name"].alias("field"),
        F.col("f").type.alias("type"),
        "ordinal",
        _words(F.expr("filter(column_tags, t -> lower(t.field) = lower(f.name))")).alias("tags"),
        "first",
        "last",
    )
    unknown = (F.lit(None).cast("string").alias("type"), F.lit(None).cast("int").alias("ordinal"), none.alias("tags"))
    sources = work.facts.select("shape", *NAME, "field").distinct().join(work.shape_times, "shape")
    sources = sources.select(*NAME, "field", *unknown, "first", "last")
    outputs = work.news.where("shape is not null and role in ('O', 'D')").groupBy(*NAME, "shape")
    outputs = outputs.agg(F.min("ended_at").alias("first"), F.max("ended_at").alias("last"))
    written = work.facts.where("target is not null or is_rows").select(
        "shape", F.when(F.col("is_rows"), F.lit("*")).otherwise(F.col("target")).alias("field")
    )
    targets = outputs.join(written.distinct(), "shape").select(*NAME, "field", *unknown, "first", "last")
    named = in_schema.unionByName(sources).unionByName(targets).where(F.length("field") > 0)
    return work.with_dataset(cut(named)).withColumn("key", field_key(F.col("field")))


def _column_rows(work: Work, new: DataFrame, old: DataFrame) -> DataFrame:
    contributions = new.select(
        "dataset_id",
        "key",
        "field",
        "type",
        "ordinal",
        "tags",
        "first",
        "last",
        F.when(F.col("type").isNotNull(), F.col("last")).alias("typed_at"),
    ).unionByName(
        old.select(
            "dataset_id",
            "key",
            "field",
            "type",
            "ordinal",
            "tags",
            F.col("first_seen").alias("first"),
            F.col("last_seen").alias("last"),
            "typed_at",
        )
    )
    has_type = F.col("type").isNotNull()
    united = contributions.groupBy("dataset_id", "key").agg(
        # a schema's spelling before a query's
        F.min(F.struct((~has_type).alias("guess"), F.col("field"))).alias("spelled"),
        F.max(F.when(has_type, F.struct("typed_at", "type", "ordinal"))).alias("typed"),
        F.array_sort(F.array_distinct(F.flatten(F.collect_list("tags")))).alias("tags"),
        F.min("first").alias("first_seen"),
        F.max("last").alias("last_seen"),
    )
    numbered = cut(
        identity.with_new_ids(
            cut(united),
            work.store.ids(COLUMNS, ["dataset_id", "key"]),
            work.store.top_id(COLUMNS),
            ["dataset_id", "key"],
        )
    )
    latest = (
        work.store.read(DATASETS)
        .where("merged_into is null")
        .select(F.col("id").alias("dataset_id"), *NAME, F.expr("schemas[0]").alias("latest"))
    )
    joined = _tagged(work, numbered.join(latest, "dataset_id"))
    listed = F.transform("latest.fields", lambda f: F.lower(f["name"]))
    top = F.substring_index("key", ".", 1)
    present = F.array_contains(listed, F.col("key")) | F.array_contains(listed, top) | (F.col("key") == "*")
    lost = F.coalesce(~present & (F.col("last_seen") < F.col("latest.first_seen")), F.lit(False))
    return joined.select(
        "id",
        "dataset_id",
        F.when(F.col("key") == "*", "rows").otherwise("column").alias("kind"),
        *NAME,
        F.col("spelled.field").alias("field"),
        F.col("typed.type").alias("type"),
        F.col("typed.ordinal").alias("ordinal"),
        F.array_sort(F.array_union("tags", tags_of(F.col("spelled.field"), work.rules))).alias("tags"),
        "first_seen",
        "last_seen",
        F.when(lost, F.col("latest.first_seen")).alias("removed_at"),
        F.col("typed.typed_at").alias("typed_at"),
        bucket_of(F.col("dataset_id")).alias("bucket"),
    )


def _tagged(work: Work, rows: DataFrame) -> DataFrame:
    """The columns with the tags the user's metadata table gives them."""
    told = metadata(work.store.spark, work.rules)
    if told is None:
        return rows
    said = told.where("column is not null").select(*NAME, F.lower("column").alias("key"), F.col("tags").alias("told"))
    joined = rows.join(F.broadcast(said.dropDuplicates([*NAME, "key"])), [*NAME, "key"], "left")
    tags = F.array_union("tags", F.coalesce("told", F.array().cast("array<string>")))
    return joined.withColumn("tags", tags).drop("told")


def column_ids(work: Work) -> DataFrame:
    """`column_id`, `dataset_id`, `key` of every column, after the batch's are written."""
    known = work.store.read(COLUMNS)
    return known.select(F.col("id").alias("column_id"), "dataset_id", field_key(F.col("field")).alias("key"))


def fact_keys() -> Column:
    """The key of a fact's target."""
    return target_key(F.col("target"), F.col("is_rows"))
