"""The semantic layer of dbt: semantic models with measures and dimensions, and the metrics over them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from colline.importers import DBT
from colline.importers.dbt.dbt_lineage import INTEGRATION
from colline.importers.dbt.dbt_manifest import DbtProject
from colline.importers.definitions import DefinedColumn, DefinedDataset, DefinedJob, DefinedOutput, ImportProblem
from colline.importers.json_values import Json, as_map, as_maps, as_text, as_texts
from colline.sql_lineage.script_lineage import query_lineage
from colline.sql_lineage.script_statements import ScriptError
from colline.sql_lineage.sql_targets import column_lineage
from colline.sql_lineage.table_schema import TableParts, TableSchema
from colline.trace import ColumnRef, DatasetName, Effect
from colline.trace.flow import UNCHANGED, Dependencies, Flow, apply_effect, merge

# aggregation of a measure → SQL with the expression in it
_AGGREGATES = {
    "sum": "sum({0})", "sum_boolean": "sum({0})", "average": "avg({0})", "min": "min({0})", "max": "max({0})",
    "count": "count({0})", "count_distinct": "count(distinct {0})", "median": "median({0})", "percentile": "max({0})",
}  # fmt: skip
_DIMENSION = re.compile(r"(?:Dimension|TimeDimension|Entity)\(\s*['\"](?:\w+__)?(\w+)['\"]")


class MetricReader:
    """Reads the semantic models and metrics of one project."""

    def __init__(self, project: DbtProject, tables: Mapping[str, TableSchema]) -> None:
        self.problems: list[ImportProblem] = []
        self._project = project
        self._tables = tables  # by unique id
        self._measures: dict[str, ColumnRef] = {}
        self._dimensions: dict[str, list[ColumnRef]] = {}
        self._metrics_dataset = DatasetName(DBT, f"{project.name}/metrics")

    def jobs(self) -> Iterator[DefinedJob]:
        """One job per semantic model, and one for all metrics."""
        for model in self._project.semantic_models:
            yield self._semantic_model(model)
        if self._project.metrics:
            yield self._metrics()

    def _semantic_model(self, model: Json) -> DefinedJob:
        name = as_text(model.get("name"))
        dataset = DatasetName(DBT, f"{self._project.name}/{name}")
        source = next((found for each in _depends_on(model) if (found := self._tables.get(each)) is not None), None)
        expressions = dict(_expressions(model))
        flows: dict[str, Flow] = {}
        for field, sql in expressions.items():
            flows[field] = self._flow(name, field, sql, source)
        for measure in as_maps(model.get("measures")):
            self._measures[as_text(measure.get("name"))] = ColumnRef(dataset, as_text(measure.get("name")))
        for dimension in (*as_maps(model.get("dimensions")), *as_maps(model.get("entities"))):
            field = as_text(dimension.get("name"))
            self._dimensions.setdefault(field, []).append(ColumnRef(dataset, field))
        columns = tuple(_defined_columns(model))
        output = DefinedOutput(
            DefinedDataset(dataset, columns=columns, description=as_text(model.get("description"))),
            column_lineage(flows, {}),
        )
        return DefinedJob(
            DBT, f"{self._project.name}.semantic_models.{name}", INTEGRATION, "SEMANTIC_MODEL", outputs=(output,),
            description=as_text(model.get("description")), path=as_text(model.get("original_file_path")),
        )  # fmt: skip

    def _flow(self, model: str, field: str, sql: str, source: TableSchema | None) -> Flow:
        """The flow of an expression over the columns of a model."""
        if source is None:
            return Flow()
        try:
            query = f"select {sql} as value from source_model"  # noqa: S608 - parsed, never run
            found = query_lineage(query, self._project.dialect, _OneTable(source)).relation
        except ScriptError as error:
            self.problems.append(ImportProblem("", 1, f"{model}.{field}: `{sql}` could not be read: {error.message}"))
            return Flow()
        flow = found.flow_at(0)
        return Flow(flow.dependencies, text=sql, description=sql)

    def _metrics(self) -> DefinedJob:
        metrics = {as_text(metric.get("name")): metric for metric in self._project.metrics}
        flows = {name: self._metric_flow(metric, metrics) for name, metric in metrics.items()}
        columns = tuple(
            DefinedColumn(name, "metric", as_text(metric.get("description")), as_texts(metric.get("tags")))
            for name, metric in metrics.items()
        )
        output = DefinedOutput(DefinedDataset(self._metrics_dataset, columns=columns), column_lineage(flows, {}))
        return DefinedJob(
            DBT, f"{self._project.name}.semantic_layer.metrics", INTEGRATION, "METRICS", outputs=(output,)
        )

    def _metric_flow(self, metric: Json, metrics: Mapping[str, Json]) -> Flow:
        return Flow(self._dependencies(metric, metrics), description=_formula(metric))

    def _dependencies(self, metric: Json, metrics: Mapping[str, Json]) -> Dependencies:
        """The measures and metrics of a metric, and the dimensions of its filters."""
        parameters = as_map(metric.get("type_params"))
        conversion = as_map(parameters.get("conversion_type_params"))
        inputs = [parameters.get("numerator"), parameters.get("denominator"), *as_maps(parameters.get("metrics"))]
        measures = [parameters.get("measure"), conversion.get("base_measure"), conversion.get("conversion_measure")]
        if not any(as_map(each) for each in (*inputs, *measures)):
            measures = list(as_maps(parameters.get("input_measures")))
        found = [self._measure(as_map(each)) for each in measures]
        found += [self._metric(as_map(each), metrics) for each in inputs]
        is_simple = as_text(metric.get("type")) == "simple"
        values = merge(found) if is_simple else apply_effect(merge(found), Effect.TRANSFORMATION)
        return merge((values, self._filters(metric)))

    def _measure(self, reference: Json) -> Dependencies:
        column = self._measures.get(as_text(reference.get("name")))
        value = {column: UNCHANGED} if column is not None else {}
        return merge((value, self._filters(reference)))

    def _metric(self, reference: Json, metrics: Mapping[str, Json]) -> Dependencies:
        name = as_text(reference.get("name"))
        value = {ColumnRef(self._metrics_dataset, name): UNCHANGED} if name in metrics else {}
        return merge((value, self._filters(reference)))

    def _filters(self, owner: Json) -> Dependencies:
        """`{{ Dimension('order__status') }} = 'paid'` → status FILTER."""
        clauses = as_maps(as_map(owner.get("filter")).get("where_filters"))
        texts = [as_text(clause.get("where_sql_template")) for clause in clauses]
        columns = [
            column for text in texts for name in _DIMENSION.findall(text) for column in self._dimensions.get(name, ())
        ]
        return apply_effect(merge({column: UNCHANGED} for column in columns), Effect.FILTER, text=" and ".join(texts))


class _OneTable:
    """The model under a semantic model, by any name."""

    def __init__(self, table: TableSchema) -> None:
        self._table = table

    def find(self, _parts: TableParts) -> TableSchema:
        """The model."""
        return self._table


def _depends_on(model: Json) -> tuple[str, ...]:
    return as_texts(as_map(model.get("depends_on")).get("nodes"))


def _expressions(model: Json) -> Iterator[tuple[str, str]]:
    """The SQL of each entity, dimension and measure."""
    for kind in ("entities", "dimensions", "measures"):
        for each in as_maps(model.get(kind)):
            name = as_text(each.get("name"))
            sql = as_text(each.get("expr")) or name
            aggregate = _AGGREGATES.get(as_text(each.get("agg")).lower(), "{0}")
            if name:
                yield name, aggregate.replace("{0}", sql)


def _defined_columns(model: Json) -> Iterator[DefinedColumn]:
    for kind, type_name in (("entities", "entity"), ("dimensions", "dimension"), ("measures", "measure")):
        for each in as_maps(model.get(kind)):
            yield DefinedColumn(as_text(each.get("name")), type_name, as_text(each.get("description")))


def _formula(metric: Json) -> str:
    """The expression of a derived metric, or what kind of metric it is."""
    parameters = as_map(metric.get("type_params"))
    return as_text(parameters.get("expr")) or f"{as_text(metric.get('type')) or 'metric'} metric"
