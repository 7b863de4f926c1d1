"""A semantic model → the lineage of its tables: columns, calculated columns, measures and hierarchies.

Columns of a partition lead to the columns of its source, calculated ones and measures to other fields of the model.
What cannot be resolved is listed, never dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from colline.semantic_models.dax.dax_expressions import DaxLineage, bracketed_names, table_lineage, value_lineage
from colline.semantic_models.dax.dax_scope import DaxFindings, DaxScope
from colline.semantic_models.dax.dax_tokens import without_comments
from colline.semantic_models.model_names import ModelNames
from colline.semantic_models.semantic_model import (
    Expression,
    FilePosition,
    Hierarchy,
    Measure,
    ModelColumn,
    ModelProblem,
    ModelTable,
    Partition,
    SemanticModel,
)
from colline.sql_lineage.named_relation import NamedRelation, union_by_name
from colline.trace import ColumnLineage, ColumnRef, DatasetName, Effect
from colline.trace.flow import (
    EMPTY_FLOW,
    NO_DEPENDENCIES,
    UNCHANGED,
    Dependencies,
    Flow,
    apply_effect,
    dependency_entries,
    merge,
    truncate,
)

MEASURE_TYPE = "measure"
HIERARCHY_TYPE = "hierarchy"
CALCULATED = "calculated"


@dataclass(frozen=True)
class PartitionLineage:
    """The relation that a partition reads, the datasets behind it, and what could not be read."""

    relation: NamedRelation
    inputs: tuple[DatasetName, ...] = ()
    problems: tuple[ModelProblem, ...] = ()


ReadPartition = Callable[[Partition, SemanticModel], PartitionLineage]


@dataclass(frozen=True)
class FieldDefinition:
    """A column, measure or hierarchy of a table, for the schema of its dataset."""

    name: str
    type: str
    description: str = ""


@dataclass(frozen=True)
class TableLineage:
    """A table of a model as a dataset, with the lineage of its fields."""

    dataset: DatasetName
    table: ModelTable
    fields: tuple[FieldDefinition, ...]
    lineage: ColumnLineage
    inputs: tuple[DatasetName, ...] = ()
    gaps: tuple[ModelProblem, ...] = ()  # references without a target, and parts that cannot be analyzed


@dataclass
class ModelLineage:
    """The tables of a model with their lineage."""

    tables: list[TableLineage] = field(default_factory=list)

    @property
    def gaps(self) -> tuple[ModelProblem, ...]:
        """What is not known about the tables."""
        return tuple(gap for table in self.tables for gap in table.gaps)


def model_lineage(model: SemanticModel, namespace: str, read_partition: ReadPartition) -> ModelLineage:
    """The lineage of every table. `read_partition` reads M, SQL and entities; DAX is read here."""
    reader = _ModelReader(model, ModelNames(model, namespace), read_partition)
    reader.read_measures()
    for table in model.tables:
        reader.read_table(table)
    return reader.found


class _ModelReader:
    """Reads the tables of one model."""

    def __init__(self, model: SemanticModel, names: ModelNames, read_partition: ReadPartition) -> None:
        self.found = ModelLineage()
        self._gaps: list[ModelProblem] = []  # of the table that is read
        self._model = model
        self._names = names
        self._read_partition = read_partition
        self._measures: dict[ColumnRef, DaxLineage] = {}
        self._measure_tables: dict[ColumnRef, frozenset[str]] = {}
        self._expressions = {
            ColumnRef(self._names.dataset(table.name), measure.name): (table, measure.expression)
            for table in model.tables
            for measure in table.measures
        }

    def read_measures(self) -> None:
        """Read every measure after those that it refers to, so that a long chain of them needs no deep recursion."""
        done: set[ColumnRef] = set()
        for first in self._expressions:
            waiting = [first]
            while waiting:
                measure = waiting[-1]
                others = [] if measure in done else self._measures_in(measure)
                done.add(measure)
                unread = [each for each in others if each not in done]
                waiting += unread
                if not unread:
                    self._tables_behind(waiting.pop())

    def _measures_in(self, measure: ColumnRef) -> list[ColumnRef]:
        """The measures that an expression names."""
        found = (self._names.measure(name) for name in bracketed_names(self._expressions[measure][1].text))
        return [each for each in found if each is not None]

    def read_table(self, table: ModelTable) -> None:
        """Add the lineage of a table."""
        self._gaps = []
        source, inputs = self._source(table)
        flows: dict[str, Flow] = {}
        for column in table.columns:
            flows[column.name] = self._column_flow(table, column, source)
        for measure in table.measures:
            flows[measure.name] = self._measure_flow(table, measure)
        for hierarchy in table.hierarchies:
            flows[hierarchy.name] = Flow(self._levels(table, hierarchy))
        self._check_relationships(table)
        rows = merge((source.row_dependencies, *self._role_filters(table), *self._calculation_items(table)))
        fields = {name: dependency_entries(flow.dependencies, flow.description) for name, flow in flows.items()}
        columns = ColumnLineage(fields=fields, dataset=dependency_entries(rows))
        dataset = self._names.dataset(table.name)
        gaps = tuple(dict.fromkeys(self._gaps))
        self.found.tables.append(TableLineage(dataset, table, tuple(_fields(table)), columns, inputs, gaps))

    def _scope(self, table: ModelTable, *, has_rows: bool) -> DaxScope:
        scope = DaxScope(self._names, DaxFindings(), self._tables_behind, home=table.name)
        return scope.for_rows(scope.base_table(table)) if has_rows else scope

    def _source(self, table: ModelTable) -> tuple[NamedRelation, tuple[DatasetName, ...]]:
        """What all partitions of a table read."""
        relations: list[NamedRelation] = []
        inputs: dict[DatasetName, None] = {}
        for partition in table.partitions:
            if partition.kind.lower() == CALCULATED and partition.expression is not None:
                found = table_lineage(partition.expression, self._scope(table, has_rows=False))
                self._report(table.name, partition.expression, found)
                relations += [found.table.relation] if found.table is not None else []
                continue
            read = self._read_partition(partition, self._model)
            self._gaps += read.problems
            inputs.update(dict.fromkeys(read.inputs))
            relations.append(read.relation)
        return (union_by_name(relations) if relations else NamedRelation()), tuple(inputs)

    def _column_flow(self, table: ModelTable, column: ModelColumn, source: NamedRelation) -> Flow:
        flow = self._unsorted_flow(table, column, source)
        if not column.sort_by:
            return flow
        sort = apply_effect(self._own_field(table, column.sort_by, column.position), Effect.SORT)
        return Flow(merge((flow.dependencies, sort)), text=flow.text, description=flow.description)

    def _unsorted_flow(self, table: ModelTable, column: ModelColumn, source: NamedRelation) -> Flow:
        if column.expression is not None:
            lineage = value_lineage(column.expression, self._scope(table, has_rows=True))
            return self._report(f"{table.name}[{column.name}]", column.expression, lineage)
        name = _source_name(column)
        found = source.find(name)
        if found is None and table.partitions and source.columns:
            message = f"{table.name}[{column.name}]: the source has no column `{name}`"
            self._gaps.append(ModelProblem(column.position, message))
        return found or EMPTY_FLOW

    def _own_field(self, table: ModelTable, name: str, position: FilePosition) -> Dependencies:
        """A column of the table itself; one that does not exist is reported."""
        found = self._names.field(table.name, name)
        if found is None:
            self._gaps.append(ModelProblem(position, f"the model has no '{table.name}'[{name}]"))
            return NO_DEPENDENCIES
        return {found: UNCHANGED}

    def _levels(self, table: ModelTable, hierarchy: Hierarchy) -> Dependencies:
        return merge(self._own_field(table, column, hierarchy.position) for column in hierarchy.columns)

    def _check_relationships(self, table: ModelTable) -> None:
        """Report the keys of relationships from a table that do not exist: no filter passes through these."""
        for each in self._model.relationships:
            if each.from_table.lower() == table.name.lower():
                for end in ((each.from_table, each.from_column), (each.to_table, each.to_column)):
                    if self._names.field(*end) is None:
                        message = f"a relationship: the model has no '{end[0]}'[{end[1]}]"
                        self._gaps.append(ModelProblem(each.position, message))

    def _measure_flow(self, table: ModelTable, measure: Measure) -> Flow:
        """What a measure depends on. Its format, KPI and detail rows decide how its value is shown: CONDITIONAL."""
        what = f"{table.name}[{measure.name}]"
        lineage = self._measure_lineage(ColumnRef(self._names.dataset(table.name), measure.name))
        flow = self._report(what, measure.expression, lineage)
        found = [flow.dependencies]
        for detail in measure.details:
            shown = value_lineage(detail, self._scope(table, has_rows=False))
            self._report(what, detail, shown)
            found.append(apply_effect(shown.dependencies, Effect.CONDITIONAL, text=without_comments(detail.text)))
        return Flow(merge(found), text=flow.text, description=flow.description)

    def _measure_lineage(self, measure: ColumnRef) -> DaxLineage:
        if measure not in self._measures:
            table, expression = self._expressions[measure]
            self._measures[measure] = value_lineage(expression, self._scope(table, has_rows=False))
        return self._measures[measure]

    def _tables_behind(self, measure: ColumnRef) -> frozenset[str]:
        """The tables whose columns a measure reads, through other measures too; a cycle adds nothing."""
        if measure not in self._measure_tables:
            self._measure_tables[measure] = frozenset()
            found: set[str] = set()
            for column in self._measure_lineage(measure).dependencies:
                table = self._names.table_of(column)
                found |= self._tables_behind(column) if self._names.is_measure(column) else {table}
            self._measure_tables[measure] = frozenset(found)
        return self._measure_tables[measure]

    def _report(self, what: str, expression: Expression, lineage: DaxLineage) -> Flow:
        """The flow of an expression; what could not be resolved in it is added to the findings."""
        problems = (*lineage.unresolved, *lineage.opaque)
        self._gaps += (ModelProblem(each.position, f"{what}: {each.message}") for each in problems)
        text = truncate(without_comments(expression.text))
        return Flow(lineage.dependencies, text=text, description=text)

    def _role_filters(self, table: ModelTable) -> Iterator[Dependencies]:
        """The columns by which roles restrict the rows of a table."""
        for each in self._model.role_filters:
            if each.table.lower() == table.name.lower():
                lineage = value_lineage(each.expression, self._scope(table, has_rows=True))
                self._report(f"role {each.role}", each.expression, lineage)
                yield apply_effect(lineage.dependencies, Effect.FILTER, text=without_comments(each.expression.text))

    def _calculation_items(self, table: ModelTable) -> Iterator[Dependencies]:
        """A calculation group changes measures that are not known: its expressions decide which values come out."""
        for item in table.calculation_items:
            lineage = value_lineage(item.expression, self._scope(table, has_rows=False))
            self._report(f"calculation item {table.name}[{item.name}]", item.expression, lineage)
            yield apply_effect(lineage.dependencies, Effect.CONDITIONAL)


def _source_name(column: ModelColumn) -> str:
    """`Amount`; for a calculated table `[Amount]` or `Sales[Amount]`."""
    name = column.source_column or column.name
    return name[name.index("[") + 1 : -1] if name.endswith("]") and "[" in name else name


def _fields(table: ModelTable) -> Iterator[FieldDefinition]:
    for column in table.columns:
        yield FieldDefinition(column.name, column.data_type, column.description)
    for measure in table.measures:
        yield FieldDefinition(measure.name, MEASURE_TYPE, measure.description)
    for hierarchy in table.hierarchies:
        yield FieldDefinition(hierarchy.name, HIERARCHY_TYPE, hierarchy.description)
