"""Evaluates the expressions of a function with abstract values."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from typing import Any

from colline.capture.udf_code.abstract_values import (
    CLEAR,
    CONSTANT,
    Arguments,
    Choice,
    Container,
    Data,
    Instance,
    Known,
    Level,
    LocalFunction,
    Symbol,
    Value,
    combine,
    is_constant,
    join_values,
    level_of,
)
from colline.capture.udf_code.code_calls import Calls, item_of
from colline.capture.udf_code.code_frame import Budget, Frame, Variables
from colline.capture.udf_code.masking_libraries import is_masking_library


class Expressions:
    """Evaluates expressions in a frame."""

    def __init__(self, calls: Calls, budget: Budget) -> None:
        self._calls = calls
        self._budget = budget

    def value(self, node: ast.expr | None, frame: Frame) -> Value:
        """The value of an expression. One that has no rule is clear."""
        if node is None:
            return Known(None)
        self._budget.spend()
        rule = _RULES.get(type(node))
        return rule(self, node, frame) if rule is not None else CLEAR

    def values(self, nodes: list[ast.expr], frame: Frame) -> list[Value]:
        """The values of several expressions."""
        return [self.value(node, frame) for node in nodes]

    def _constant(self, node: ast.Constant, _: Frame) -> Value:
        return Known(node.value) if is_constant(node.value) else CONSTANT

    def _name(self, node: ast.Name, frame: Frame) -> Value:
        return frame.read(node.id)

    def _attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        return self._calls.attribute(self.value(node.value, frame), node.attr)

    def _subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        return item_of(self.value(node.value, frame), self.value(node.slice, frame))

    def _call(self, node: ast.Call, frame: Frame) -> Value:
        if isinstance(node.func, ast.Attribute):
            receiver = self.value(node.func.value, frame)
            arguments = self._arguments(node, frame)
            found = self._calls.call_method(receiver, node.func.attr, arguments)
        else:
            receiver = self.value(node.func, frame)
            arguments = self._arguments(node, frame)
            found = self._calls.call(receiver, arguments)
        if any(level_of(each) is Level.CLEAR for each in (*arguments.all, found)):
            _taint(arguments, found)
        return found

    def _arguments(self, node: ast.Call, frame: Frame) -> Arguments:
        plain = [each for each in node.args if not isinstance(each, ast.Starred)]
        starred = [each.value for each in node.args if isinstance(each, ast.Starred)]
        named = {each.arg: self.value(each.value, frame) for each in node.keywords if each.arg}
        rest = [each.value for each in node.keywords if not each.arg]
        extra = tuple(Data(level_of(value)) for value in self.values([*starred, *rest], frame))
        return Arguments(tuple(self.values(plain, frame)), named, extra)

    def _either_branch(self, node: ast.IfExp, frame: Frame) -> Value:
        """`v if v is None else token(v)`: where the test shows that a name is empty, it reveals nothing."""
        level = level_of(self.value(node.test, frame))
        return join_values(
            self._narrow(branch, node.test, frame, (outcome, level))
            for branch, outcome in ((node.body, True), (node.orelse, False))
        )

    def _narrow(self, node: ast.expr, test: ast.expr, frame: Frame, tested: tuple[bool, Level]) -> Value:
        outcome, level = tested
        is_revealing = reveals(test, outcome, level, frame)
        frame.comprehension.append(dict.fromkeys(empty_names(test, outcome), CONSTANT))
        frame.revealing_tests += is_revealing
        try:
            return frame.value_in_branch(self.value(node, frame))
        finally:
            frame.revealing_tests -= is_revealing
            frame.comprehension.pop()

    def _and_or(self, node: ast.BoolOp, frame: Frame) -> Value:
        """`v and token(v)` is v only if v is empty."""
        values = self.values(node.values, frame)
        return values[-1] if isinstance(node.op, ast.And) else join_values(values)

    def _combine_parts(self, node: ast.expr, frame: Frame) -> Value:
        return combine(self.value(child, frame) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))

    def _display(self, node: ast.List | ast.Set | ast.Tuple, frame: Frame) -> Value:
        items = [each.value if isinstance(each, ast.Starred) else each for each in node.elts]
        is_tuple = isinstance(node, ast.Tuple) and len(items) == sum(not isinstance(e, ast.Starred) for e in node.elts)
        return Container(self.values(items, frame), is_tuple)

    def _dict(self, node: ast.Dict, frame: Frame) -> Value:
        keys = [key for key in node.keys if key is not None]
        return Container(self.values([*keys, *node.values], frame))

    def _yield(self, node: ast.Yield | ast.YieldFrom, frame: Frame) -> Value:
        found = self.value(node.value, frame)
        frame.generated.append(item_of(found, None) if isinstance(node, ast.YieldFrom) else found)
        return CLEAR

    def _star(self, node: ast.Starred, frame: Frame) -> Value:
        return self.value(node.value, frame)

    def _lambda(self, node: ast.Lambda, frame: Frame) -> Value:
        return LocalFunction(node, frame)

    def _walrus(self, node: ast.NamedExpr, frame: Frame) -> Value:
        found = self.value(node.value, frame)
        frame.variables[node.target.id] = join_values((frame.variables.get(node.target.id, found), found))
        return found

    def _comprehension(self, node: Any, frame: Frame) -> Value:
        variables: Variables = {}
        frame.comprehension.append(variables)
        try:
            for loop in node.generators:
                item = item_of(self.value(loop.iter, frame), None)
                for name, value in self.unpack(loop.target, item):
                    variables[name] = value
                self.values(loop.ifs, frame)
            items = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            return Container(self.values(items, frame))
        finally:
            frame.comprehension.pop()

    def unpack(self, target: ast.expr, value: Value) -> Iterator[tuple[str, Value]]:
        """The names that an assignment sets: `a, b = v, token(v)` → a from v, b from token(v)."""
        if isinstance(target, ast.Name):
            yield target.id, value
        elif isinstance(target, ast.Starred):
            yield from self.unpack(target.value, Data(level_of(value)))
        elif isinstance(target, ast.Tuple | ast.List):
            exact = value.parts if isinstance(value, Container) and value.is_tuple else []
            parts = exact if len(exact) == len(target.elts) else [item_of(value, None)] * len(target.elts)
            for element, part in zip(target.elts, parts, strict=True):
                yield from self.unpack(element, part)

    def store(self, target: ast.expr, value: Value, frame: Frame) -> None:
        """Assign a value to a target."""
        for name, part in self.unpack(target, value):
            frame.variables[name] = part
        if isinstance(target, ast.Attribute):
            self._store_attribute(self.value(target.value, frame), target.attr, value)
        elif isinstance(target, ast.Subscript):
            self._change(target.value, value, frame)
        elif isinstance(target, ast.Tuple | ast.List):
            for element in target.elts:
                if isinstance(element, ast.Attribute | ast.Subscript):
                    self.store(element, Data(level_of(value)), frame)

    def _store_attribute(self, owner: Value, name: str, value: Value) -> None:
        if isinstance(owner, Instance):
            owner.attributes[name] = join_values((owner.attributes.get(name, value), value))
        elif isinstance(owner, Container):
            owner.add((value,))

    def _change(self, node: ast.expr, value: Value, frame: Frame) -> None:
        """`out["raw"] = v`: a container gets another part."""
        container = self.value(node, frame)
        if isinstance(container, Container):
            container.add((value,))
        elif isinstance(container, Choice):
            for each in container.values:
                if isinstance(each, Container):
                    each.add((value,))
        elif isinstance(node, ast.Name):
            frame.variables[node.id] = combine((container, value))

    def import_names(self, node: ast.Import | ast.ImportFrom, frame: Frame) -> None:
        """`from cryptography.fernet import Fernet` inside a function. A module that is not loaded is not imported."""
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            frame.variables[name] = _import_value(node, module, alias)


def _import_value(node: ast.Import | ast.ImportFrom, module: str, alias: ast.alias) -> Value:
    if isinstance(node, ast.ImportFrom):
        loaded = sys.modules.get(module) if not node.level else None
        if loaded is not None and alias.name in vars(loaded):
            return Known(vars(loaded)[alias.name])
        return Symbol(f"{module}.{alias.name}") if is_masking_library(module) and not node.level else CLEAR
    path = alias.name if alias.asname else alias.name.partition(".")[0]
    if path in sys.modules:
        return Known(sys.modules[path])
    return Symbol(path) if is_masking_library(path) else CLEAR


def _taint(arguments: Arguments, found: Value) -> None:
    """A function that gets a clear value and a container can put the one into the other."""
    for value in arguments.all:
        if isinstance(value, Container) and value is not found:
            value.add((CLEAR,))


_EMPTY_TESTS = frozenset({"isna", "isnull", "isnan", "is_null"})


def empty_names(test: ast.expr, outcome: bool) -> frozenset[str]:
    """The names that are empty (None, "", NaN) where a test has this outcome: `v is None` → v."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return empty_names(test.operand, not outcome)
    if isinstance(test, ast.BoolOp):
        every = [empty_names(each, outcome) for each in test.values]
        # `a or b` is true if one of them is: only names that both show to be empty are
        is_all = isinstance(test.op, ast.And) is outcome
        return frozenset.union(*every) if is_all else frozenset.intersection(*every)
    if isinstance(test, ast.Name):
        return frozenset() if outcome else frozenset({test.id})
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name):
        is_empty = isinstance(test.comparators[0], ast.Constant) and not test.comparators[0].value
        is_equal = isinstance(test.ops[0], ast.Is | ast.Eq)
        is_unequal = isinstance(test.ops[0], ast.IsNot | ast.NotEq)
        if is_empty and (is_equal if outcome else is_unequal):
            return frozenset({test.left.id})
    if outcome and isinstance(test, ast.Call) and len(test.args) == 1 and isinstance(test.args[0], ast.Name):
        name = test.func.attr if isinstance(test.func, ast.Attribute) else getattr(test.func, "id", "")
        return frozenset({test.args[0].id}) if name in _EMPTY_TESTS else frozenset()
    return frozenset()


