"""The sources of a model's partitions: M expressions, native queries, and the tables of Direct Lake."""

from __future__ import annotations

from dataclasses import replace

from colline.semantic_models.model_lineage import PartitionLineage

# their functions are registered when the modules are imported
from colline.semantic_models.power_query import m_source_steps, m_table_steps  # noqa: F401
from colline.semantic_models.power_query.m_connectors import entity_address
from colline.semantic_models.power_query.m_evaluation import MEvaluator
from colline.semantic_models.power_query.m_values import SourcePlace, TableValue
from colline.semantic_models.semantic_model import (
    DataSource,
    EntitySource,
    Expression,
    ModelProblem,
    Partition,
    SemanticModel,
)
from colline.semantic_models.source_address import SourceLookup
from colline.sql_lineage.named_relation import NamedRelation, table_relation

_NO_ROWS = frozenset(("none", "inferred", "calculationgroup", "parent", ""))


class PartitionSources:
    """Reads the partitions of one model. Shared expressions are evaluated once."""

    def __init__(self, model: SemanticModel, sources: SourceLookup) -> None:
        self._model = model
        self._sources = sources
        self._evaluator = MEvaluator(model.expressions, sources)

    def read(self, partition: Partition, _model: SemanticModel) -> PartitionLineage:
        """The relation that a partition reads."""
        if partition.entity is not None:
            return self._entity(partition.entity)
        if partition.expression is None:
            is_empty = partition.kind.lower() in _NO_ROWS
            message = f"the partition {partition.name} of the kind {partition.kind or 'unknown'} has no expression"
            return PartitionLineage(
                NamedRelation(), problems=() if is_empty else (ModelProblem(partition.position, message),)
            )
        if partition.kind.lower() == "query":
            return self._query(partition, partition.expression)
        self._evaluator.begin()
        return self._lineage_of(self._evaluator.table(partition.expression))

    def _lineage_of(self, table: TableValue) -> PartitionLineage:
        findings = self._evaluator.findings
        return PartitionLineage(table.relation, tuple(findings.inputs), tuple(findings.problems))

    def _entity(self, entity: EntitySource) -> PartitionLineage:
        """`entityName: daily_revenue` of the source that `expressionSource` connects to."""
        self._evaluator.begin()
        expression = self._model.expressions.get(entity.expression_name)
        place = self._evaluator.value(expression) if expression is not None else None
        address = entity_address(place if isinstance(place, SourcePlace) else None, entity.schema, entity.entity)
        found = self._sources.find_source(address)
        return PartitionLineage(table_relation(found), (found.name,), tuple(self._evaluator.findings.problems))

    def _query(self, partition: Partition, query: Expression) -> PartitionLineage:
        """A SQL query over a data source of the model, as M with the same meaning."""
        source = self._model.data_sources.get(partition.data_source, DataSource(""))
        server, database = source_server(source)
        text = f'Value.NativeQuery(Sql.Database("{_escape(server)}", "{_escape(database)}"), "{_escape(query.text)}")'
        self._evaluator.begin()
        return self._lineage_of(self._evaluator.table(replace(query, text=text)))


def source_server(source: DataSource) -> tuple[str, str]:
    """The server and the database of a data source, from its address or its connection string."""
    if source.properties:
        return source.properties.get("server", ""), source.properties.get("database", "")
    pairs = (pair.partition("=") for pair in source.connection.split(";"))
    values = {key.strip().lower(): value.strip() for key, _, value in pairs}
    server = values.get("data source") or values.get("server") or ""
    return server, values.get("initial catalog") or values.get("database") or ""


def _escape(text: str) -> str:
    return text.replace('"', '""')
