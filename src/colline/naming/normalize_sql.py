"""One name for a dataset, whoever reports it, as SQL: the same rules as `events.names`, in Spark."""

from __future__ import annotations

from functools import reduce

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


def _applied(sql: str, rules: tuple[tuple[str, str], ...]) -> str:
    """The text after every rule. Most names are spelled right: one look tells, and each rule would copy the name."""
    each = reduce(lambda text, rule: f"regexp_replace({text}, r'{rule[0]}', r'{rule[1]}')", rules, sql)
    return f"if({sql} rlike r'{'|'.join(pattern for pattern, _ in rules)}', {each}, {sql})"


def namespace_of(namespace: str) -> str:
    """The namespace in its one spelling; SQL of SQL."""
    return _applied(f"coalesce({namespace}, '')", NAMESPACE_RULES)


def name_of(namespace: str, name: str) -> str:
    """The name in its one spelling; `namespace` is spelled already."""
    path = _applied(name, PATH_RULES)
    bare = f"regexp_replace({path}, r'^/+|/+$', '')"
    return (
        f"case when {namespace} rlike r'{BARE}' then {bare} when {namespace} rlike r'{PATHS}' then {path}"
        f" else trim({name}) end"
    )


def field_key(field: str) -> str:
    """What tells two columns of one dataset apart: Spark and SQL do not look at case."""
    return f"lower({field})"
