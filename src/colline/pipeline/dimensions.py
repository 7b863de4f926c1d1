"""The steps that write datasets and columns: what exists, since when, under which id."""

from __future__ import annotations

from functools import cached_property

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from colline.lake.tables import BUCKETS, COLUMNS, DATASETS, fields_of
from colline.naming.normalize_sql import field_key, name_of, namespace_of
from colline.pipeline import identity
from colline.pipeline.identity import NAME
from colline.pipeline.store import cut, empty, looked_up, together
from colline.pipeline.user_rules import metadata, tags_of, word_of
from colline.pipeline.work import NOT_A_WRITE, Work

SCHEMAS_KEPT = 100
TO = ("to_namespace", "to_name")
# columns of a dataset → how two values become one
TIMES = {"first_seen": "min", "last_seen": "max", "last_written": "max", "last_read": "max", "dropped_at": "max"}
WORDS = ("kind", "layer", "owner", "domain")
# weakest first
KINDS = ("OTHER", "FILE", "JDBC", "TOPIC", "TABLE", "VIEW")


NO_WORDS = "cast(array() as array<string>)"
UNITED_TAGS = "array_sort(array_distinct(flatten(collect_list(tags))))"
# the part of a gold table that a dataset's rows are in
BUCKET = f"cast(pmod(dataset_id, {BUCKETS}) as int)"
# how much a kind says: what a facet tells is before what a name suggests
RANK = f"array_position(array({', '.join(repr(kind) for kind in KINDS)}), coalesce(kind, 'OTHER'))"


def in_buckets(buckets: list[int] | None) -> str | None:
    """SQL that picks these buckets; None for all of them."""
    return None if buckets is None else f"bucket in ({', '.join(str(b) for b in buckets) or '-1'})"


