"""A dbt project → jobs: the lineage of its models by their SQL, seeds, snapshots, exposures and descriptions."""

from __future__ import annotations

from collections.abc import Iterator

from colline.importers import DBT
from colline.importers.dbt.dbt_manifest import DbtExposure, DbtNode, DbtProject
from colline.importers.definitions import (
    DefinedColumn,
    DefinedDataset,
    DefinedInput,
    DefinedJob,
    DefinedOutput,
    ImportProblem,
)
from colline.importers.table_resolution import TableResolver
from colline.naming.dataset import DatasetKind
from colline.sql_lineage.named_relation import NamedRelation
from colline.sql_lineage.script_lineage import query_lineage
from colline.sql_lineage.script_statements import ScriptError
from colline.sql_lineage.sql_targets import column_lineage
from colline.sql_lineage.table_schema import TableSchema
from colline.trace import ColumnLineage, ColumnRead, ColumnRef, DatasetName, Effect, OpaqueStep, Use
from colline.trace.flow import UNCHANGED, Flow, apply_effect, merge

INTEGRATION = "DBT"
# columns that dbt adds to a snapshot
_SNAPSHOT_COLUMNS = ("dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to", "dbt_is_deleted")
# an opaque model with more edges than this is described by its inputs only
MAX_OPAQUE_EDGES = 5_000


