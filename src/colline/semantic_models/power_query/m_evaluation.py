"""Evaluates M as far as lineage needs it: the columns of its sources that each step returns.

Values of data are never computed. A step that is not known is opaque: its result keeps the names of the columns, and
it is reported. The number of evaluated expressions is limited.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from colline.semantic_models.power_query.m_connectors import source_address
from colline.semantic_models.power_query.m_functions import (
    FUNCTIONS,
    LIST_AGGREGATES,
    LIST_COUNTS,
    MCallArguments,
    OpaqueStepError,
)
from colline.semantic_models.power_query.m_nodes import (
    MCall,
    MConstant,
    MField,
    MFunction,
    MIf,
    MItem,
    MLet,
    MList,
    MName,
    MNode,
    MOperation,
    MProjection,
    MRecord,
)
from colline.semantic_models.power_query.m_syntax import parse_m
from colline.semantic_models.power_query.m_tokens import MError
from colline.semantic_models.power_query.m_values import (
    UNKNOWN,
    Environment,
    FunctionValue,
    ListValue,
    MValue,
    RecordValue,
    ScalarValue,
    SourcePlace,
    TableValue,
    combine_tables,
    dependencies_of,
    text_of,
)
from colline.semantic_models.semantic_model import Expression, FilePosition, ModelProblem
from colline.semantic_models.source_address import SourceLookup
from colline.sql_lineage.named_relation import NamedRelation, table_relation
from colline.trace import DatasetName, Effect
from colline.trace.flow import Dependencies, apply_effect, merge

MAX_STEPS = 50_000
_CHOICES = frozenset(("otherwise", "catch", "??"))
MAX_CALLS = 30  # of functions inside functions, and of shared expressions inside each other
_Value = TypeVar("_Value")
_NO_TABLE = TableValue(NamedRelation())


@dataclass
class MFindings:
    """The datasets that an expression reads, and steps that could not be analyzed."""

    inputs: dict[DatasetName, None] = field(default_factory=dict)
    problems: dict[ModelProblem, None] = field(default_factory=dict)


class MEvaluator:
    """Evaluates the expressions of one model."""

    def __init__(self, shared: Mapping[str, Expression], sources: SourceLookup) -> None:
        self.sources = sources
        self.findings = MFindings()
        self._shared = shared
        self._shared_values: dict[str, MValue] = {}
        self._position = FilePosition()
        self._steps = 0
        self._calls = 0

    def table(self, expression: Expression) -> TableValue:
        """The table that an expression returns; without columns if it cannot be read."""
        return self._read(expression, lambda node: self.as_table(self.evaluate(node, Environment())), _NO_TABLE)

    def value(self, expression: Expression) -> MValue:
        """The value of an expression; unknown if it cannot be read."""
        unknown: MValue = UNKNOWN
        return self._read(expression, lambda node: self.evaluate(node, Environment()), unknown)

    def begin(self) -> None:
        """Forget the findings of the expression before. The limit of steps counts for each expression."""
        self.findings = MFindings()
        self._steps = 0

    def _read(self, expression: Expression, value_of: Callable[[MNode], _Value], otherwise: _Value) -> _Value:
        """The value of an expression; an error in it is reported at its place."""
        before, self._position = self._position, expression.position
        try:
            return value_of(parse_m(expression.text))
        except MError as error:
            self.report(f"M that could not be read: {error.message}", error.line)
            return otherwise
        finally:
            self._position = before

    def report(self, message: str, line: int = 1) -> None:
        """Add a step that could not be analyzed."""
        position = replace(self._position, line=self._position.line + line - 1)
        self.findings.problems.setdefault(ModelProblem(position, message))

    def as_table(self, value: MValue) -> TableValue:
        """A table; a place in a source is the table there."""
        if isinstance(value, TableValue):
            return value
        if isinstance(value, SourcePlace):
            tables = [self._table_at(place) for place in (value, *value.others)]
            return tables[0] if len(tables) == 1 else combine_tables(tables)
        if isinstance(value, FunctionValue):
            return self.as_table(self.apply(value, [UNKNOWN] * len(value.function.parameters)))
        return TableValue(NamedRelation(row_dependencies=dependencies_of(value))) if value is not UNKNOWN else _NO_TABLE

    def _table_at(self, place: SourcePlace) -> TableValue:
        found = self.sources.find_source(source_address(place))
        self.findings.inputs[found.name] = None
        return TableValue(table_relation(found))

    # expressions

    def evaluate(self, node: MNode, scope: Environment) -> MValue:
        """The value of a part of an expression."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise MError(f"more than {MAX_STEPS:,} steps")
        if isinstance(node, MConstant):
            return ScalarValue(text=node.text)
        if isinstance(node, MName):
            return self.value_of_name(node.name, scope)
        if isinstance(node, MFunction):
            return FunctionValue(node, scope)
        if isinstance(node, MList):
            return ListValue(tuple(self.evaluate(item, scope) for item in node.items))
        if isinstance(node, MRecord):
            return RecordValue({name: self.evaluate(value, scope) for name, value in node.fields})
        return self._evaluate_compound(node, scope)

    def _evaluate_compound(
        self, node: MCall | MField | MProjection | MItem | MLet | MIf | MOperation, scope: Environment
    ) -> MValue:
        if isinstance(node, MLet):
            return self._let(node, scope)
        if isinstance(node, MCall):
            return self._call(node, scope)
        if isinstance(node, MField):
            return self._field(node, scope)
        if isinstance(node, MProjection):
            return self.as_table(self.evaluate(node.target, scope)).select(node.names)
        if isinstance(node, MItem):
            return self._item(node, scope)
        return self._if(node, scope) if isinstance(node, MIf) else self._operation(node, scope)

    def value_of_name(self, name: str, scope: Environment) -> MValue:
        """The value of a name: a step, a parameter of a function, or a shared expression."""
        holder = scope.holder(name)
        if holder is None:
            return self._shared_value(name)
        if name not in holder.values:
            node = holder.nodes[name]
            holder.values[name] = UNKNOWN  # a step that refers to itself
            holder.values[name] = self.evaluate(node, holder)
        return holder.values[name]

    def _shared_value(self, name: str) -> MValue:
        if name in self._shared_values or name not in self._shared:
            return self._shared_values.get(name, UNKNOWN)
        self._shared_values[name] = UNKNOWN
        self._calls += 1
        if self._calls <= MAX_CALLS:
            self._shared_values[name] = self.value(self._shared[name])
        self._calls -= 1
        return self._shared_values[name]

    def _let(self, node: MLet, scope: Environment) -> MValue:
        inner = Environment(scope, nodes=dict(node.bindings))
        for name, _ in node.bindings:  # in order: a chain of many steps needs no deep recursion
            self.value_of_name(name, inner)
        return self.evaluate(node.body, inner)

    def _field(self, node: MField, scope: Environment) -> MValue:
        target = self.evaluate(node.target, scope) if node.target is not None else self.value_of_name("_", scope)
        if isinstance(target, RecordValue):
            return target.fields.get(node.name, UNKNOWN)
        if isinstance(target, TableValue):
            if node.name in target.nested:
                return target.nested[node.name]
            flow = target.column(node.name)
            return ScalarValue(flow.dependencies) if flow is not None else UNKNOWN
        return target if isinstance(target, SourcePlace) else ScalarValue(dependencies_of(target))

    def _item(self, node: MItem, scope: Environment) -> MValue:
        target, key = self.evaluate(node.target, scope), self.evaluate(node.key, scope)
        if isinstance(target, SourcePlace):
            fields = key.fields if isinstance(key, RecordValue) else {}
            return target.step({name: text_of(value) or "" for name, value in fields.items()})
        if isinstance(target, TableValue):
            return target.with_rows(apply_effect(dependencies_of(key), Effect.FILTER))
        return ScalarValue(dependencies_of(target))

    def _if(self, node: MIf, scope: Environment) -> MValue:
        """`if p then a else b` → p CONDITIONAL; a and b TRANSFORMATION. Of several tables, any may be the result."""
        tests = merge(dependencies_of(self.evaluate(each, scope)) for each in node.conditions)
        results = [self.evaluate(each, scope) for each in node.results]
        table = self._any_table(results)
        if table is not None:
            return table
        texts = {text_of(each) for each in results}
        values = apply_effect(merge(map(dependencies_of, results)), Effect.TRANSFORMATION)
        found = merge((apply_effect(tests, Effect.CONDITIONAL), values))
        return ScalarValue(found, text=texts.pop() if len(texts) == 1 else None)

    def _any_table(self, values: list[MValue]) -> SourcePlace | TableValue | None:
        """The table that is one of the values; None if they are not tables. More navigation steps apply to places."""
        found = [each for each in values if isinstance(each, (TableValue, SourcePlace))]
        places = [place for each in found if isinstance(each, SourcePlace) for place in (each, *each.others)]
        if not found:
            return None
        if any(isinstance(each, TableValue) for each in found):
            return combine_tables([self.as_table(each) for each in found])
        return replace(places[0], others=tuple(replace(place, others=()) for place in places[1:]))

    def _operation(self, node: MOperation, scope: Environment) -> MValue:
        if node.operators[0] == "meta":
            return self.evaluate(node.operands[0], scope)
        values = [self.evaluate(each, scope) for each in node.operands]
        if _CHOICES & set(node.operators):
            return self._first_usable(values)
        if set(node.operators) == {"&"}:
            return self._concatenation(values)
        return ScalarValue(apply_effect(merge(map(dependencies_of, values)), Effect.TRANSFORMATION))

    def _first_usable(self, values: list[MValue]) -> MValue:
        """`a ?? b`, `try a otherwise b` → a and b, CONDITIONAL and TRANSFORMATION; of tables, any may be the result."""
        results = [self._without_row(each) for each in values]
        table = self._any_table(results)
        if table is not None:
            return table
        found = merge(map(dependencies_of, results))
        choice = merge((apply_effect(found, Effect.CONDITIONAL), apply_effect(found, Effect.TRANSFORMATION)))
        return ScalarValue(choice, text=text_of(values[0]))

    def _concatenation(self, values: list[MValue]) -> MValue:
        """`a & b`: texts, lists or tables."""
        if any(isinstance(each, (TableValue, SourcePlace)) for each in values):
            return combine_tables([self.as_table(each) for each in values])
        if all(isinstance(each, ListValue) for each in values):
            return ListValue(tuple(item for each in values if isinstance(each, ListValue) for item in each.items))
        texts = [text_of(each) for each in values]
        found = apply_effect(merge(map(dependencies_of, values)), Effect.TRANSFORMATION)
        return ScalarValue(found, "".join(text for text in texts if text is not None) if None not in texts else None)

    # calls

    def _call(self, node: MCall, scope: Environment) -> MValue:
        if isinstance(node.function, MName):
            known = FUNCTIONS.get(node.function.name)
            if known is not None:
                return self._known_call(node, node.function.name, scope)
        function = self.evaluate(node.function, scope)
        arguments = [self.evaluate(each, scope) for each in node.arguments]
        if isinstance(function, FunctionValue):
            return self.apply(function, arguments)
        name = node.function.name if isinstance(node.function, MName) else "a function"
        return self._unknown_call(name, arguments, node.line)

    def _known_call(self, node: MCall, name: str, scope: Environment) -> MValue:
        arguments = MCallArguments(name, tuple(self.evaluate(each, scope) for each in node.arguments), self)
        try:
            return FUNCTIONS[name](arguments)
        except OpaqueStepError as error:
            self.report(f"{name}: {error}", node.line)
            return self._opaque_table(list(arguments.values))

    def _unknown_call(self, name: str, arguments: list[MValue], line: int) -> MValue:
        """A function that is not known: a scalar is transformed, a table becomes opaque."""
        if any(isinstance(each, (TableValue, SourcePlace)) for each in arguments) and not _returns_value(name):
            self.report(f"{name} cannot be analyzed", line)
            return self._opaque_table(arguments)
        found = merge(dependencies_of(self._without_row(each)) for each in arguments)
        if name in LIST_AGGREGATES and arguments:
            # of the values of one row, `{[a], [b]}`, nothing is aggregated
            effect = Effect.TRANSFORMATION if isinstance(arguments[0], ListValue) else Effect.AGGREGATION
            return ScalarValue(apply_effect(found, effect, masking=name in LIST_COUNTS))
        return ScalarValue(apply_effect(found, Effect.TRANSFORMATION))

    def _without_row(self, value: MValue) -> MValue:
        """What a function that is passed as an argument reads of its surroundings."""
        if not isinstance(value, FunctionValue):
            return value
        return self.apply(value, [UNKNOWN] * len(value.function.parameters))

    def _opaque_table(self, arguments: list[MValue]) -> MValue:
        tables = [self.as_table(each) for each in arguments if isinstance(each, (TableValue, SourcePlace))]
        return tables[0].as_opaque() if tables else UNKNOWN

    def apply(self, function: FunctionValue, arguments: list[MValue]) -> MValue:
        """The result of a function."""
        if self._calls >= MAX_CALLS:
            return UNKNOWN
        values: dict[str, MValue] = dict(zip(function.function.parameters, arguments, strict=False))
        scope = Environment(function.environment, values=dict.fromkeys(function.function.parameters, UNKNOWN) | values)
        self._calls += 1
        try:
            return self.evaluate(function.function.body, scope)
        finally:
            self._calls -= 1

    def row_value(self, function: MValue, row: TableValue) -> MValue:
        """The result of `each …` for a row."""
        return self.apply(function, [row]) if isinstance(function, FunctionValue) else function

    def row_dependencies(self, function: MValue, row: TableValue) -> Dependencies:
        """What the result of `each …` depends on."""
        return dependencies_of(self.row_value(function, row))


def _returns_value(name: str) -> bool:
    """Whether a function of a table returns a value, not a table."""
    return name in LIST_AGGREGATES or name.startswith(("Text.", "Number.", "Date", "Record.", "Value.", "Logical."))
