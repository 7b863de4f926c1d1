"""The rules of `colline.toml`: names of paths, hosts and jobs, layers, owners, domains, and tags of columns.

They are applied to new events by `colline ingest`, and to all events by `colline rebuild`.
"""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from colline.errors import SettingError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


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
    """The rules in a settings value; an error names the place in them."""
    try:
        rules = msgspec.convert(given or {}, Rules)
        for pattern in _patterns(rules):
            re.compile(pattern)
    except msgspec.ValidationError as error:
        raise SettingError(f"rules: {error}", hint="see docs/guides/extend-naming-and-rules.md") from error
    except re.error as error:
        raise SettingError(
            f"rules: pattern {error.pattern!r} is not a regular expression: {error}",
            hint="see docs/guides/extend-naming-and-rules.md",
        ) from error
    return rules


def _patterns(rules: Rules) -> list[str]:
    columns = [part for rule in rules.columns for part in (rule.column, rule.dataset)]
    return [*(rule.pattern for rule in rules.datasets), *(rule.pattern for rule in rules.jobs), *columns]


def sql_literal(text: str) -> str:
    """The text as a SQL literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def address(namespace: str, name: str) -> str:
    """The address of a dataset, in which patterns are searched; SQL."""
    return f"if({namespace} = 'file', {name}, concat({namespace}, '/', regexp_replace({name}, '^/+', '')))"


def apply_dataset_rules(namespace: str, name: str, rules: Rules) -> tuple[str, str]:
    """The namespace and the name of a dataset under the rules; SQL."""
    hosted = _apply_host_rules(namespace, rules.hosts)
    if all(rule.name is None and rule.namespace is None for rule in rules.datasets):
        return hosted, name
    at, names, spaces = address(hosted, name), [], []
    for rule in rules.datasets:
        fits = f"{at} rlike {sql_literal(rule.pattern)}"
        found = f"regexp_extract({at}, {sql_literal(rule.pattern)}, 0)"
        new = (
            f"regexp_replace({found}, {sql_literal(rule.pattern)}, {sql_literal(rule.name)})"
            if rule.name is not None
            else name
        )
        names.append(f"when {fits} then {new}")
        spaces.append(f"when {fits} then {sql_literal(rule.namespace) if rule.namespace else hosted}")
    return f"case {' '.join(spaces)} else {hosted} end", f"case {' '.join(names)} else {name} end"


def _apply_host_rules(namespace: str, hosts: tuple[HostRule, ...]) -> str:
    def one(text: str, rule: HostRule) -> str:
        each = "|".join(re.escape(host) for host in rule.hosts)
        name = rule.name.replace("\\", "\\\\").replace("$", r"\$")
        return f"regexp_replace({text}, {sql_literal(rf'(?<=://)({each})(:[0-9]+)?(?=$|/)')}, {sql_literal(name)})"

    return reduce(one, hosts, namespace)


def apply_job_rules(name: str, rules: Rules) -> str:
    """A job's name under the rules; SQL."""
    return reduce(
        lambda text, rule: f"regexp_replace({text}, {sql_literal(rule.pattern)}, {sql_literal(rule.name)})",
        rules.jobs,
        name,
    )


def attribute_of(word: str, rules: Rules) -> str:
    """`layer`, `owner` or `domain` that the first fitting rule gives to a reported name; null for none."""
    given = [(rule.pattern, getattr(rule, word)) for rule in rules.datasets if getattr(rule, word) is not None]
    if not given:
        return "cast(null as string)"
    at = address(_apply_host_rules("namespace", rules.hosts), "name")
    cases = " ".join(f"when {at} rlike {sql_literal(pattern)} then {sql_literal(value)}" for pattern, value in given)
    return f"case {cases} end"


def tags_of(rules: Rules) -> str:
    """Tags that the rules give to a column `field` of `namespace`, `name`; SQL."""
    at = address("namespace", "name")
    none = "cast(array() as array<string>)"
    each = [
        f"if(field rlike {sql_literal(f'(?i)^({rule.column})$')} and {at} rlike {sql_literal(rule.dataset)},"
        f" array({', '.join(sql_literal(tag) for tag in rule.tags)}), {none})"
        for rule in rules.columns
        if rule.tags
    ]
    return f"concat({', '.join([none, *each])})"


def read_metadata(spark: SparkSession, rules: Rules) -> DataFrame | None:
    """The user's table of datasets and columns, with `tags` as an array; None if the rules name no table."""
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
