"""The formats that `colline import` reads. To add one: a function, and a row in `FORMATS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from colline.errors import SettingError
from colline.importers import DBT, POWER_BI
from colline.importers.definition_events import lineage_inputs
from colline.importers.definitions import DefinedJob, Definitions, ImportProblem, combine_definitions
from colline.importers.file_tree import FileTree, file_tree
from colline.importers.known_tables import KnownTables
from colline.importers.table_resolution import Resolutions, TableResolver
from colline.trace import OpaqueStep


class NothingToImportError(SettingError):
    """A path without anything that a format can read; `problems` are the files that could not be read."""

    def __init__(self, message: str, *, hint: str, problems: tuple[ImportProblem, ...] = ()) -> None:
        super().__init__(message, hint=hint)
        self.problems = problems


@dataclass(frozen=True)
class ImportOptions:
    """What a user can set. Empty values are the defaults of each format."""

    namespace: str = ""  # of tables that the lake does not know
    dialect: str = ""  # of SQL files, as sqlglot calls it
    formats: tuple[str, ...] = ()  # empty: all


@dataclass(frozen=True)
class ImportFormat:
    """A format: its name, the files it reads, the endings of their names, and the function that reads them."""

    name: str
    files: str
    suffixes: tuple[str, ...]
    read: Callable[[FileTree, TableResolver, ImportOptions], Definitions]


@dataclass(frozen=True)
class ImportResult:
    """What was found below a path, by format, and how the names of tables were resolved."""

    definitions: Definitions
    counts: dict[str, int]
    resolutions: Resolutions


def read_definitions(path: Path, tables: KnownTables, options: ImportOptions) -> ImportResult:
    """Everything that the formats find at a path. An error if no format finds anything."""
    tree = file_tree(path)
    resolver = TableResolver(tables, options.namespace or "database", frozenset((POWER_BI, DBT)))
    parts: dict[str, Definitions] = {}
    for each in FORMATS:
        is_wanted = not options.formats or each.name in options.formats
        if is_wanted and next(tree.ending(*each.suffixes), None) is not None:
            parts[each.name] = _read(each, tree, resolver, options)
    counts = {name: found.files for name, found in parts.items() if found.files}
    if not counts:
        first = islice(tree.problems.problems, 5)
        unread = "; ".join(f"{each.file}, line {each.line}: {each.message}" for each in first)
        message = f"nothing to import in {path}" + (f": {unread}" if unread else "")
        hint = f"expected {'; '.join(each.files for each in FORMATS)}"
        raise NothingToImportError(message, hint=hint, problems=tuple(tree.problems.problems))
    found = _with_ambiguous_names(combine_definitions(parts.values()), resolver.resolutions)
    problems = tuple(dict.fromkeys((*tree.problems.problems, *found.problems)))
    return ImportResult(replace(found, problems=problems), counts, resolver.resolutions)


def _read(each: ImportFormat, tree: FileTree, resolver: TableResolver, options: ImportOptions) -> Definitions:
    try:
        return each.read(tree, resolver, options)
    except ImportError as error:
        raise SettingError(f"the format {each.name} needs {error.name}", hint="pip install 'colline[sql]'") from error


def _with_ambiguous_names(found: Definitions, resolved: Resolutions) -> Definitions:
    """A name that fits several tables is a gap of the jobs that use it."""
    messages = {label: f"{label} fits {', '.join(names)}" for label, names in resolved.ambiguous.items()}
    if not messages:
        return found
    jobs = tuple(_with_gaps(job, messages) for job in found.jobs)
    problems = tuple(ImportProblem("", 1, message) for message in messages.values())
    return replace(found, jobs=jobs, problems=(*found.problems, *problems))


def _with_gaps(job: DefinedJob, messages: dict[str, str]) -> DefinedJob:
    names = {each.dataset.name.name for each in job.inputs}
    names |= {name.name for output in job.outputs for name in lineage_inputs(output.lineage)}
    steps = tuple(OpaqueStep("table", label, message) for label, message in messages.items() if label in names)
    return replace(job, opaque=(*job.opaque, *steps))


def _read_dbt(tree: FileTree, resolver: TableResolver, options: ImportOptions) -> Definitions:
    from colline.importers.dbt.dbt_files import read_dbt

    return read_dbt(tree, resolver, options.namespace)


def _read_sql(tree: FileTree, resolver: TableResolver, options: ImportOptions) -> Definitions:
    from colline.importers.sql_files import read_sql_files

    _check_dialect(options.dialect)
    tables = resolver.in_namespace(options.namespace or options.dialect or "database")
    return read_sql_files(tree, tables, options.dialect)


def _check_dialect(name: str) -> None:
    from sqlglot.dialects import DIALECTS

    known = sorted(each.lower() for each in DIALECTS)
    if name and name.lower() not in known:
        raise SettingError(f"there is no SQL dialect `{name}`", hint=f"use one of {', '.join(known)}")


def _read_unity_catalog(tree: FileTree, resolver: TableResolver, options: ImportOptions) -> Definitions:
    from colline.importers.unity_catalog import NAMESPACE, read_unity_catalog

    namespace = options.namespace or NAMESPACE
    return read_unity_catalog(tree, resolver.in_namespace(namespace), namespace)


def _read_power_bi(tree: FileTree, resolver: TableResolver, _options: ImportOptions) -> Definitions:
    from colline.importers.power_bi import read_power_bi

    return read_power_bi(tree, resolver)


# formats that define tables come before those that only read them
FORMATS: tuple[ImportFormat, ...] = (
    ImportFormat("dbt", "manifest.json (dbt)", ("manifest.json",), _read_dbt),
    ImportFormat("sql", ".sql files", (".sql", ".ddl", ".pls", ".prc", ".hql"), _read_sql),
    ImportFormat(
        "unity-catalog",
        "exports of system.access.column_lineage (CSV, Parquet, Delta)",
        (".csv", ".parquet", "0.json"),
        _read_unity_catalog,
    ),
    ImportFormat(
        "power-bi",
        "TMDL folders, .bim files, PBIP projects (Power BI, Fabric)",
        (".tmdl", ".bim", ".pbir"),
        _read_power_bi,
    ),
)