class Dimensions:
    """The datasets and columns that a batch speaks of, as they are with it."""

    def __init__(self, work: Work) -> None:
        self.work = work

    @cached_property
    def old(self) -> DataFrame:
        """Known datasets that the batch names, with the name (`to_*`) they have now and whether that is another's."""
        work = self.work
        targets = work.places.select(*TO).distinct()
        # a batch that is run again finds what it merged the first time
        live = work.known(DATASETS).where(f"merged_into is null or (merged_in = '{work.store.marker}')")
        alias = work.links.frame.selectExpr(
            "alias_namespace as namespace", "alias_name as name", "namespace as to_namespace", "name as to_name"
        )
        named = live.join(alias, list(NAME), "left").selectExpr(
            *(f"`{column}`" for column in live.columns),
            "to_name is not null as is_gone",
            *(f"coalesce(to_{n}, {n}) as to_{n}" for n in NAME),
        )
        return cut(named if work.retells else named.join(targets, list(TO), "left_semi"))

    @cached_property
    def datasets(self) -> DataFrame:
        """The datasets of the batch as they are now, and a stone where a dataset turned out to be another one."""
        work, table = self.work, tuple(fields_of(DATASETS))
        rows = work.store.known_ids(DATASETS, self._united(), TO)
        rows = identity.numbered(rows, work.top_id(DATASETS), TO)
        rows = rows.join(self._symlinks(), list(TO), "left").join(self._schemas(), list(TO), "left")
        rows = self._described(rows.withColumnsRenamed({"to_namespace": "namespace", "to_name": "name"}))
        rows = cut(rows.selectExpr("*", "cast(null as bigint) as merged_into", "cast(null as string) as merged_in"))
        rows = rows.select(*table)
        gone = self.old.where("is_gone").drop("merged_into", "merged_in")
        into = rows.selectExpr("namespace as to_namespace", "name as to_name", "id as merged_into")
        stones = gone.join(into, list(TO)).selectExpr("*", f"'{work.store.marker}' as merged_in")
        return cut(rows.unionByName(stones.select(*table)))

    @cached_property
    def found(self) -> Row:
        """`buckets` that the batch's datasets are in, and whether any dataset is `gone` into another."""
        found = self.datasets.selectExpr(
            f"sort_array(collect_set(cast(pmod(id, {BUCKETS}) as int))) as buckets",
            "coalesce(max(merged_into is not null), false) as gone",
        ).first()
        assert found is not None  # an aggregate without keys has one row
        return found

    @property
    def buckets(self) -> list[int] | None:
        """The buckets the batch touches; None for all of them."""
        return None if self.work.retells else list(self.found["buckets"])

    @cached_property
    def gone(self) -> DataFrame:
        """`dataset_id` of the datasets that this batch found to be others, `into` those others."""
        return self.datasets.where("merged_into is not null").selectExpr("id as dataset_id", "merged_into as into")

    @cached_property
    def placed(self) -> DataFrame:
        """`dataset_id` by reported name."""
        ids = self.datasets.where("merged_into is null")
        ids = ids.selectExpr("namespace as to_namespace", "name as to_name", "id as dataset_id")
        return cut(self.work.places.join(ids, list(TO)).select(*NAME, "dataset_id"))

    def _united(self) -> DataFrame:
        """One row per dataset, old and new; one that is written after it was dropped is there again."""
        columns = ("id", *TIMES, *WORDS, "tags")
        # a dataset that is gone has no say in the id of the other one
        old = {name: name for name in columns} | {"id": "if(is_gone, null, id)"}
        if self.work.retells:
            kinds = fields_of(DATASETS)
            old |= {name: f"cast(null as {kinds[name]})" for name in columns if name != "id"}
        before = self.old.selectExpr(*TO, *(f"{sql} as {name}" for name, sql in old.items()))
        both = together(self._mentioned().select(*TO, *columns), before)
        folds = {name: f"{fold}({name})" for name, fold in TIMES.items()} | {name: f"max({name})" for name in WORDS}
        folds |= {"id": "max(id)", "kind": f"max(struct({RANK} as rank, kind)).kind", "tags": UNITED_TAGS}
        united = both.groupBy(*TO).agg(*(F.expr(f"{folds[name]} as {name}") for name in columns))
        there_again = "coalesce(last_written > dropped_at, false)"
        settled = {"dropped_at": f"if({there_again}, null, dropped_at)", "kind": "coalesce(kind, 'OTHER')"}
        rows = united.where("first_seen is not null")
        return rows.selectExpr(*TO, *(f"{settled.get(name, name)} as {name}" for name in columns))

    def _mentioned(self) -> DataFrame:
        """Every dataset that is named, in an event or inside a lineage facet."""
        work = self.work
        listed = ", ".join(f"'{word}'" for word in NOT_A_WRITE)
        words = {word: word_of(word, work.rules) for word in WORDS[1:]}
        own_tags = _words("filter(tags, t -> coalesce(t.field, '') = '')")
        in_events = work.spoken.selectExpr(
            *NAME,
            "first as first_seen",
            "last as last_seen",
            f"if(role = 'O' and coalesce(lifecycle, '') not in ({listed}), last, null) as last_written",
            "if(role = 'I', last, null) as last_read",
            "if(lifecycle = 'DROP', last, null) as dropped_at",
            "kind",
            f"{words['layer']} as layer",
            f"coalesce({words['owner']}, owner) as owner",
            f"{words['domain']} as domain",
            f"coalesce({own_tags}, {NO_WORDS}) as tags",
        )
        in_facts = work.facts.groupBy(*NAME).agg(F.expr("min(first) as first_seen"), F.expr("max(last) as last_seen"))
        in_facts = in_facts.selectExpr(
            *NAME,
            "first_seen",
            "last_seen",
            "cast(null as timestamp) as last_written",
            "last_seen as last_read",
            "cast(null as timestamp) as dropped_at",
            "cast(null as string) as kind",
            *(f"{of} as {word}" for word, of in words.items()),
            f"{NO_WORDS} as tags",
        )
        both = together(in_events, in_facts).join(work.places, list(NAME))
        return both.selectExpr("*", "cast(null as bigint) as id")

    def _symlinks(self) -> DataFrame:
        work = self.work
        told = work.spoken.selectExpr(*NAME, "last as seen", "explode(symlinks) as s").join(work.places, list(NAME))
        told = told.selectExpr(*TO, "s.name as said", "s.type", "seen", f"{namespace_of('s.namespace')} as ns")
        spelled = told.selectExpr(*TO, "ns", f"{name_of('ns', 'said')} as link", "type", "seen")
        before = self._told_before().selectExpr(*TO, "explode(symlinks) as s")
        before = before.selectExpr(*TO, "s.namespace as ns", "s.name as link", "s.type", "s.seen")
        each = together(spelled, before).where("length(link) > 0")
        each = each.groupBy(*TO, "ns", "link", "type").agg(F.expr("max(seen) as seen"))
        link = "struct(ns as namespace, link as name, type, seen)"
        return each.groupBy(*TO).agg(F.expr(f"array_sort(collect_list({link})) as symlinks"))

    def _told_before(self) -> DataFrame:
        """The known datasets that still have a say."""
        return self.old.where("false") if self.work.retells else self.old

    def _schemas(self) -> DataFrame:
        """Every schema a dataset was written with, when first and last, newest first."""
        work = self.work
        is_write = "role in ('O', 'D') and not (lifecycle <=> 'DROP') and size(schema) > 0"
        told = work.spoken.where(is_write).join(work.places, list(NAME))
        told = told.selectExpr(*TO, "hex(xxhash64(schema)) as digest", "first", "last", "schema as fields")
        before = self._told_before().selectExpr(*TO, "explode(schemas) as s")
        before = before.selectExpr(*TO, "s.digest", "s.first_seen as first", "s.last_seen as last", "s.fields")
        each = together(told, before).groupBy(*TO, "digest")
        each = each.agg(*(F.expr(e) for e in ("min(first) as first", "max(last) as last", "max(fields) as fields")))
        newest = f"slice(sort_array(collect_list(struct(last, digest, first, fields)), false), 1, {SCHEMAS_KEPT}) as s"
        shaped = "transform(s, x -> struct(x.digest, x.first as first_seen, x.last as last_seen, x.fields)) as schemas"
        return each.groupBy(*TO).agg(F.expr(newest)).selectExpr(*TO, shaped)

    def _described(self, rows: DataFrame) -> DataFrame:
        """The rows with what the user's metadata table says of them."""
        told = metadata(self.work.store.spark, self.work.rules)
        if told is None:
            return rows
        said = told.where("column is null").select(*NAME, *(F.col(w).alias(f"told_{w}") for w in (*WORDS[1:], "tags")))
        joined = rows.join(F.broadcast(said.dropDuplicates(list(NAME))), list(NAME), "left")
        words = {word: F.coalesce(f"told_{word}", word) for word in WORDS[1:]}
        tags = F.array_sort(F.array_union("tags", F.coalesce("told_tags", F.array().cast("array<string>"))))
        return joined.withColumns({**words, "tags": tags})

    @cached_property
    def columns(self) -> DataFrame:
        """All columns of the batch's datasets as they are now."""
        work = self.work
        old = work.known(COLUMNS, in_buckets(self.buckets)).selectExpr("*", f"{field_key('field')} as key")
        before = old.join(self._live().select("dataset_id"), "dataset_id", "left_semi")
        if self.found["gone"]:
            moved = old.join(self.gone, "dataset_id").drop("dataset_id", "id")
            moved = moved.selectExpr("*", "into as dataset_id", "cast(null as bigint) as id")
            before = before.unionByName(moved.select(*before.columns))
        return cut(self._column_rows(before))

    def _live(self) -> DataFrame:
        """The batch's datasets, with the newest schema each was written with."""
        live = self.datasets.where("merged_into is null")
        return live.selectExpr("id as dataset_id", *NAME, "try_element_at(schemas, 1) as latest")

    def _column_rows(self, old: DataFrame) -> DataFrame:
        work, on = self.work, ("dataset_id", "key")
        rows = work.store.known_ids(COLUMNS, self._united_columns(old), on)
        rows = self._tagged(self._placed_columns(identity.numbered(rows, work.top_id(COLUMNS), on)))
        return rows.selectExpr(
            "id",
            "dataset_id",
            "if(key = '*', 'rows', 'column') as kind",
            *NAME,
            "field",
            "typed.type",
            "typed.ordinal",
            f"array_sort(array_union(tags, {tags_of(work.rules)})) as tags",
            "first_seen",
            "last_seen",
            "removed_at",
            "typed.typed_at",
            f"{BUCKET} as bucket",
            "key",
        )

    def _placed_columns(self, rows: DataFrame) -> DataFrame:
        """Columns with their dataset's name, and `removed_at`: since when its newest schema does not have them.

        The names in a schema are looked through for columns only that nobody has seen since it was new.
        """
        live = self._live()
        named = rows.join(
            looked_up(live.selectExpr("dataset_id", *NAME, "latest.first_seen as changed_at")), "dataset_id"
        )
        listed = live.selectExpr("dataset_id as of", "transform(latest.fields, f -> lower(f.name)) as listed")
        unseen = F.expr("dataset_id = of and last_seen < changed_at")
        found = named.join(looked_up(listed), unseen, "left")
        there = "array_contains(listed, key) or array_contains(listed, substring_index(key, '.', 1)) or key = '*'"
        return found.selectExpr("*", f"if(not ({there}), changed_at, null) as removed_at").drop("of", "listed")

    def _united_columns(self, old: DataFrame) -> DataFrame:
        kinds = {"field": "string", "type": "string", "ordinal": "int", "tags": "array<string>", "first": "timestamp"}
        kinds |= {"last": "timestamp", "typed_at": "timestamp"}
        new = {"id": "cast(null as bigint)", "key": field_key("field"), "typed_at": "if(ordinal is null, null, last)"}
        was = {"first": "first_seen", "last": "last_seen"}
        if self.work.retells:  # nothing is kept of what a column was but its id
            was = {name: f"cast(null as {kind})" for name, kind in kinds.items()}
        names = ("id", "dataset_id", "key", *kinds)
        told = self._column_news().selectExpr(*(f"{new.get(name, name)} as {name}" for name in names))
        before = old.selectExpr(*(f"{was.get(name, name)} as {name}" for name in names))
        columns = (
            "max(id) as id",
            "max(if(ordinal is null, null, struct(typed_at, type, ordinal, field))) as typed",
            "max(field) as spelled",
            f"{UNITED_TAGS} as tags",
            "min(first) as first_seen",
            "max(last) as last_seen",
        )
        rows = together(told, before).groupBy("dataset_id", "key").agg(*(F.expr(column) for column in columns))
        # the newest schema's spelling before a query's, small letters before capitals
        return rows.where("first_seen is not null").selectExpr("*", "coalesce(typed.field, spelled) as field")

    def _column_news(self) -> DataFrame:
        """`dataset_id`, `field`, `type`, `ordinal`, `tags`, `first`, `last`: columns in schemas and in facts."""
        work = self.work
        in_schema = work.spoken.where("not (lifecycle <=> 'DROP')")
        in_schema = in_schema.selectExpr(*NAME, "first", "last", "tags as told", "posexplode(schema) as (ordinal, f)")
        of_column = "filter(told, t -> length(t.field) > 0 and lower(t.field) = lower(f.name))"
        of_column = f"coalesce({_words(of_column)}, {NO_WORDS}) as tags"
        in_schema = in_schema.selectExpr(*NAME, "f.name as field", "f.type", "ordinal", of_column, "first", "last")
        unknown = ("cast(null as string) as type", "cast(null as int) as ordinal", f"{NO_WORDS} as tags")
        sources = work.facts.groupBy(*NAME, "field").agg(F.expr("min(first) as first"), F.expr("max(last) as last"))
        sources = sources.selectExpr(*NAME, "field", *unknown, "first", "last")
        outputs = work.spoken.where("shape is not null and role in ('O', 'D')").select(*NAME, "shape", "first", "last")
        written = work.facts.where("target is not null or is_rows")
        written = written.selectExpr("shape", "if(is_rows, '*', target) as field").distinct()
        targets = outputs.join(written, "shape").selectExpr(*NAME, "field", *unknown, "first", "last")
        named = together(in_schema, sources, targets).where("length(field) > 0")
        return named.join(looked_up(self.placed), list(NAME))

    def _tagged(self, rows: DataFrame) -> DataFrame:
        """The columns with the tags the user's metadata table gives them."""
        told = metadata(self.work.store.spark, self.work.rules)
        if told is None:
            return rows
        said = told.where("column is not null").select(
            *NAME, F.lower("column").alias("key"), F.col("tags").alias("told")
        )
        joined = rows.join(F.broadcast(said.dropDuplicates([*NAME, "key"])), [*NAME, "key"], "left")
        tags = F.array_union("tags", F.coalesce("told", F.array().cast("array<string>")))
        return joined.withColumn("tags", tags).drop("told")