def reveals(test: ast.expr, outcome: bool, level: Level, frame: Frame) -> bool:
    """Whether this outcome reveals which clear value was tested: `v == "DE"`, or any test that a loop repeats."""
    if level is not Level.CLEAR or empty_names(test, True) or empty_names(test, False):
        return False
    equality: tuple[type[ast.cmpop], ...] = (ast.Eq, ast.In) if outcome else (ast.NotEq, ast.NotIn)
    operators = (op for each in ast.walk(test) if isinstance(each, ast.Compare) for op in each.ops)
    return frame.loop_depth > 0 or any(isinstance(op, equality) for op in operators)


_RULES: dict[type[ast.expr], Callable[[Expressions, Any, Frame], Value]] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.Subscript: Expressions._subscript,
    ast.Call: Expressions._call,
    ast.IfExp: Expressions._either_branch,
    ast.BoolOp: Expressions._and_or,
    ast.BinOp: Expressions._combine_parts,
    ast.UnaryOp: Expressions._combine_parts,
    ast.Compare: Expressions._combine_parts,
    ast.JoinedStr: Expressions._combine_parts,
    ast.FormattedValue: Expressions._combine_parts,
    ast.Slice: Expressions._combine_parts,
    ast.List: Expressions._display,
    ast.Set: Expressions._display,
    ast.Tuple: Expressions._display,
    ast.Dict: Expressions._dict,
    ast.Starred: Expressions._star,
    ast.Yield: Expressions._yield,
    ast.YieldFrom: Expressions._yield,
    ast.Lambda: Expressions._lambda,
    ast.NamedExpr: Expressions._walrus,
    ast.ListComp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.DictComp: Expressions._comprehension,
}
