"""Expressions as SQL text, from the texts of their arguments. `FORMS` has what is not written as a call."""

from __future__ import annotations

from colline.plan.node import Node
from colline.trace.flow import truncate

_INFIX = {
    "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "Remainder": "%", "IntegralDivide": "div",
    "EqualTo": "=", "EqualNullSafe": "<=>", "GreaterThan": ">", "GreaterThanOrEqual": ">=",
    "LessThan": "<", "LessThanOrEqual": "<=", "And": "AND", "Or": "OR",
    "BitwiseAnd": "&", "BitwiseOr": "|", "BitwiseXor": "^", "Like": "LIKE", "RLike": "RLIKE",
}  # fmt: skip

# kind → its text over its arguments; `rest` is all of them but the first
FORMS = {
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
# kind → the argument that is its text, or its name
_TEXTS = {"Literal": "sql", "NamedLambdaVariable": "name", "ResolvedCollation": "collationName"}
_NAMES = {
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
    """The text of `node` over the texts of its arguments, cut where it is longer than a description may be."""
    if node.kind in _TEXTS:
        return node.text(_TEXTS[node.kind])
    form = FORMS.get(node.kind)
    if form is None or len(arguments) < (2 if "{1}" in form else 1):
        return truncate(f"{function_name(node)}({', '.join(arguments)})")
    return truncate(form.format(*arguments, rest=", ".join(arguments[1:])))


def function_name(node: Node) -> str:
    """What SQL or the user calls this function."""
    own = node.text(_NAMES[node.kind]) if node.kind in _NAMES else ""
    return own or node.function or node.kind.lower()
