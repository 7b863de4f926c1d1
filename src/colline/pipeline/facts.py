"""Lineage facets → facts: one row per input column, output column and way it gets there, whatever the producer's form.

The compact form, the cartesian one, the deprecated `transformationType` and the newer `lineage` facet give the same
facts. A fact without `target` is about which rows there are (`is_rows`), or about a read that writes nothing.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from colline.pipeline.names import field_key, name_of, namespace_of
from colline.pipeline.store import cut

# subtypes that speak of rows: common to all columns, they belong to the rows even when there is one column only
ROW_SUBTYPES = ("FILTER", "JOIN", "GROUP_BY", "SORT")
USES = ("value", "join", "filter", "group_by", "sort", "window", "conditional")
SOURCE = ("namespace", "name", "field")
EFFECT = ("type", "subtype", "masking", "description")
FACT = ("shape", "target", "is_rows", *SOURCE, *EFFECT)


def facts(told: DataFrame) -> DataFrame:
    """Distinct facts per shape, from rows with `shape`, `fields`, `rows`, `namespace`, `name` and `reads`."""
    shapes = cut(told.where(F.col("shape").isNotNull()).dropDuplicates(["shape"]))
    by_field = cut(_compacted(cut(_field_facts(shapes))))
    by_rows = cut(_row_facts(shapes, by_field))
    written = by_field.unionByName(by_rows).withColumn("use", use_of(F.col("type"), F.col("subtype")))
    read = _read_facts(shapes)
    return written.unionByName(read.select(*written.columns)).distinct()


def _effect(t: Column, legacy_type: Column, legacy_text: Column) -> list[Column]:
    """An input's effect; a missing one is the weakest claim: DIRECT TRANSFORMATION, or INDIRECT CONDITIONAL."""
    kind = F.coalesce(F.upper(F.trim(t.type)), F.lit("DIRECT"))
    legacy = F.when(F.upper(legacy_type) == "IDENTITY", "IDENTITY").otherwise("TRANSFORMATION")
    guess = F.when(kind == "DIRECT", legacy).otherwise("CONDITIONAL")
    masks = F.coalesce(F.lower(t.masking) == "true", F.upper(legacy_type) == "MASKED", F.lit(False))
    return [
        F.when(kind == "INDIRECT", kind).otherwise("DIRECT").alias("type"),
        F.coalesce(F.upper(F.trim(t.subtype)), guess).alias("subtype"),
        masks.alias("masking"),
        F.coalesce(t.description, legacy_text, F.lit("")).alias("description"),
    ]


def _source(i: Column) -> list[Column]:
    namespace = namespace_of(i.namespace)
    return [namespace.alias("namespace"), name_of(namespace, i["name"]).alias("name"), F.trim(i.field).alias("field")]


def _field_facts(shapes: DataFrame) -> DataFrame:
    v = F.col("v")
    inputs = shapes.select("shape", F.size("fields").alias("width"), F.explode("fields").alias("target", "v")).select(
        "shape",
        "width",
        "target",
        v.transformationType.alias("legacy_type"),
        v.transformationDescription.alias("legacy_text"),
        F.explode(F.coalesce(v.inputFields, v.inputs)).alias("i"),
    )
    each = inputs.withColumn("t", F.explode_outer("i.transformations"))
    effect = _effect(F.col("t"), F.col("legacy_type"), F.col("legacy_text"))
    told = each.select("shape", "width", F.trim("target").alias("target"), *_source(F.col("i")), *effect)
    return told.where((F.length("field") > 0) & (F.length("name") > 0) & (F.length("target") > 0)).distinct()


def _compacted(by_field: DataFrame) -> DataFrame:
    """The facts with every INDIRECT one that is common to all columns moved to the rows."""
    same = Window.partitionBy("shape", *SOURCE, *EFFECT)
    common = (F.col("type") == "INDIRECT") & (F.count("*").over(same) == F.col("width"))
    moved = common & ((F.col("width") > 1) | F.col("subtype").isin(*ROW_SUBTYPES))
    return (
        by_field.withColumn("is_rows", moved)
        .withColumn("target", F.when(~F.col("is_rows"), F.col("target")))
        .select(*FACT)
        .distinct()
    )


def _row_facts(shapes: DataFrame, by_field: DataFrame) -> DataFrame:
    """Entries of the `dataset` list. A DIRECT one repeats what a column says, or stands for the rows of its branch."""
    inputs = shapes.select("shape", F.explode("rows").alias("i"))
    each = inputs.withColumn("t", F.explode_outer("i.transformations"))
    none = F.lit(None).cast("string")
    told = each.select("shape", *_source(F.col("i")), *_effect(F.col("t"), none, none))
    named = told.where((F.length("field") > 0) & (F.length("name") > 0))
    direct = by_field.where(F.col("type") == "DIRECT").select("shape", *SOURCE).distinct()
    kept = named.where(F.col("type") == "INDIRECT").unionByName(
        named.where(F.col("type") == "DIRECT")
        .join(direct, ["shape", *SOURCE], "left_anti")
        .withColumn("type", F.lit("INDIRECT"))
        .withColumn("subtype", F.lit("FILTER"))
    )
    return kept.withColumn("target", none).withColumn("is_rows", F.lit(True)).select(*FACT).distinct()


def _read_facts(shapes: DataFrame) -> DataFrame:
    """Columns read by a query that writes nothing, as the `colline_columnsRead` facet tells them."""
    none = F.lit(None).cast("string")
    read = shapes.where(F.col("shape").startswith("r")).select(
        "shape", "namespace", F.col("name").alias("dataset_name"), F.explode("reads").alias("r")
    )
    return read.select(
        "shape",
        none.alias("target"),
        F.lit(False).alias("is_rows"),
        "namespace",
        F.col("dataset_name").alias("name"),
        F.col("r")["name"].alias("field"),
        none.alias("type"),
        none.alias("subtype"),
        F.lit(False).alias("masking"),
        F.lit("").alias("description"),
        F.explode(F.coalesce(F.col("r").uses, F.array(F.lit("value")))).alias("use"),
    ).withColumn("use", F.lower("use"))


def use_of(kind: Column, subtype: Column) -> Column:
    """How a column is used by a fact."""
    lower = F.lower(subtype)
    return F.when(kind == "DIRECT", F.lit("value")).when(lower.isin(*USES), lower).otherwise(F.lit("conditional"))


def target_key(target: Column, is_rows: Column) -> Column:
    """The key of a fact's target among its dataset's columns: `*` is the rows."""
    return F.when(is_rows, F.lit("*")).otherwise(field_key(target))
