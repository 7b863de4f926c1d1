"""Formats a plan for people: one line per operator, indented by depth, with its expressions."""

from __future__ import annotations

from colline.plan.node import Node, Value

_MAX_LINE_CHARS = 160
_MAX_NESTING = 4


def format_plan(root: Node) -> str:
    """The tree below `root`. A sub-plan that occurs again is replaced by a reference to its first occurrence."""
    lines: list[str] = []
    seen: set[int] = set()
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if node.index in seen:
            lines.append(f"{'  ' * depth}{node.kind} … as @{node.index}")
            continue
        seen.add(node.index)
        lines.append(f"{'  ' * depth}{node.kind} {_format_arguments(node)}".rstrip())
        stack.extend((child, depth + 1) for child in reversed(node.children))
    return "\n".join(lines)


def _format_arguments(node: Node) -> str:
    arguments = [f"{name}={_format_value(value)}" for name, value in node.arguments.items() if not _is_hidden(value)]
    text = ", ".join(arguments)
    return text if len(text) <= _MAX_LINE_CHARS else text[: _MAX_LINE_CHARS - 1] + "…"


def _is_hidden(value: Value) -> bool:
    """Whether an argument is empty, or a child operator, which has a line of its own."""
    return value is None or value == () or (isinstance(value, Node) and value.is_operator)


def _format_value(value: Value, depth: int = 0) -> str:
    if depth > _MAX_NESTING:
        return "…"
    if isinstance(value, tuple):
        return "[" + ", ".join(_format_value(item, depth + 1) for item in value) + "]"
    if isinstance(value, Node):
        return f"{value.kind}(…)" if value.is_operator else _format_node(value, depth)
    return str(value)


def _format_node(node: Node, depth: int) -> str:
    if node.kind == "AttributeReference":
        return f"{node.text('name')}#{node.text('id')}"
    if node.kind == "Literal":
        return node.text("sql")
    if node.kind == "Alias":
        return f"{_format_value(node.get('child'), depth + 1)} as {node.text('name')}#{node.text('id')}"
    inner = ", ".join(_format_value(item, depth + 1) for item in node.arguments.values() if item is not None)
    return f"{node.function or node.kind}({inner})"
