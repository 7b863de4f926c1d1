"""Rules that a user gives: what paths, hosts and jobs are called, who owns them, which columns have which tags.

They come from `[rules]` in `colline.toml`, are applied on ingest, and to history by `colline rebuild`.
"""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from colline.errors import SettingError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


class DatasetRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`pattern` is searched in the dataset's address (`/data/x`, `s3://bucket/x`); `$1` in `name` is its group 1."""

    pattern: str
    namespace: str | None = None
    name: str | None = None
    layer: str | None = None
    owner: str | None = None
    domain: str | None = None


class HostRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Hosts (with or without port) that are one logical place."""

    hosts: tuple[str, ...]
    name: str


class JobRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `pattern` finds in a job's name becomes `name`."""

    pattern: str
    name: str


class ColumnRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tags of the columns whose name is `column` (a pattern, without case) in datasets where `dataset` is found."""

    column: str
    tags: tuple[str, ...]
    dataset: str = ""


class Rules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All rules; the first that fits a dataset counts."""

    datasets: tuple[DatasetRule, ...] = ()
    hosts: tuple[HostRule, ...] = ()
    jobs: tuple[JobRule, ...] = ()
    columns: tuple[ColumnRule, ...] = ()
    metadata: str | None = None  # a Delta table or CSV: namespace, name, column, layer, owner, domain, tags


def rules_of(given: Any) -> Rules:
    """The rules in a settings value; what is wrong with them is told with its place."""
    try:
        rules = msgspec.convert(given or {}, Rules)
        for pattern in _patterns(rules):
            re.compile(pattern)
    except msgspec.ValidationError as error:
        raise SettingError(f"rules: {error}", hint="see docs/pipeline.md") from error
    except re.error as error:
        raise SettingError(f"rules: pattern {error.pattern!r} is no regular expression: {error}") from error
    return rules


def _patterns(rules: Rules) -> list[str]:
    columns = [part for rule in rules.columns for part in (rule.column, rule.dataset)]
    return [*(rule.pattern for rule in rules.datasets), *(rule.pattern for rule in rules.jobs), *columns]


def address(namespace: Column, name: Column) -> Column:
    """A dataset's address, as patterns see it."""
    from pyspark.sql import functions as F

    joined = F.concat(namespace, F.lit("/"), F.regexp_replace(name, "^/+", ""))
    return F.when(namespace == "file", name).otherwise(joined)


def renamed(rows: DataFrame, rules: Rules) -> DataFrame:
    """The rows with `namespace` and `name` as the rules have them."""
    from pyspark.sql import functions as F

    if not rules.datasets and not rules.hosts:
        return rows
    namespace = _hosted(F.col("namespace"), rules.hosts)
    placed = rows.withColumn("namespace", namespace)
    at = address(F.col("namespace"), F.col("name"))
    name, space = F.col("name"), F.col("namespace")
    for rule in reversed(rules.datasets):
        fits = at.rlike(rule.pattern)
        if rule.name is not None:
            whole = F.regexp_extract(at, rule.pattern, 0)
            name = F.when(fits, F.regexp_replace(whole, rule.pattern, rule.name)).otherwise(name)
        else:
            name = F.when(fits, F.col("name")).otherwise(name)
        space = F.when(fits, F.lit(rule.namespace) if rule.namespace else F.col("namespace")).otherwise(space)
    return placed.withColumns({"name": name, "namespace": space})


def _hosted(namespace: Column, hosts: tuple[HostRule, ...]) -> Column:
    from pyspark.sql import functions as F

    def one(text: Column, rule: HostRule) -> Column:
        each = "|".join(re.escape(host) for host in rule.hosts)
        return F.regexp_replace(text, rf"(?<=://)({each})(:\d+)?(?=$|/)", rule.name.replace("$", r"\$"))

    return reduce(one, hosts, namespace)


def job_name(name: Column, rules: Rules) -> Column:
    """A job's name as the rules have it."""
    from pyspark.sql import functions as F

    return reduce(lambda text, rule: F.regexp_replace(text, rule.pattern, rule.name), rules.jobs, name)


def word_of(word: str, rules: Rules) -> Column:
    """`layer`, `owner` or `domain` that the first fitting rule gives to a reported name; null for none."""
    from pyspark.sql import functions as F

    at = address(_hosted(F.col("namespace"), rules.hosts), F.col("name"))
    found = F.lit(None).cast("string")
    for rule in reversed(rules.datasets):
        if getattr(rule, word) is not None:
            found = F.when(at.rlike(rule.pattern), F.lit(getattr(rule, word))).otherwise(found)
    return found


def tags_of(field: Column, rules: Rules) -> Column:
    """Tags that the rules give to a column of `namespace`, `name`."""
    from pyspark.sql import functions as F

    at = address(F.col("namespace"), F.col("name"))
    none = F.array().cast("array<string>")
    found = none
    for rule in rules.columns:
        fits = field.rlike(f"(?i)^({rule.column})$") & at.rlike(rule.dataset)
        found = F.concat(found, F.when(fits, F.array(*(F.lit(tag) for tag in rule.tags))).otherwise(none))
    return found


def metadata(spark: SparkSession, rules: Rules) -> DataFrame | None:
    """The user's table of datasets and columns, `tags` as an array; None when there is none."""
    from pyspark.sql import functions as F

    if rules.metadata is None:
        return None
    path = rules.metadata
    rows = (
        spark.read.option("header", "true").csv(path)
        if path.endswith(".csv")
        else spark.read.format("delta").load(path)
    )
    names = ("namespace", "name", "column", "layer", "owner", "domain", "tags")
    columns = [F.col(n) if n in rows.columns else F.lit(None).cast("string").alias(n) for n in names]
    tags = F.filter(F.transform(F.split("tags", "[;,]"), F.trim), lambda t: F.length(t) > 0)
    split = tags if dict(rows.dtypes).get("tags", "string") == "string" else F.col("tags")
    return rows.select(*columns).withColumn("tags", F.coalesce(split, F.array().cast("array<string>")))
