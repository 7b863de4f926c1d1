"""TMDL objects → semantic model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from colline.semantic_models.semantic_model import (
    KPI_EXPRESSIONS,
    MEASURE_DETAILS,
    POLICY_RANGE,
    CalculationItem,
    DataSource,
    EntitySource,
    Expression,
    FilePosition,
    Hierarchy,
    Measure,
    ModelColumn,
    ModelProblem,
    ModelTable,
    Partition,
    Relationship,
    RoleFilter,
    SemanticModel,
)
from colline.semantic_models.tmdl.tmdl_objects import TmdlObject, read_objects, split_names

# objects that wrap others in a script
_SCRIPT_COMMANDS = frozenset(("createorreplace", "create", "alter"))


def tmdl_model(name: str, files: Mapping[str, str]) -> tuple[SemanticModel, list[ModelProblem]]:
    """The model of a TMDL folder, from the text of each file, and what could not be read."""
    objects: list[tuple[str, TmdlObject]] = []
    problems: list[ModelProblem] = []
    for file, text in sorted(files.items()):
        root, found = read_objects(text, file)
        problems += found
        objects += ((file, each) for each in _unwrap_scripts(root.children))
    builder = _ModelBuilder(problems)
    for file, each in objects:
        builder.add(each, file)
    return builder.model(name), problems


def _unwrap_scripts(objects: Iterable[TmdlObject]) -> list[TmdlObject]:
    """The objects of a file; those inside `createOrReplace` or `model` are objects of the model, too."""
    found: list[TmdlObject] = []
    for each in objects:
        keyword = each.keyword.lower()
        if keyword in _SCRIPT_COMMANDS or keyword == "database":
            found += [each, *_unwrap_scripts(each.children)]
        elif keyword == "model":
            found += [each, *(child for child in each.children if child.children or child.is_expression)]
        else:
            found.append(each)
    return found


class _ModelBuilder:
    """Collects the objects of all files."""

    def __init__(self, problems: list[ModelProblem]) -> None:
        self._problems = problems
        self._tables: dict[str, ModelTable] = {}
        self._relationships: list[Relationship] = []
        self._role_filters: list[RoleFilter] = []
        self._expressions: dict[str, Expression] = {}
        self._functions: dict[str, Expression] = {}
        self._data_sources: dict[str, DataSource] = {}
        self._description = ""
        self._adders = {
            "table": self._add_table,
            "relationship": self._add_relationship,
            "role": self._add_role,
            "expression": self._add_expression,
            "function": self._add_function,
            "datasource": self._add_data_source,
            "model": self._add_model,
        }

    def add(self, found: TmdlObject, file: str) -> None:
        """Add an object; cultures, perspectives and annotations have no lineage."""
        adder = self._adders.get(found.keyword.lower())
        if adder is not None:
            adder(found, file)

    def model(self, name: str) -> SemanticModel:
        """The model of what was added."""
        return SemanticModel(
            name=name,
            tables=tuple(self._tables.values()),
            relationships=tuple(self._relationships),
            role_filters=tuple(self._role_filters),
            expressions=MappingProxyType(self._expressions),
            functions=MappingProxyType(self._functions),
            data_sources=MappingProxyType(self._data_sources),
            description=self._description,
        )

    def _add_model(self, found: TmdlObject, _file: str) -> None:
        self._description = found.description or found.text("description")

    def _add_table(self, found: TmdlObject, file: str) -> None:
        table = model_table(found, file)
        if not table.name:
            self._problems.append(ModelProblem(table.position, "expected a name after `table`"))
            return
        self._tables[table.name] = table

    def _add_relationship(self, found: TmdlObject, file: str) -> None:
        ends = [split_names(found.text(end)) for end in ("fromColumn", "toColumn")]
        position = FilePosition(file, found.line)
        if any(len(end) != 2 for end in ends):
            expected = "expected `fromColumn: Table.Column` and `toColumn: Table.Column`"
            self._problems.append(ModelProblem(position, expected))
            return
        is_active = found.text("isActive").lower() != "false"
        (from_table, from_column), (to_table, to_column) = ends
        self._relationships.append(Relationship(from_table, from_column, to_table, to_column, is_active, position))

    def _add_role(self, found: TmdlObject, file: str) -> None:
        for permission in found.all("tablePermission"):
            expression = _expression(permission, file)
            if expression is not None:
                self._role_filters.append(RoleFilter(found.name, permission.name, expression))

    def _add_expression(self, found: TmdlObject, file: str) -> None:
        expression = _expression(found, file)
        if expression is not None:
            self._expressions[found.name] = expression

    def _add_function(self, found: TmdlObject, file: str) -> None:
        expression = _expression(found, file)
        if expression is not None:
            self._functions[found.name] = expression

    def _add_data_source(self, found: TmdlObject, _file: str) -> None:
        details = found.child("connectionDetails")
        address = details.child("address") if details is not None else None
        properties = {each.keyword: each.value for each in (address.children if address is not None else ())}
        connection = found.text("connectionString")
        self._data_sources[found.name] = DataSource(found.name, connection, MappingProxyType(properties))


def model_table(found: TmdlObject, file: str) -> ModelTable:
    """A table with everything in it."""
    group = found.child("calculationGroup")
    items = [] if group is None else group.all("calculationItem")
    return ModelTable(
        name=found.name,
        columns=tuple(_column(each, file) for each in found.all("column") if each.name),
        measures=tuple(_measure(each, file) for each in found.all("measure") if each.name),
        hierarchies=tuple(
            Hierarchy(
                each.name,
                tuple(level.name_in("column") for level in each.all("level")),
                position=FilePosition(file, each.line),
            )
            for each in found.all("hierarchy")
        ),
        partitions=tuple(_partition(each, found, file) for each in found.all("partition")),
        calculation_items=tuple(
            CalculationItem(each.name, _expression(each, file) or Expression("")) for each in items
        ),
        description=_description(found),
        is_calculation_group=group is not None,
        is_hidden=found.flag("isHidden"),
        position=FilePosition(file, found.line),
    )


def _column(found: TmdlObject, file: str) -> ModelColumn:
    return ModelColumn(
        name=found.name,
        data_type=found.text("dataType"),
        source_column=found.name_in("sourceColumn"),
        expression=_expression(found, file),
        description=_description(found),
        sort_by=found.name_in("sortByColumn"),
        is_hidden=found.flag("isHidden"),
        position=FilePosition(file, found.line),
    )


def _measure(found: TmdlObject, file: str) -> Measure:
    kpi = found.child("kpi")
    details = [found.child(name) for name in MEASURE_DETAILS]
    details += [kpi.child(name) for name in KPI_EXPRESSIONS] if kpi is not None else []
    return Measure(
        name=found.name,
        expression=_expression(found, file) or Expression(""),
        description=_description(found),
        is_hidden=found.flag("isHidden"),
        details=tuple(each for child in details if (each := _expression(child, file)) is not None),
    )


def _partition(found: TmdlObject, table: TmdlObject, file: str) -> Partition:
    source = found.child("source")
    kind = found.value.strip()
    if kind.lower() == POLICY_RANGE:
        policy = table.child("refreshPolicy")
        expression = _expression(policy.child("sourceExpression"), file) if policy is not None else None
        return Partition(found.name, kind, found.text("mode"), expression, position=FilePosition(file, found.line))
    query = source.child("query") if source is not None else None
    entity = None
    if source is not None and source.child("entityName") is not None:
        names = (source.name_in(key) for key in ("entityName", "schemaName", "expressionSource"))
        entity = EntitySource(*names)
    return Partition(
        name=found.name,
        kind=kind,
        mode=found.text("mode"),
        expression=_expression(query, file) if query is not None else _expression(source, file),
        entity=entity,
        data_source=source.name_in("dataSource") if source is not None else "",
        position=FilePosition(file, found.line),
    )


def _expression(found: TmdlObject | None, file: str) -> Expression | None:
    if found is None or not found.value.strip():
        return None
    return Expression(found.value, FilePosition(file, found.value_line))


def _description(found: TmdlObject) -> str:
    return found.description or found.text("description")
