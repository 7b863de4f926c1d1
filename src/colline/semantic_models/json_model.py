"""model.bim (TMSL JSON) → semantic model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

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

Json = dict[str, Any]
MAX_JSON_CHARS = 200_000_000
# commands of a script that contain a database
_SCRIPT_COMMANDS = ("createOrReplace", "create", "alter")


def json_model(name: str, text: str, file: str = "model.bim") -> tuple[SemanticModel, list[ModelProblem]]:
    """The model of a model.bim file, and what could not be read."""
    try:
        database = _database(load_json(text))
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        return SemanticModel(name), [ModelProblem(FilePosition(file, line), f"expected JSON: {error}")]
    model = database.get("model")
    if not isinstance(model, dict):
        return SemanticModel(name), [ModelProblem(FilePosition(file), "expected an object with the key `model`")]
    return _Reader(file, text).model(name, model)


def load_json(text: str) -> Any:
    """The value of a JSON text. ValueError if it is not JSON, too long, or nested too deeply."""
    if len(text) > MAX_JSON_CHARS:
        raise ValueError(f"{len(text):,} characters; at most {MAX_JSON_CHARS:,} are read")
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def json_objects(value: Any) -> Iterator[Json]:
    """The objects of a JSON list; anything else is skipped."""
    yield from (each for each in (value if isinstance(value, list) else ()) if isinstance(each, dict))


def json_text(value: Any) -> str:
    """A text, which may be a list of lines."""
    if isinstance(value, list):
        return "\n".join(str(line) for line in value)
    return value if isinstance(value, str) else ""


def _database(loaded: Any) -> Json:
    if not isinstance(loaded, dict):
        raise ValueError("the file is not a JSON object")
    for command in _SCRIPT_COMMANDS:
        inner = loaded.get(command)
        if isinstance(inner, dict) and isinstance(inner.get("database"), dict):
            database: Json = inner["database"]
            return database
    return loaded


class _Reader:
    """Reads the objects of one file. Lines are those at which a name first occurs in the text."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._lines = _NameLines(text)
        self.problems: list[ModelProblem] = []

    def model(self, name: str, model: Json) -> tuple[SemanticModel, list[ModelProblem]]:
        """The model, and what could not be read."""
        found = SemanticModel(
            name=name,
            tables=tuple(self._table(each) for each in self._named_objects(model, "tables")),
            relationships=tuple(self._relationships(model)),
            role_filters=tuple(self._role_filters(model)),
            expressions=MappingProxyType(self._expressions(model, "expressions")),
            functions=MappingProxyType(self._expressions(model, "functions")),
            data_sources=MappingProxyType(
                {each["name"]: _data_source(each) for each in self._named_objects(model, "dataSources")}
            ),
            description=json_text(model.get("description")),
        )
        return found, self.problems

    def _named_objects(self, parent: Json, key: str) -> Iterator[Json]:
        """The objects of a list that have a name; the others are problems."""
        for each in json_objects(parent.get(key)):
            if isinstance(each.get("name"), str) and each["name"]:
                yield each
            else:
                parent_name = parent.get("name") or "the model"
                self.problems.append(
                    ModelProblem(FilePosition(self._file), f"expected a name in `{key}` of {parent_name}")
                )

    def _position(self, name: str) -> FilePosition:
        return FilePosition(self._file, self._lines.line_of(name))

    def _expression(self, value: Any, name: str) -> Expression | None:
        text = json_text(value)
        return Expression(text, self._position(name)) if text.strip() else None

    def _table(self, table: Json) -> ModelTable:
        name = table["name"]
        group = table.get("calculationGroup")
        items = self._named_objects(group, "calculationItems") if isinstance(group, dict) else iter(())
        return ModelTable(
            name=name,
            columns=tuple(
                self._column(each) for each in self._named_objects(table, "columns") if each.get("type") != "rowNumber"
            ),
            measures=tuple(self._measure(each) for each in self._named_objects(table, "measures")),
            hierarchies=tuple(self._hierarchy(each) for each in self._named_objects(table, "hierarchies")),
            partitions=tuple(self._partition(each, table) for each in self._named_objects(table, "partitions")),
            calculation_items=tuple(
                CalculationItem(each["name"], self._expression(each.get("expression"), each["name"]) or Expression(""))
                for each in items
            ),
            description=json_text(table.get("description")),
            is_calculation_group=isinstance(group, dict),
            is_hidden=table.get("isHidden") is True,
            position=self._position(name),
        )

    def _column(self, column: Json) -> ModelColumn:
        return ModelColumn(
            name=column["name"],
            data_type=json_text(column.get("dataType")),
            source_column=json_text(column.get("sourceColumn")),
            expression=self._expression(column.get("expression"), column["name"]),
            description=json_text(column.get("description")),
            sort_by=json_text(column.get("sortByColumn")),
            is_hidden=column.get("isHidden") is True,
            position=self._position(column["name"]),
        )

    def _hierarchy(self, hierarchy: Json) -> Hierarchy:
        levels = sorted(json_objects(hierarchy.get("levels")), key=lambda level: str(level.get("ordinal", "")).zfill(6))
        columns = tuple(json_text(level.get("column")) for level in levels)
        name = hierarchy["name"]
        return Hierarchy(name, columns, json_text(hierarchy.get("description")), self._position(name))

    def _measure(self, measure: Json) -> Measure:
        expression = self._expression(measure.get("expression"), measure["name"])
        description = json_text(measure.get("description"))
        is_hidden = measure.get("isHidden") is True
        return Measure(
            measure["name"], expression or Expression(""), description, is_hidden, tuple(self._details(measure))
        )

    def _details(self, measure: Json) -> Iterator[Expression]:
        kpi = _object(measure, "kpi")
        values = [_object(measure, name).get("expression") for name in MEASURE_DETAILS]
        for value in (*values, *(kpi.get(name) for name in KPI_EXPRESSIONS)):
            expression = self._expression(value, measure["name"])
            if expression is not None:
                yield expression

    def _partition(self, partition: Json, table: Json) -> Partition:
        source = _object(partition, "source")
        kind = json_text(source.get("type"))
        if kind.lower() == POLICY_RANGE:
            source = {"type": kind, "expression": _object(table, "refreshPolicy").get("sourceExpression")}
        entity = None
        if isinstance(source.get("entityName"), str):
            names = (json_text(source.get(key)) for key in ("entityName", "schemaName", "expressionSource"))
            entity = EntitySource(*names)
        return Partition(
            name=partition["name"],
            kind=kind or ("query" if "query" in source else ""),
            mode=json_text(partition.get("mode")),
            expression=self._expression(source.get("expression") or source.get("query"), partition["name"]),
            entity=entity,
            data_source=json_text(source.get("dataSource")),
            position=self._position(partition["name"]),
        )

    def _relationships(self, model: Json) -> Iterator[Relationship]:
        for each in json_objects(model.get("relationships")):
            ends = [json_text(each.get(key)) for key in ("fromTable", "fromColumn", "toTable", "toColumn")]
            position = self._position(json_text(each.get("name")))
            if all(ends):
                is_active = each.get("isActive") is not False
                yield Relationship(ends[0], ends[1], ends[2], ends[3], is_active, position)
            else:
                expected = "expected fromTable, fromColumn, toTable and toColumn in a relationship"
                self.problems.append(ModelProblem(position, expected))

    def _role_filters(self, model: Json) -> Iterator[RoleFilter]:
        for role in self._named_objects(model, "roles"):
            for permission in self._named_objects(role, "tablePermissions"):
                expression = self._expression(permission.get("filterExpression"), role["name"])
                if expression is not None:
                    yield RoleFilter(role["name"], permission["name"], expression)

    def _expressions(self, model: Json, key: str) -> dict[str, Expression]:
        found = (
            (each["name"], self._expression(each.get("expression"), each["name"]))
            for each in self._named_objects(model, key)
        )
        return {name: expression for name, expression in found if expression is not None}


def _object(parent: Json, key: str) -> Json:
    """An object in an object; empty if it is anything else."""
    found = parent.get(key)
    return found if isinstance(found, dict) else {}


def _data_source(source: Json) -> DataSource:
    details = source.get("connectionDetails")
    address = details.get("address") if isinstance(details, dict) else None
    properties = {key: str(value) for key, value in address.items()} if isinstance(address, dict) else {}
    return DataSource(source["name"], json_text(source.get("connectionString")), MappingProxyType(properties))


class _NameLines:
    """The line at which a name first occurs as a JSON value, found in one pass over the text."""

    def __init__(self, text: str) -> None:
        self._lines: Mapping[str, int] = _first_lines(text)

    def line_of(self, name: str) -> int:
        """The line of a name, 1 if it does not occur."""
        return self._lines.get(name, 1)


def _first_lines(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        key, separator, value = line.partition('"name"')
        if separator and not key.strip(" \t{,"):
            name = value.lstrip(" \t:").rstrip(", \t\r}")
            try:
                found.setdefault(json.loads(name), number)
            except (ValueError, TypeError, RecursionError):
                continue
    return found
