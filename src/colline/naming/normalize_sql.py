"""SQL expressions that normalize dataset names of other producers, by the rules of this package."""

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
# namespaces in which a name is a path
PATH_NAMESPACES = r"^(file$|file:|s3://|gs://|abfss://|wasbs://|hdfs:|dbfs|viewfs:|oss://|cosn://)"
# namespaces in which a path has no slash at either end
BUCKET_NAMESPACES = r"^(s3|gs|abfss|wasbs)://"
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


def _apply_rules(sql: str, rules: tuple[tuple[str, str], ...]) -> str:
    """The text after all rules. Most names are normalized already, and one test is cheaper than a copy per rule."""
    replaced = reduce(lambda text, rule: f"regexp_replace({text}, r'{rule[0]}', r'{rule[1]}')", rules, sql)
    return f"if({sql} rlike r'{'|'.join(pattern for pattern, _ in rules)}', {replaced}, {sql})"


def namespace_of(namespace: str) -> str:
    """The SQL of a normalized namespace."""
    return _apply_rules(f"coalesce({namespace}, '')", NAMESPACE_RULES)


def name_of(namespace: str, name: str) -> str:
    """The SQL of a normalized name; `namespace` is normalized already."""
    path = _apply_rules(name, PATH_RULES)
    key = f"regexp_replace({path}, r'^/+|/+$', '')"
    return (
        f"case when {namespace} rlike r'{BUCKET_NAMESPACES}' then {key}"
        f" when {namespace} rlike r'{PATH_NAMESPACES}' then {path} else trim({name}) end"
    )