class NoDimensions(Dimensions):
    """Those of a batch that names no dataset."""

    @cached_property
    def found(self) -> Row:
        """No bucket."""
        return Row(buckets=[], gone=False)

    @cached_property
    def placed(self) -> DataFrame:
        """No name."""
        return empty(self.work.store.spark, {"namespace": "string", "name": "string", "dataset_id": "bigint"})


def _words(tags: str) -> str:
    """`{key: PII, value: true}` → `PII`, `{key: domain, value: sales}` → `domain=sales`."""
    plain = "lower(coalesce(t.value, '')) in ('', 'true', 'yes')"
    return f"transform({tags}, t -> if({plain}, t.key, concat_ws('=', t.key, t.value)))"


def write_datasets(dimensions: Dimensions) -> None:
    """Datasets; one that turns out to be another's symlink is merged into it."""
    work, rows = dimensions.work, dimensions.datasets
    known = work.known(DATASETS)
    kept = known.where("merged_into is not null") if work.retells else known
    work.store.replace(DATASETS, kept.join(rows.select("id"), "id", "left_anti").unionByName(rows))


def write_columns(dimensions: Dimensions) -> None:
    """Columns, with those marked that the newest schema no longer has."""
    work, rows = dimensions.work, dimensions.columns.drop("key")
    if work.retells:
        work.store.replace(COLUMNS, rows)
        return
    where = in_buckets(dimensions.buckets)
    touched = dimensions.datasets.selectExpr("id as dataset_id")
    kept = work.known(COLUMNS, where).join(touched, "dataset_id", "left_anti")
    work.store.replace(COLUMNS, kept.unionByName(rows), where)
