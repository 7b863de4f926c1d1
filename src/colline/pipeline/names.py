"""One name for a dataset, whoever reports it, as column expressions: the same rules as `events.names`, in Spark."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

# namespace: pattern → replacement, applied in order
NAMESPACE_RULES: tuple[tuple[str, str], ...] = (
    (r"^\s+|\s+$", ""),
    (r"://[^/@]*:[^/@]*@", "://"),  # user:password@
    (r"^s3[an]://", "s3://"),
    (r"^abfs://", "abfss://"),
    (r"^wasb://", "wasbs://"),
    (r"^file:/*$", "file"),
    (r"^file://localhost$", "file"),
    (r"(?<=[^/:])/+$", ""),
)
# namespaces whose names are paths
PATHS = r"^(file$|file:|s3://|gs://|abfss://|wasbs://|hdfs:|dbfs|viewfs:|oss://|cosn://)"
# namespaces whose names have no slash at either end
BARE = r"^(s3|gs|abfss|wasbs)://"
_DATE = r"(19|20)\d{2}-?(0[1-9]|1[0-2])(-?(0[1-9]|[12]\d|3[01]))?"
# name of a path: pattern → replacement, applied in order
PATH_RULES: tuple[tuple[str, str], ...] = (
    (r"\?[^/?*=]+=.*$", ""),  # query parameters may be secrets
    (r"(?<=[^/])/+$", ""),
    (r"(?<=.)/part-[0-9mr][^/]*$", ""),
    (r"(?<=.)(/[^/=]+=[^/]*)+(/[^/]+\.[A-Za-z0-9]+)?$", ""),  # key=value folders and the file in them
    (rf"(?<=.)/{_DATE}$", ""),
    (r"(?<=.)/(19|20)\d{2}/(0[1-9]|1[0-2])(/(0[1-9]|[12]\d|3[01]))?$", ""),
)


def _applied(column: Column, rules: tuple[tuple[str, str], ...]) -> Column:
    return reduce(lambda text, rule: F.regexp_replace(text, rule[0], rule[1]), rules, column)


def namespace_of(namespace: Column) -> Column:
    """The namespace in its one spelling."""
    return _applied(F.coalesce(namespace, F.lit("")), NAMESPACE_RULES)


def name_of(namespace: Column, name: Column) -> Column:
    """The name in its one spelling; `namespace` is spelled already."""
    path = _applied(name, PATH_RULES)
    bare = F.when(namespace.rlike(BARE), F.regexp_replace(path, "^/+|/+$", "")).otherwise(path)
    return F.when(namespace.rlike(PATHS), bare).otherwise(F.trim(name))


def field_key(field: Column) -> Column:
    """What tells two columns of one dataset apart: Spark and SQL do not look at case."""
    return F.lower(field)
