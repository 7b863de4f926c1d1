"""Reads the code of a function statement by statement: does every value that it returns derive from a hash or a cipher?

Nothing is run. What is not understood counts as clear, so a function that only might mask does not.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

from colline.capture.udf_code.abstract_values import (
    CLEAR,
    CONSTANT,
    Arguments,
    Container,
    Data,
    Known,
    Level,
    LocalFunction,
    Value,
    combine,
    join_values,
    level_of,
)
from colline.capture.udf_code.code_calls import Calls, item_of
from colline.capture.udf_code.code_expressions import Expressions, empty_names, reveals
from colline.capture.udf_code.code_frame import (
    MAX_CALL_DEPTH,
    Budget,
    CodeTooComplexError,
    Frame,
    Variables,
    declared_shared,
    join_variables,
    names_outside,
    stored_names,
)
from colline.capture.udf_code.function_source import FunctionNode, function_nodes
from colline.capture.udf_code.masking_libraries import module_of, top_level

_MAX_NAMES_OF_LOOP = 20
_HANDLER_METHODS = ("eval", "terminate")  # of a table function
_OWN_CODE_OF_PYSPARK = "pyspark.pandas"


class Branch(NamedTuple):
    """One of several blocks, the variables that are known in it, and whether being in it reveals a clear value."""

    statements: list[ast.stmt]
    known: Variables
    is_revealing: bool


def returns_masked_values(function: Any) -> bool:
    """Whether every value that a function, an object with `__call__` or a table function's class returns is masked."""
    reader = CodeReader()
    try:
        return reader.level(function) is Level.MASKED
    except (CodeTooComplexError, RecursionError):
        return False