class DbtReader:
    """Reads the nodes of one project, each after those that it depends on."""

    def __init__(self, project: DbtProject, resolver: TableResolver, file: str) -> None:
        self.problems: list[ImportProblem] = []
        self.datasets: dict[str, TableSchema] = {}  # by unique id
        self._project = project
        self._resolver = resolver
        self._file = file

    def jobs(self) -> Iterator[DefinedJob]:
        """The jobs of models, snapshots, seeds and exposures."""
        for node in _sort_by_dependencies(self._project):
            if not node.is_relation:
                continue
            table = self._resolver.find(node.table)
            names = tuple(column.name for column in node.columns) or table.columns
            self.datasets[node.unique_id] = TableSchema(table.name, names)
            self._resolver.define(table.name, names, is_own=node.kind != "source")
            if node.kind != "source":
                yield self._job(node, table)
        for exposure in self._project.exposures:
            yield self._exposure(exposure)

    def sources(self) -> Iterator[DefinedDataset]:
        """The descriptions of tables that other systems load."""
        for node in self._project.nodes.values():
            found = self.datasets.get(node.unique_id)
            is_described = node.description or node.tags or node.owners or node.columns
            if node.kind == "source" and found is not None and is_described:
                yield _dataset_of(node, found.name, node.columns)

    def _job(self, node: DbtNode, table: TableSchema) -> DefinedJob:
        lineage, steps = self._lineage(node)
        columns = node.columns
        if not columns and lineage is not None:
            columns = tuple(DefinedColumn(name) for name in lineage.fields)
            self._resolver.define(table.name, tuple(lineage.fields))
            self.datasets[node.unique_id] = TableSchema(table.name, tuple(lineage.fields))
        inputs = (self.datasets[each].name for each in node.depends_on if each in self.datasets)
        return DefinedJob(
            DBT,
            f"{node.package}.{node.name}",
            INTEGRATION,
            node.kind.upper(),
            outputs=(DefinedOutput(_dataset_of(node, table.name, columns), lineage),),
            inputs=tuple(DefinedInput(DefinedDataset(name)) for name in inputs),
            opaque=steps,
            sql=node.sql,
            dialect=self._project.dialect,
            description=node.description,
            owners=node.owners,
            tags=node.tags,
            path=node.path,
        )

    def _lineage(self, node: DbtNode) -> tuple[ColumnLineage | None, tuple[OpaqueStep, ...]]:
        """The lineage of a node, and why it is not complete."""
        if node.kind == "seed":
            return ColumnLineage({column.name: () for column in node.columns}), ()
        if node.language != "sql":
            return self._opaque(node, f"a model in {node.language}")
        if not node.sql:
            return self._opaque(node, "the manifest has no compiled SQL: run `dbt compile`")
        try:
            found = query_lineage(node.sql, self._project.dialect, self._resolver)
        except ScriptError as error:
            return self._opaque(node, f"its SQL could not be read: {error.message}", error.line)
        for problem in found.problems:
            self._report(node, problem)
        steps = tuple(OpaqueStep("SQL", node.path, problem) for problem in found.problems)
        return self._with_spelling(node, found.relation), steps

    def _with_spelling(self, node: DbtNode, relation: NamedRelation) -> ColumnLineage:
        """The columns of a query, spelled as in the database; dbt adds some to a snapshot."""
        spelled = {column.name.lower(): column.name for column in node.columns}
        flows: dict[str, Flow] = {}
        for name, flow in relation.columns:
            flows.setdefault(spelled.get(name.lower(), name), flow)
        for column in node.columns if relation.is_open else ():
            if column.name not in flows and column.name.lower() not in _SNAPSHOT_COLUMNS:
                flows[column.name] = relation.find(column.name) or Flow()
        return column_lineage(flows, relation.row_dependencies)

    def _opaque(self, node: DbtNode, why: str, line: int = 1) -> tuple[ColumnLineage | None, tuple[OpaqueStep, ...]]:
        """Every column may depend on every column of the inputs."""
        self._report(node, why, line)
        inputs = [self.datasets[each] for each in node.depends_on if each in self.datasets]
        columns = [ColumnRef(table.name, name) for table in inputs for name in table.columns]
        step = OpaqueStep(node.language, node.path or node.name, why)
        if not node.columns or not columns or len(node.columns) * len(columns) > MAX_OPAQUE_EDGES:
            return None, (step,)
        found = apply_effect(merge({column: UNCHANGED} for column in columns), Effect.TRANSFORMATION)
        return column_lineage({column.name: Flow(found) for column in node.columns}, {}), (step,)

    def _report(self, node: DbtNode, message: str, line: int = 1) -> None:
        self.problems.append(ImportProblem(node.path or self._file, line, f"{node.name}: {message}"))

    def _exposure(self, exposure: DbtExposure) -> DefinedJob:
        """A dashboard reads models. Which of their columns it reads is not known, so all of them are inputs."""
        tables = [self.datasets[each] for each in exposure.depends_on if each in self.datasets]
        inputs = tuple(
            DefinedInput(DefinedDataset(table.name), tuple(ColumnRead(name, (Use.VALUE,)) for name in table.columns))
            for table in tables
        )
        return DefinedJob(
            DBT,
            f"{exposure.package}.exposures.{exposure.name}",
            INTEGRATION,
            exposure.kind.upper(),
            inputs=inputs,
            opaque=(OpaqueStep(exposure.kind, exposure.name, "which columns it uses is not known"),),
            description=exposure.description,
            owners=exposure.owners,
            tags=exposure.tags,
            path=exposure.path,
        )


def _dataset_of(node: DbtNode, name: DatasetName, columns: tuple[DefinedColumn, ...]) -> DefinedDataset:
    kind = DatasetKind.VIEW if node.materialized in {"view", "materialized_view"} else DatasetKind.TABLE
    return DefinedDataset(name, kind, columns, node.description, node.owners, node.tags)


def _sort_by_dependencies(project: DbtProject) -> list[DbtNode]:
    """The nodes, each after those that it depends on; a cycle keeps the order of the manifest."""
    done: dict[str, DbtNode] = {}
    for first in project.nodes.values():
        waiting, seen = [first], {first.unique_id}
        while waiting:
            node = waiting[-1]
            others = (project.nodes[each] for each in node.depends_on if each in project.nodes)
            unread = [each for each in others if each.unique_id not in done and each.unique_id not in seen]
            seen.update(each.unique_id for each in unread)
            waiting += unread
            if not unread:
                done[waiting.pop().unique_id] = node
    return list(done.values())
