"""A plan as text: one line per operator, indented by depth, expressions in brackets. For people and for reviews."""

from __future__ import annotations

from colline.plan.node import Node, Value

_WIDTH = 160


def format_plan(root: Node) -> str:
    """The tree below `root`; a shared sub-plan is written once and then named by its place."""
    lines: list[str] = []
    seen: set[int] = set()
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if node.index in seen:
            lines.append(f"{'  ' * depth}{node.kind} … as @{node.index}")
            continue
        seen.add(node.index)
        lines.append(f"{'  ' * depth}{node.kind} {_arguments(node)}".rstrip())
        stack.extend((child, depth + 1) for child in reversed(node.children))
    return "\n".join(lines)


def _arguments(node: Node) -> str:
    shown = [f"{name}={_value(value)}" for name, value in node.arguments.items() if not _is_child(value)]
    text = ", ".join(shown)
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


def _is_child(value: Value) -> bool:
    return value is None or value == () or (isinstance(value, Node) and value.is_operator)


def _value(value: Value, depth: int = 0) -> str:
    if depth > 4:
        return "…"
    if isinstance(value, tuple):
        return "[" + ", ".join(_value(item, depth + 1) for item in value) + "]"
    if isinstance(value, Node):
        return f"{value.kind}(…)" if value.is_operator else _node(value, depth)
    return str(value)


def _node(node: Node, depth: int) -> str:
    if node.kind == "AttributeReference":
        return f"{node.text('name')}#{node.text('id')}"
    if node.kind == "Literal":
        return node.text("sql")
    if node.kind == "Alias":
        return f"{_value(node.get('child'), depth + 1)} as {node.text('name')}#{node.text('id')}"
    inner = ", ".join(_value(item, depth + 1) for item in node.arguments.values() if item is not None)
    return f"{node.function or node.kind}({inner})"
