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
    """The rules in a settings value; what is wrong with them is told with its place."""
    try:
        rules = msgspec.convert(given or {}, Rules)
        for pattern in _patterns(rules):
            re.compile(pattern)
    except msgspec.ValidationError as error:
        raise SettingError(f"rules: {error}", hint="see docs/guides/extend-naming-and-rules.md") from error
    except re.error as error:
        raise SettingError(
            f"rules: pattern {error.pattern!r} is no regular expression: {error}",
            hint="see docs/guides/extend-naming-and-rules.md",
        ) from error
    return rules


def _patterns(rules: Rules) -> list[str]:
    columns = [part for rule in rules.columns for part in (rule.column, rule.dataset)]
    return [*(rule.pattern for rule in rules.datasets), *(rule.pattern for rule in rules.jobs), *columns]


def quoted(text: str) -> str:
    """The text as a SQL literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# a dataset's address, as patterns see it
ADDRESS = "if(namespace = 'file', name, concat(namespace, '/', regexp_replace(name, '^/+', '')))"


def renamed(rows: DataFrame, rules: Rules) -> DataFrame:
    """The rows with `namespace` and `name` as the rules have them."""
    if not rules.datasets and not rules.hosts:
        return rows
    others = [f"`{name}`" for name in rows.columns if name not in {"namespace", "name"}]
    placed = rows.selectExpr(*others, f"{_hosted('namespace', rules.hosts)} as namespace", "name")
    names, spaces = [], []
    for rule in rules.datasets:
        fits = f"{ADDRESS} rlike {quoted(rule.pattern)}"
        found = f"regexp_extract({ADDRESS}, {quoted(rule.pattern)}, 0)"
        name = (
            f"regexp_replace({found}, {quoted(rule.pattern)}, {quoted(rule.name)})" if rule.name is not None else "name"
        )
        names.append(f"when {fits} then {name}")
        spaces.append(f"when {fits} then {quoted(rule.namespace) if rule.namespace else 'namespace'}")
    if not names:
        return placed
    return placed.selectExpr(
        *others,
        f"case {' '.join(spaces)} else namespace end as namespace",
        f"case {' '.join(names)} else name end as name",
    )


def _hosted(namespace: str, hosts: tuple[HostRule, ...]) -> str:
    def one(text: str, rule: HostRule) -> str:
        each = "|".join(re.escape(host) for host in rule.hosts)
        name = rule.name.replace("\\", "\\\\").replace("$", r"\$")
        return f"regexp_replace({text}, {quoted(rf'(?<=://)({each})(:[0-9]+)?(?=$|/)')}, {quoted(name)})"

    return reduce(one, hosts, namespace)


def job_name(name: str, rules: Rules) -> str:
    """A job's name as the rules have it; SQL of SQL."""
    return reduce(
        lambda text, rule: f"regexp_replace({text}, {quoted(rule.pattern)}, {quoted(rule.name)})", rules.jobs, name
    )


def word_of(word: str, rules: Rules) -> str:
    """`layer`, `owner` or `domain` that the first fitting rule gives to a reported name; null for none."""
    given = [(rule.pattern, getattr(rule, word)) for rule in rules.datasets if getattr(rule, word) is not None]
    if not given:
        return "cast(null as string)"
    at = ADDRESS.replace("namespace", _hosted("namespace", rules.hosts))
    cases = " ".join(f"when {at} rlike {quoted(pattern)} then {quoted(value)}" for pattern, value in given)
    return f"case {cases} end"


def tags_of(rules: Rules) -> str:
    """Tags that the rules give to a column `field` of `namespace`, `name`."""
    none = "cast(array() as array<string>)"
    each = [
        f"if(field rlike {quoted(f'(?i)^({rule.column})$')} and {ADDRESS} rlike {quoted(rule.dataset)},"
        f" array({', '.join(quoted(tag) for tag in rule.tags)}), {none})"
        for rule in rules.columns
        if rule.tags
    ]
    return f"concat({', '.join([none, *each])})"


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
