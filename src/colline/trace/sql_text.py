"""Writes an expression as SQL text, given the texts of its arguments."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.flow import truncate

_INFIX = {
    "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "Remainder": "%", "IntegralDivide": "div",
    "EqualTo": "=", "EqualNullSafe": "<=>", "GreaterThan": ">", "GreaterThanOrEqual": ">=",
    "LessThan": "<", "LessThanOrEqual": "<=", "And": "AND", "Or": "OR",
    "BitwiseAnd": "&", "BitwiseOr": "|", "BitwiseXor": "^", "Like": "LIKE", "RLike": "RLIKE",
}  # fmt: skip

# kind → template of an expression that is not written as a call; `rest` is every argument but the first
_TEMPLATES = {
    **{kind: "({0} " + sign + " {1})" for kind, sign in _INFIX.items()},
    "IsNull": "({0} IS NULL)",
    "IsNotNull": "({0} IS NOT NULL)",
    "Not": "(NOT {0})",
    "In": "({0} IN ({rest}))",
    "InSet": "({0} IN (…))",
    "GetArrayItem": "{0}[{1}]",
    "GetMapValue": "{0}[{1}]",
    "Collate": "({0} COLLATE {1})",
    "LambdaFunction": "({rest}) -> {0}",
}
# kind → the argument that has its SQL text
_TEXT_ARGUMENTS = {"Literal": "sql", "NamedLambdaVariable": "name", "ResolvedCollation": "collationName"}
# kind → the argument that has the name of the function
_NAME_ARGUMENTS = {
    "PythonUDF": "name",
    "PythonUDAF": "name",
    "PythonUDTF": "name",
    "ScalaUDF": "udfName",
    "SQLScalarFunction": "function",
    "ScalaAggregator": "aggregatorName",
    "StaticInvoke": "functionName",
    "Invoke": "functionName",
}


def render(node: Node, arguments: tuple[str, ...]) -> str:
    """The SQL text of `node`, truncated to the maximum length of a description."""
    if node.kind in _TEXT_ARGUMENTS:
        return node.text(_TEXT_ARGUMENTS[node.kind])
    template = _TEMPLATES.get(node.kind)
    if template is None or len(arguments) < (2 if "{1}" in template else 1):
        return truncate(f"{function_name(node)}({', '.join(arguments)})")
    return truncate(template.format(*arguments, rest=", ".join(arguments[1:])))


def function_name(node: Node) -> str:
    """The name of a function in SQL, or the name its author gave it."""
    own = node.text(_NAME_ARGUMENTS[node.kind]) if node.kind in _NAME_ARGUMENTS else ""
    return own or node.function or node.kind.lower()
