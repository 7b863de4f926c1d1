"""Lineage facets → facts: one row per input column, output column and way it gets there, whatever the producer's form.

The compact form, the cartesian one, the deprecated `transformationType` and the newer `lineage` facet give the same
facts. A fact without `target` is about which rows there are (`is_rows`), or about a read that writes nothing.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from colline.pipeline.names import name_of, namespace_of
from colline.pipeline.store import is_small, together

# subtypes that speak of rows: common to all columns, they belong to the rows even when there is one column only
ROW_SUBTYPES = ("FILTER", "JOIN", "GROUP_BY", "SORT")
USES = ("value", "join", "filter", "group_by", "sort", "window", "conditional")
SOURCE = ("namespace", "name", "field")
EFFECT = ("type", "subtype", "masking", "description")
FACT = ("shape", "target", "is_rows", *SOURCE, *EFFECT)
# the key of a fact's target among its dataset's columns: `*` is the rows
TARGET_KEY = "if(is_rows, '*', lower(target))"
# how a column is used by a fact
USE = (
    "case when type = 'DIRECT' then 'value' "
    f"when lower(subtype) in ({', '.join(repr(u) for u in USES)}) then lower(subtype) else 'conditional' end"
)


def facts(told: DataFrame) -> DataFrame:
    """Distinct facts per shape, from one row per shape with `fields`, `rows`, `namespace`, `name` and `reads`."""
    lined = told.where("not startswith(shape, 'r')")
    by_field = _field_facts(lined)
    # one row of `told` holds all of a shape; brought together by shape once, what follows moves nothing
    each = together(by_field, _row_facts(lined))
    each = each if is_small(told.sparkSession) else each.repartition("shape")
    return together(_settled(each.distinct()), _read_facts(told)).distinct()


def _effect(legacy_type: str, legacy_text: str) -> list[str]:
    """The effect of a transformation `t`; a missing one is the weakest claim: TRANSFORMATION, or CONDITIONAL."""
    kind = "coalesce(upper(trim(t.type)), 'DIRECT')"
    guess = f"if({kind} = 'DIRECT', if(upper({legacy_type}) = 'IDENTITY', 'IDENTITY', 'TRANSFORMATION'), 'CONDITIONAL')"
    return [
        f"if({kind} = 'INDIRECT', 'INDIRECT', 'DIRECT') as type",
        f"coalesce(upper(trim(t.subtype)), {guess}) as subtype",
        f"coalesce(lower(t.masking) = 'true', upper({legacy_type}) = 'MASKED', false) as masking",
        f"coalesce(t.description, {legacy_text}, '') as description",
    ]


def _told(inputs: DataFrame, target: str, legacy_type: str, legacy_text: str) -> DataFrame:
    """Input fields `i` of targets, one row per transformation."""
    each = inputs.selectExpr("*", "explode_outer(i.transformations) as t")
    spelled = each.selectExpr("*", f"{namespace_of('i.namespace')} as namespace")
    rows = spelled.selectExpr(
        "shape",
        "width",
        f"{target} as target",
        "namespace",
        f"{name_of('namespace', 'i.name')} as name",
        "trim(i.field) as field",
        *_effect(legacy_type, legacy_text),
        "in_rows",
    )
    return rows.where("length(field) > 0 and length(name) > 0")


def _field_facts(shapes: DataFrame) -> DataFrame:
    fields = shapes.selectExpr("shape", "size(fields) as width", "explode(fields) as (target, v)")
    inputs = fields.selectExpr("*", "explode(coalesce(v.inputFields, v.inputs)) as i", "false as in_rows")
    told = _told(inputs, "trim(target)", "v.transformationType", "v.transformationDescription")
    return told.where("length(target) > 0")


def _row_facts(shapes: DataFrame) -> DataFrame:
    """Entries of the `dataset` list."""
    inputs = shapes.selectExpr("shape", "0 as width", "explode(rows) as i", "true as in_rows")
    none = "cast(null as string)"
    return _told(inputs, none, none, none)


def _settled(each: DataFrame) -> DataFrame:
    """The facts, each in its one place: with its column, or with the rows.

    An INDIRECT fact that all columns have belongs to the rows. A DIRECT entry of the `dataset` list repeats what a
    column says, or stands for the rows of its branch of a UNION.
    """
    source, effect = ", ".join(SOURCE), ", ".join(EFFECT)
    of_rows = ", ".join(f"'{subtype}'" for subtype in ROW_SUBTYPES)
    marked = each.selectExpr(
        "*",
        f"sum(if(in_rows, 0, 1)) over (partition by shape, {source}, {effect}) as columns",
        f"max(type = 'DIRECT' and not in_rows) over (partition by shape, {source}) as told_directly",
        "in_rows and type = 'DIRECT' as branch",
    )
    common = f"type = 'INDIRECT' and columns = width and (width > 1 or subtype in ({of_rows}))"
    placed = marked.where("not (branch and told_directly)").selectExpr("*", f"in_rows or ({common}) as is_rows")
    changed = {
        "target": "if(is_rows, null, target)",
        "type": "if(branch, 'INDIRECT', type)",
        "subtype": "if(branch, 'FILTER', subtype)",
    }
    rows = placed.selectExpr(*(f"{changed.get(name, name)} as {name}" for name in FACT))
    return rows.selectExpr("*", f"{USE} as use")


def _read_facts(shapes: DataFrame) -> DataFrame:
    """Columns read by a query that writes nothing, as the `colline_columnsRead` facet tells them."""
    read = shapes.where("startswith(shape, 'r')").selectExpr("shape", "namespace", "name", "explode(reads) as r")
    used = read.selectExpr("*", "explode(coalesce(r.uses, array('value'))) as u")
    none = "cast(null as string)"
    of = {"target": none, "is_rows": "false", "field": "r.name", "type": none, "subtype": none, "masking": "false"}
    of["description"] = "''"
    return used.selectExpr(*(f"{of.get(name, name)} as {name}" for name in FACT), "lower(u) as use")
