"""A source's one name, whoever reports it. `RULES` is the whole knowledge, tried in order; the first that fits names.

Third parties add rules through the entry point group `colline.datasets`: a callable that takes a `Source` and a
`NameContext` and returns a `Named`, a tuple of them, or None to pass. Theirs are asked first. One that raises is
logged once and passed over.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib.metadata import entry_points

from colline.naming.catalog_tables import names_of_table, path_in_identifier
from colline.naming.dataset import DatasetKind, NameContext, Named
from colline.naming.file_paths import names_of_paths
from colline.naming.jdbc import names_of_jdbc
from colline.naming.partitions import without_version
from colline.naming.stores import named_in_store, names_of_kafka
from colline.plan.source import Source, SourceKind
from colline.trace import DatasetName

log = logging.getLogger("colline")

Rule = Callable[[Source, NameContext], "Named | tuple[Named, ...] | None"]
ENTRY_POINTS = "colline.datasets"


def _by_path_identifier(source: Source, context: NameContext) -> tuple[Named, ...] | None:
    path = path_in_identifier(source)
    return _files((without_version(path),), context) if path else None


def _by_kafka(source: Source, context: NameContext) -> tuple[Named, ...] | None:
    is_kafka = source.kind is SourceKind.KAFKA or source.provider.lower() == "kafka"
    return names_of_kafka(source, context) if is_kafka else None


def _by_store(source: Source, _context: NameContext) -> Named | None:
    return named_in_store(source)


def _by_jdbc(source: Source, context: NameContext) -> tuple[Named, ...] | None:
    url = source.option("url") or ""
    return names_of_jdbc(source, context) if url.lower().startswith("jdbc:") else None


def _by_table(source: Source, context: NameContext) -> tuple[Named, ...] | None:
    return names_of_table(source, context) if source.table else None


def _by_path(source: Source, context: NameContext) -> tuple[Named, ...] | None:
    paths = source.paths or tuple(path for path in [source.option("path")] if path)
    return _files(tuple(without_version(path) for path in paths), context) if paths else None


def _by_kind(source: Source, _context: NameContext) -> Named:
    """What has no address: data made in the query itself, or a provider nobody has a rule for."""
    if source.kind is SourceKind.LOCAL:
        return Named(DatasetName("inmemory://", source.provider or "local data"))
    return Named(DatasetName("unknown", source.provider or source.kind.value))


# semantics: a store's own rule before the general ones, a table before the paths it is made of
RULES: tuple[Rule, ...] = (
    _by_path_identifier,  # delta.`/data/t`
    _by_kafka,  # topics
    _by_store,  # bigquery, snowflake, cosmos, …
    _by_jdbc,  # jdbc:…
    _by_table,  # session catalog, Hive, Delta, Iceberg, views
    _by_path,  # files and folders
    _by_kind,
)


def identify(source: Source, context: NameContext) -> Named:
    """The dataset a source is; of several, the first."""
    return identify_all(source, context)[0]


@lru_cache(maxsize=4096)
def identify_all(source: Source, context: NameContext) -> tuple[Named, ...]:
    """Every dataset a source is: more than one for several folders, topics, or tables of a JDBC query.

    Remembered, because tracing and every event ask again for the same few sources.
    """
    for rule in (*extensions(), *RULES):
        found = _asked(rule, source, context)
        if found:
            return found
    return (_by_kind(source, context),)


def _files(paths: Iterable[str], context: NameContext) -> tuple[Named, ...]:
    return tuple(Named(name, kind=DatasetKind.FILE) for name in names_of_paths(tuple(paths), context))


def _asked(rule: Rule, source: Source, context: NameContext) -> tuple[Named, ...]:
    """The rule's answer as a tuple; a rule that raises, ours or a stranger's, has none."""
    try:
        found = rule(source, context)
    except Exception as error:  # noqa: BLE001 - a stranger's rule may raise anything and must not cost the event
        _say_rule_failed(rule, type(error).__name__)
        return ()
    return (found,) if isinstance(found, Named) else tuple(found or ())


@lru_cache(maxsize=128)
def _say_rule_failed(rule: Rule, error: str) -> None:
    name = getattr(rule, "__qualname__", repr(rule))
    log.warning(
        "naming rule %s raised %s and was passed over\nhint: test it with colline.naming.rules.identify", name, error
    )


@lru_cache(maxsize=1)
def extensions() -> tuple[Rule, ...]:
    """The rules other packages registered, in the order of their names."""
    found: list[Rule] = []
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name):
        try:
            found.append(entry.load())
        except Exception as error:  # noqa: BLE001 - a broken package must not cost the naming of everything else
            log.warning("naming rule %s cannot be loaded: %s", entry.name, error)
    return tuple(found)