class CodeReader:
    """Reads functions, and those that they call."""

    def __init__(self) -> None:
        self._budget = Budget()
        self._calls = Calls(self.run)
        self._expressions = Expressions(self._calls, self._budget)

    def level(self, function: Any) -> Level:
        """What the results of a function reveal of its arguments."""
        anything = Arguments(extra=(CLEAR,))
        if not isinstance(function, type):
            return level_of(self._calls.call(Known(function), anything))
        instance = self._calls.call(Known(function), anything)
        methods = [inspect.getattr_static(function, name, None) for name in _HANDLER_METHODS]
        given = Arguments((instance,), extra=(CLEAR,))
        # twice, because a method sees what the methods have kept in the object before
        results = [self.run(each, given) for each in methods * 2 if isinstance(each, FunctionType)]
        return max(map(level_of, results), default=Level.CLEAR)

    def run(self, function: Any, arguments: Arguments) -> Value:
        """What a function returns. A recursive call is clear."""
        code = function.node if isinstance(function, LocalFunction) else function.__code__
        if code in self._budget.active or len(self._budget.active) >= MAX_CALL_DEPTH:
            return CLEAR
        self._budget.active.append(code)
        try:
            if isinstance(function, LocalFunction):
                return self._run_node(function.node, {}, function.frame, arguments)
            return self._run_known(function, arguments)
        finally:
            self._budget.active.pop()

    def _run_known(self, function: FunctionType, arguments: Arguments) -> Value:
        module = module_of(function)
        if module.startswith(_OWN_CODE_OF_PYSPARK):
            return self._run_pandas_on_spark(function)
        if top_level(module) == "pyspark":
            return CLEAR
        given = _with_defaults(function, arguments)
        nodes = function_nodes(function.__code__)
        outside = names_outside(function)
        return join_values(self._run_node(node, outside, None, given) for node in nodes) if nodes else CLEAR

    def _run_pandas_on_spark(self, function: FunctionType) -> Value:
        """`psdf.email.apply(token)`: Spark's own functions around `token` pass each value to it."""
        found = _users_functions(function)
        return join_values(self._calls.call(each, Arguments((CLEAR,))) for each in found) if found else CLEAR

    def _run_node(
        self, node: FunctionNode, outside: dict[str, Any], parent: Frame | None, arguments: Arguments
    ) -> Value:
        body: list[ast.stmt] = [ast.Return(node.body)] if isinstance(node, ast.Lambda) else node.body
        if isinstance(node, ast.AsyncFunctionDef):
            return CLEAR
        parameters = _bind(node.args, arguments)
        shared = declared_shared(body)
        frame = Frame(
            outside if parent is None else parent.outside,
            parameters,
            stored_names(body) - shared,
            shared,
            parent,
        )
        self._run_block(body, frame)
        return combine(frame.generated) if frame.generated else join_values(frame.returned)

    def _run_block(self, statements: list[ast.stmt], frame: Frame) -> bool:
        """Read statements in order; False if they return or raise."""
        for statement in statements:
            self._budget.spend()
            rule = _RULES.get(type(statement))
            if rule is None:
                self._forget(statement, frame)
            elif not rule(self, statement, frame):
                return False
        return True

    def _forget(self, statement: ast.stmt, frame: Frame) -> None:
        """A statement without a rule: what it assigns and returns is clear."""
        frame.variables.update(dict.fromkeys(stored_names([statement]), CLEAR))
        if any(isinstance(inner, ast.Return | ast.Yield | ast.YieldFrom) for inner in ast.walk(statement)):
            frame.returned.append(CLEAR)
            frame.generated.append(CLEAR)

    def _branches(self, blocks: list[Branch], frame: Frame) -> bool:
        """Read alternative blocks, each from the same variables with some known to be empty."""
        before, after = frame.variables, list[Variables | None]()
        for block in blocks:
            frame.variables = {**before, **block.known}
            frame.revealing_tests += block.is_revealing
            after.append(frame.variables if self._run_block(block.statements, frame) else None)
            frame.revealing_tests -= block.is_revealing
        joined = join_variables(after)
        frame.variables = joined if joined is not None else before
        return joined is not None

    def _if(self, node: ast.If, frame: Frame) -> bool:
        level = level_of(self._expressions.value(node.test, frame))
        own = frame.variables.keys()
        blocks: list[Branch] = []
        for statements, outcome in ((node.body, True), (node.orelse, False)):
            known: Variables = dict.fromkeys(empty_names(node.test, outcome) & own, CONSTANT)
            blocks.append(Branch(statements, known, reveals(node.test, outcome, level, frame)))
        return self._branches(blocks, frame)

    def _match(self, node: ast.Match, frame: Frame) -> bool:
        subject = Data(level_of(self._expressions.value(node.subject, frame)))
        is_revealing = subject.level is Level.CLEAR
        blocks = [
            Branch(case.body, dict.fromkeys(stored_names([case.pattern]), subject), is_revealing) for case in node.cases
        ]
        return self._branches([*blocks, Branch([], {}, False)], frame)

    def _for(self, node: ast.For, frame: Frame) -> bool:
        item = item_of(self._expressions.value(node.iter, frame), None)
        return self._loop(node.body, node.orelse, frame, lambda: self._expressions.store(node.target, item, frame))

    def _while(self, node: ast.While, frame: Frame) -> bool:
        return self._loop(node.body, node.orelse, frame, lambda: self._expressions.value(node.test, frame))

    def _loop(self, body: list[ast.stmt], otherwise: list[ast.stmt], frame: Frame, start: Callable[[], Any]) -> bool:
        """A value can pass through all names of the body before it is returned: one round for each."""
        names = stored_names(body)
        exits, frame.loop_exits = frame.loop_exits, []
        frame.loop_depth += 1
        for _ in range(min(len(names), _MAX_NAMES_OF_LOOP) + 2):
            before = dict(frame.variables)
            start()
            after = frame.variables if self._run_block(body, frame) else None
            frame.variables = join_variables([before, after, *frame.loop_exits]) or before
        frame.loop_depth -= 1
        frame.loop_exits = exits
        if len(names) > _MAX_NAMES_OF_LOOP:
            frame.variables.update(dict.fromkeys(names, CLEAR))
        before = dict(frame.variables)
        self._run_block(otherwise, frame)
        frame.variables = join_variables([before, frame.variables]) or before
        return True

    def _leave_loop(self, _: ast.stmt, frame: Frame) -> bool:
        frame.loop_exits.append(dict(frame.variables))
        return False

    def _try(self, node: Any, frame: Frame) -> bool:
        before = dict(frame.variables)
        is_through = self._run_block([*node.body, *node.orelse], frame)
        after: list[Variables | None] = [frame.variables if is_through else None]
        # a handler can start after any statement of the body
        unsure = {**before, **dict.fromkeys(stored_names(node.body), CLEAR)}
        for handler in node.handlers:
            frame.variables = {**unsure, **({handler.name: CLEAR} if handler.name else {})}
            is_through = self._run_block(handler.body, frame)
            after.append(frame.variables if is_through else None)
        joined = join_variables(after)
        frame.variables = joined if joined is not None else unsure
        return self._run_block(node.finalbody, frame) and joined is not None

    def _with_block(self, node: ast.With, frame: Frame) -> bool:
        for item in node.items:
            found = self._expressions.value(item.context_expr, frame)
            if item.optional_vars is not None:
                self._expressions.store(item.optional_vars, found, frame)
        before = dict(frame.variables)
        is_through = self._run_block(node.body, frame)
        # a context manager can suppress an error of the body
        if is_through:
            frame.variables = join_variables([before, frame.variables]) or before
        else:
            frame.variables = {**before, **dict.fromkeys(stored_names(node.body), CLEAR)}
        return True

    def _return(self, node: ast.Return, frame: Frame) -> bool:
        frame.returned.append(frame.value_in_branch(self._expressions.value(node.value, frame)))
        return False

    def _raise(self, _: ast.Raise, __: Frame) -> bool:
        return False

    def _assign(self, node: ast.Assign, frame: Frame) -> bool:
        value = frame.value_in_branch(self._expressions.value(node.value, frame))
        for target in node.targets:
            self._expressions.store(target, value, frame)
        return True

    def _annotated_assign(self, node: ast.AnnAssign, frame: Frame) -> bool:
        if node.value is not None:
            self._expressions.store(node.target, self._expressions.value(node.value, frame), frame)
        return True

    def _augmented_assign(self, node: ast.AugAssign, frame: Frame) -> bool:
        added = frame.value_in_branch(self._expressions.value(node.value, frame))
        if isinstance(node.target, ast.Name):
            known = frame.read(node.target.id)
            if isinstance(known, Container):
                known.add((added,))
            frame.variables[node.target.id] = known if isinstance(known, Container) else combine((known, added))
        else:
            self._expressions.store(node.target, Data(max(level_of(added), Level.CLEAR)), frame)
        return True

    def _expression(self, node: ast.Expr, frame: Frame) -> bool:
        self._expressions.value(node.value, frame)
        return True

    def _define(self, node: ast.FunctionDef, frame: Frame) -> bool:
        function: Value = LocalFunction(node, frame)
        for decorator in reversed(node.decorator_list):
            function = self._calls.call(self._expressions.value(decorator, frame), Arguments((function,)))
        frame.variables[node.name] = function
        return True

    def _import(self, node: ast.Import | ast.ImportFrom, frame: Frame) -> bool:
        self._expressions.import_names(node, frame)
        return True

    def _skip(self, _: ast.stmt, __: Frame) -> bool:
        return True


