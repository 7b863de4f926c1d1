"""SQL files → jobs: what each script, view or procedure writes, with the lineage of its columns.

Files may define tables that other files read: they are read again until no more columns become known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from colline.importers.dbt.dbt_files import project_folders
from colline.importers.definitions import (
    DefinedColumn,
    DefinedDataset,
    DefinedInput,
    DefinedJob,
    DefinedOutput,
    Definitions,
    ImportProblem,
)
from colline.importers.file_tree import FileTree
from colline.importers.table_resolution import TableResolver
from colline.naming.dataset import DatasetKind
from colline.sql_lineage.script_lineage import ScriptLineage, script_lineage
from colline.sql_lineage.sql_targets import SqlWrite, TableComment
from colline.trace import ColumnLineage, DatasetName, Dependency, OpaqueStep

NAMESPACE = "sql"
INTEGRATION = "SQL"
MAX_PASSES = 5
_KINDS = {"TABLE": DatasetKind.TABLE, "VIEW": DatasetKind.VIEW}


@dataclass(frozen=True)
class SqlFile:
    """A file with its lineage."""

    file: str
    text: str
    lineage: ScriptLineage


def read_sql_files(tree: FileTree, resolver: TableResolver, dialect: str) -> Definitions:
    """The scripts below a path, without those of dbt projects."""
    texts = {file: text for file in _sql_files(tree) if (text := tree.text(file)) is not None}
    files = _read(texts, resolver, dialect)
    comments = [comment for each in files for comment in each.lineage.comments]
    described = _Descriptions(comments)
    jobs = [job for each in files for job in _jobs(each, dialect, described)]
    written = {output.dataset.name for job in jobs for output in job.outputs}
    return Definitions(
        tuple(jobs),
        tuple(_tables(files, described, written)),
        tuple(_problems(files)),
        files=len(files),
    )


def _sql_files(tree: FileTree) -> Iterator[str]:
    projects = project_folders(tree)
    for file in tree.ending(".sql", ".ddl", ".pls", ".prc", ".hql"):
        if not any(file.startswith(f"{folder}/") or not folder for folder in projects):
            yield file


def _read(texts: dict[str, str], resolver: TableResolver, dialect: str) -> list[SqlFile]:
    """The lineage of each file. A file is read again if the columns of a table that it reads became known."""
    files: dict[str, SqlFile] = {}
    columns: dict[DatasetName, tuple[str, ...]] = {}
    waiting = list(texts)
    for _ in range(MAX_PASSES):
        for file in waiting:
            files[file] = SqlFile(file, texts[file], script_lineage(texts[file], dialect, resolver))
        changed = {
            write.target: names
            for file in waiting
            for write in files[file].lineage.writes
            if (names := _names(write)) and columns.get(write.target) != names
        }
        columns |= changed
        for name, names in changed.items():
            resolver.define(name, names)
        waiting = [file for file in texts if not changed.keys().isdisjoint(files[file].lineage.inputs)]
    return list(files.values())


def _names(write: SqlWrite) -> tuple[str, ...]:
    """The columns of a table that a statement creates."""
    return tuple(column.name for column in write.columns) if write.kind is not None else ()


class _Descriptions:
    """What COMMENT ON gives to tables and columns."""

    def __init__(self, comments: Iterable[TableComment]) -> None:
        self._texts = {(comment.table, comment.column.lower()): comment.text for comment in comments}

    def text(self, table: DatasetName, column: str = "") -> str:
        """The description of a table, or of one of its columns."""
        return self._texts.get((table, column.lower()), "")


def _jobs(file: SqlFile, dialect: str, described: _Descriptions) -> Iterator[DefinedJob]:
    """One job per procedure, and one for the rest of a file."""
    writes: dict[str, list[SqlWrite]] = {}
    for write in file.lineage.writes:
        if write.lineage is not None:
            writes.setdefault(write.procedure, []).append(write)
    problems: dict[str, list[OpaqueStep]] = {}
    for problem in file.lineage.problems:
        step = OpaqueStep("SQL", f"{file.file}", problem.message)
        problems.setdefault(problem.procedure, []).append(step)
    for procedure in dict.fromkeys((*writes, *problems)):
        found = writes.get(procedure, [])
        inputs = dict.fromkeys(name for write in found for name in write.inputs)
        yield DefinedJob(
            NAMESPACE,
            procedure or file.file,
            INTEGRATION,
            "PROCEDURE" if procedure else "SCRIPT",
            outputs=tuple(_outputs(found, described)),
            inputs=tuple(DefinedInput(DefinedDataset(name)) for name in inputs),
            opaque=tuple(problems.get(procedure, ())),
            sql="\n".join(f"{write.sql};" for write in found) if procedure else file.text,
            dialect=dialect,
            path=file.file,
        )


def _outputs(writes: list[SqlWrite], described: _Descriptions) -> Iterator[DefinedOutput]:
    """One output per table; several statements that write to it are one lineage."""
    by_target: dict[DatasetName, list[SqlWrite]] = {}
    for write in writes:
        by_target.setdefault(write.target, []).append(write)
    for target, found in by_target.items():
        created = next((write for write in found if write.kind is not None), None)
        dataset = _dataset(created, described) if created is not None else DefinedDataset(target)
        yield DefinedOutput(dataset, _unite([write.lineage for write in found if write.lineage is not None]))


def _dataset(write: SqlWrite, described: _Descriptions) -> DefinedDataset:
    columns = tuple(
        DefinedColumn(each.name, each.type, each.description or described.text(write.target, each.name))
        for each in write.columns
    )
    kind = _KINDS[write.kind] if write.kind is not None else None
    return DefinedDataset(write.target, kind, columns, write.description or described.text(write.target))


def _unite(lineages: list[ColumnLineage]) -> ColumnLineage:
    """The lineage of several statements that write to the same table."""
    fields: dict[str, list[Dependency]] = {}
    spelled: dict[str, str] = {}
    for lineage in lineages:
        for name, entries in lineage.fields.items():
            fields.setdefault(spelled.setdefault(name.lower(), name), []).extend(entries)
    rows = [entry for lineage in lineages for entry in lineage.dataset]
    return ColumnLineage({name: _merge(entries) for name, entries in fields.items()}, _merge(rows))


def _merge(entries: list[Dependency]) -> tuple[Dependency, ...]:
    """One entry per input column."""
    found: dict[object, Dependency] = {}
    for entry in entries:
        known = found.get(entry.column)
        steps = (*known.transformations, *entry.transformations) if known is not None else entry.transformations
        found[entry.column] = Dependency(entry.column, tuple(sorted(dict.fromkeys(steps))))
    return tuple(found.values())


def _tables(files: list[SqlFile], described: _Descriptions, written: set[DatasetName]) -> Iterator[DefinedDataset]:
    """Tables that DDL defines and no statement fills."""
    for file in files:
        for write in file.lineage.writes:
            if write.lineage is None and write.target not in written:
                yield _dataset(write, described)


def _problems(files: list[SqlFile]) -> Iterator[ImportProblem]:
    for file in files:
        for problem in file.lineage.problems:
            where = f"{problem.procedure}: " if problem.procedure else ""
            yield ImportProblem(file.file, problem.line, f"{where}{problem.message}")
