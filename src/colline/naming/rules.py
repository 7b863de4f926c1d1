"""Names the datasets of a source. `RULES` are tried in order; the first one that applies decides.

Packages add rules under the entry point group `colline.datasets`: a callable that takes a `Source` and a `NameContext`
and returns a `NamedDataset`, several of them in a tuple, or None. Rules of packages are tried first. A rule that raises
is logged once and skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib.metadata import entry_points

from colline.naming.catalog_tables import names_of_table, path_in_identifier
from colline.naming.dataset import DatasetKind, NameContext, NamedDataset
from colline.naming.file_paths import names_of_paths
from colline.naming.jdbc import names_of_jdbc
from colline.naming.partitions import without_version
from colline.naming.stores import name_in_store, names_of_kafka
from colline.plan.source import Source, SourceKind
from colline.terminal_text import get_logger
from colline.trace import DatasetName

log = get_logger("colline")

Rule = Callable[[Source, NameContext], "NamedDataset | tuple[NamedDataset, ...] | None"]
ENTRY_POINTS = "colline.datasets"
IN_MEMORY = "inmemory://"
# classes of Spark's streaming sources that generate their rows → format
GENERATORS = {"RateStreamTable": "rate", "RatePerMicroBatchTable": "rate-micro-batch"}


def _by_path_identifier(source: Source, context: NameContext) -> tuple[NamedDataset, ...] | None:
    path = path_in_identifier(source)
    return _files((without_version(path),), context) if path else None


def _by_kafka(source: Source, context: NameContext) -> tuple[NamedDataset, ...] | None:
    is_kafka = source.kind is SourceKind.KAFKA or source.provider.lower() == "kafka"
    return names_of_kafka(source, context) if is_kafka else None


def _by_python_source(source: Source, _context: NameContext) -> NamedDataset | None:
    """`spark.read.format("crm").option("region", "eu")` → crm?region=eu"""
    if source.kind is not SourceKind.PYTHON:
        return None
    options = "&".join(f"{key}={_without_user(value)}" for key, value in sorted(source.options))
    return NamedDataset(DatasetName("python", f"{source.provider}?{options}" if options else source.provider))


def _without_user(value: str) -> str:
    """`https://user:password@host/x?key=1` → `https://host/x`"""
    return re.sub(r"(?<=//)[^/@]*@", "", value.split("?", 1)[0] if "://" in value else value)


def _by_store(source: Source, _context: NameContext) -> NamedDataset | None:
    return name_in_store(source)


def _by_jdbc(source: Source, context: NameContext) -> tuple[NamedDataset, ...] | None:
    url = source.option("url") or ""
    return names_of_jdbc(source, context) if url.lower().startswith("jdbc:") else None


def _by_table(source: Source, context: NameContext) -> tuple[NamedDataset, ...] | None:
    return names_of_table(source, context) if source.table else None


def _by_path(source: Source, context: NameContext) -> tuple[NamedDataset, ...] | None:
    paths = source.paths or tuple(path for path in [source.option("path")] if path)
    return _files(tuple(without_version(path) for path in paths), context) if paths else None


def _by_generator(source: Source, _context: NameContext) -> NamedDataset | None:
    """`spark.readStream.format("rate")` → rate"""
    name = GENERATORS.get(source.provider.rpartition(".")[2])
    return NamedDataset(DatasetName(IN_MEMORY, name)) if name else None


def _by_kind(source: Source, _context: NameContext) -> NamedDataset:
    """A source without an address: local data, or a provider without a rule."""
    if source.kind is SourceKind.LOCAL:
        return NamedDataset(DatasetName(IN_MEMORY, source.provider or "local data"))
    return NamedDataset(DatasetName("unknown", source.provider or source.kind.value))


# rules of particular stores before general ones; tables before paths, because a table has both
RULES: tuple[Rule, ...] = (
    _by_path_identifier,  # delta.`/data/t`
    _by_python_source,  # crm?region=eu
    _by_kafka,  # topics
    _by_store,  # bigquery, snowflake, cosmos, …
    _by_jdbc,  # jdbc:…
    _by_table,  # session catalog, Hive, Delta, Iceberg, views
    _by_path,  # files and folders
    _by_generator,  # rate
    _by_kind,
)


def identify(source: Source, context: NameContext) -> NamedDataset:
    """The dataset of a source, or the first one if it has several."""
    return identify_all(source, context)[0]


@lru_cache(maxsize=4096)
def identify_all(source: Source, context: NameContext) -> tuple[NamedDataset, ...]:
    """The datasets of a source: several if it has several folders or topics, or a JDBC query with several tables.

    Cached, because tracing and every event name the same few sources again.
    """
    for rule in (*plugin_rules(), *RULES):
        found = _apply_rule(rule, source, context)
        if found:
            return found
    return (_by_kind(source, context),)


def _files(paths: Iterable[str], context: NameContext) -> tuple[NamedDataset, ...]:
    return tuple(NamedDataset(name, kind=DatasetKind.FILE) for name in names_of_paths(tuple(paths), context))


def _apply_rule(rule: Rule, source: Source, context: NameContext) -> tuple[NamedDataset, ...]:
    """The datasets that a rule returns; empty if it does not apply or raises."""
    try:
        found = rule(source, context)
    except Exception as error:  # noqa: BLE001 - a rule of another package may raise anything
        _warn_rule_failed(rule, type(error).__name__)
        return ()
    return (found,) if isinstance(found, NamedDataset) else tuple(found or ())


@lru_cache(maxsize=128)
def _warn_rule_failed(rule: Rule, error: str) -> None:
    name = getattr(rule, "__qualname__", repr(rule))
    log.warning(
        "naming rule %s raised %s and was skipped\nhint: test it with colline.naming.rules.identify", name, error
    )


@lru_cache(maxsize=1)
def plugin_rules() -> tuple[Rule, ...]:
    """The rules that packages registered, ordered by name."""
    found: list[Rule] = []
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name):
        try:
            found.append(entry.load())
        except Exception as error:  # noqa: BLE001 - a broken package must not prevent naming
            log.warning("naming rule %s cannot be loaded: %s", entry.name, error)
    return tuple(found)