def _with_defaults(function: FunctionType, arguments: Arguments) -> Arguments:
    """The arguments, with the defaults of parameters that are not given."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    values: Variables = dict(zip(names[len(names) - len(defaults) :], map(Known, defaults), strict=True))
    values.update({name: Known(value) for name, value in (function.__kwdefaults__ or {}).items()})
    given = set(names[: len(arguments.positional)])
    missing = {name: value for name, value in values.items() if name not in given and name not in arguments.named}
    if arguments.extra:
        missing = {name: combine((value, *arguments.extra)) for name, value in missing.items()}
    return Arguments(arguments.positional, {**missing, **arguments.named}, arguments.extra)


def _bind(parameters: ast.arguments, arguments: Arguments) -> Variables:
    """The parameters of a function with their values; a parameter without one has those of `*args`, or is constant."""
    names = [each.arg for each in (*parameters.posonlyargs, *parameters.args)]
    bound: Variables = dict(zip(names, arguments.positional, strict=False))
    rest = combine(arguments.extra) if arguments.extra else CLEAR
    for name in (*names, *(each.arg for each in parameters.kwonlyargs)):
        bound[name] = bound.get(name) or arguments.named.get(name) or rest
    if parameters.vararg is not None:
        bound[parameters.vararg.arg] = Container([*arguments.positional[len(names) :], *arguments.extra])
    if parameters.kwarg is not None:
        others = [value for name, value in arguments.named.items() if name not in bound]
        bound[parameters.kwarg.arg] = Container([*others, *arguments.extra])
    return bound


def _users_functions(function: FunctionType) -> list[Value]:
    """The functions of the user inside those of pandas API on Spark."""
    found: list[Value] = []
    stack: list[Any] = [function]
    seen: set[int] = set()
    while stack:
        each = stack.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, FunctionType) and module_of(each).startswith(_OWN_CODE_OF_PYSPARK):
            outside = names_outside(each)
            stack.extend(outside[name] for name in each.__code__.co_freevars if name in outside)
        elif callable(each) and not isinstance(each, type) and top_level(module_of(each)) != "pyspark":
            found.append(Known(each))
    return found


_RULES: dict[type[ast.stmt], Callable[[CodeReader, Any, Frame], bool]] = {
    ast.If: CodeReader._if,
    ast.Match: CodeReader._match,
    ast.For: CodeReader._for,
    ast.While: CodeReader._while,
    ast.Break: CodeReader._leave_loop,
    ast.Continue: CodeReader._leave_loop,
    ast.Try: CodeReader._try,
    ast.With: CodeReader._with_block,
    ast.Return: CodeReader._return,
    ast.Raise: CodeReader._raise,
    ast.Assign: CodeReader._assign,
    ast.AnnAssign: CodeReader._annotated_assign,
    ast.AugAssign: CodeReader._augmented_assign,
    ast.Expr: CodeReader._expression,
    ast.FunctionDef: CodeReader._define,
    ast.Import: CodeReader._import,
    ast.ImportFrom: CodeReader._import,
    ast.Pass: CodeReader._skip,
    ast.Assert: CodeReader._skip,
    ast.Delete: CodeReader._skip,
    ast.Global: CodeReader._skip,
    ast.Nonlocal: CodeReader._skip,
}
