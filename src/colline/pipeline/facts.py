"""Lineage facets → facts: one row per input column, output column and way it gets there, whatever the producer's form.

The compact form, the cartesian one, the deprecated `transformationType` and the newer `lineage` facet give the same
facts. A fact without `target` is about which rows there are (`is_rows`), or about a read that writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.naming.normalize_sql import name_of, namespace_of
from colline.pipeline.store import cut, looked_up, together

# subtypes that speak of rows: common to all columns, they belong to the rows even when there is one column only
ROW_SUBTYPES = ("FILTER", "JOIN", "GROUP_BY", "SORT")
USES = ("value", "join", "filter", "group_by", "sort", "window", "conditional")
SOURCE = ("namespace", "name", "field")
EFFECT = ("type", "subtype", "masking", "description")
FACT = ("shape", "target", "is_rows", *SOURCE, *EFFECT)
_OF_COLUMN = "type = 'DIRECT' and not in_rows"
# the key of a fact's target among its dataset's columns: `*` is the rows
TARGET_KEY = "if(is_rows, '*', lower(target))"
# how a column is used by a fact
USE = (
    "case when type = 'DIRECT' then 'value' "
    f"when lower(subtype) in ({', '.join(repr(u) for u in USES)}) then lower(subtype) else 'conditional' end"
)


def facts(told: DataFrame) -> DataFrame:
    """The facts of each shape, from one row per shape with `fields`, `rows`, `namespace`, `name` and `reads`.

    A column's direct input may be there more than once, when a producer says it so; any other fact is there once.
    """
    lined = told.where("not startswith(shape, 'r')")
    each = cut(together(_field_facts(lined), _row_facts(lined)))
    names = _spelled(each)
    direct = each.where(_OF_COLUMN)
    others = cut(names(each.where(f"not ({_OF_COLUMN})")).distinct())
    settled = together(_of_columns(others), _of_rows(others), _of_branches(others, direct, names))
    plain = names(direct).selectExpr(*_fact(is_rows="false"))
    return together(_used(plain), _used(settled.distinct()), _read_facts(told).distinct())


def _spelled(each: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """How facts in reported names become facts in the one spelling of each; those without a name are none.

    Thousands of facts have a dozen names between them, and to spell one takes longer than all else about a fact.
    """
    names = each.select("namespace", "name").distinct()
    names = names.selectExpr("namespace as told_namespace", "name as told_name", f"{namespace_of('namespace')} as ns")
    # what has no name is let go after the cut: Spark would look before, and spell the name of every fact for it
    names = cut(names.selectExpr("*", f"{name_of('ns', 'told_name')} as spelled")).where("length(spelled) > 0")
    same = F.expr("namespace <=> told_namespace and name = told_name")
    columns = {name: name for name in each.columns} | {"namespace": "ns", "name": "spelled"}
    return lambda facts: facts.join(looked_up(names), same).selectExpr(*(f"{v} as {k}" for k, v in columns.items()))


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
    rows = each.selectExpr(
        "shape",
        "width",
        f"{target} as target",
        "i.namespace",
        "i.name",
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


def _of_columns(others: DataFrame) -> DataFrame:
    """INDIRECT facts of columns; one that all columns have belongs to the rows."""
    of_rows = ", ".join(f"'{subtype}'" for subtype in ROW_SUBTYPES)
    same = ", ".join(("shape", *SOURCE, *EFFECT))
    counted = others.where("not in_rows").selectExpr("*", f"count(*) over (partition by {same}) as columns")
    common = f"columns = width and (width > 1 or subtype in ({of_rows}))"
    return counted.selectExpr("*", f"{common} as is_rows").selectExpr(*_fact(target="if(is_rows, null, target)"))


def _of_rows(others: DataFrame) -> DataFrame:
    """INDIRECT entries of the `dataset` list."""
    return others.where("in_rows and type = 'INDIRECT'").selectExpr(*_fact(is_rows="true"))


def _of_branches(others: DataFrame, direct: DataFrame, names: Callable[[DataFrame], DataFrame]) -> DataFrame:
    """DIRECT entries of the `dataset` list: one repeats what a column says, or stands for the rows of its branch."""
    branches = others.where("in_rows and type = 'DIRECT'")
    told = names(direct.join(looked_up(branches.select("shape").distinct()), "shape", "left_semi"))
    alone = branches.join(told, ["shape", *SOURCE], "left_anti")
    return alone.selectExpr(*_fact(is_rows="true", type="'INDIRECT'", subtype="'FILTER'"))


def _fact(**changed: str) -> list[str]:
    """The columns of a fact, some of them as told here; SQL."""
    return [f"{changed.get(name, name)} as {name}" for name in FACT]


def _used(each: DataFrame) -> DataFrame:
    return each.selectExpr("*", f"{USE} as use")


def _read_facts(shapes: DataFrame) -> DataFrame:
    """Columns read by a query that writes nothing, as the `colline_columnsRead` facet tells them."""
    read = shapes.where("startswith(shape, 'r')").selectExpr("shape", "namespace", "name", "explode(reads) as r")
    used = read.selectExpr("*", "explode(coalesce(r.uses, array('value'))) as u")
    none = "cast(null as string)"
    untold = {"target": none, "type": none, "subtype": none, "masking": "false", "description": "''"}
    return used.selectExpr(*_fact(is_rows="false", field="r.name", **untold), "lower(u) as use")
