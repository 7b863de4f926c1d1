"""A node of a plan: an operator, an expression, or a described thing such as a catalog table. Frozen, no behaviour.

Spark's own class name is the `kind`, and Spark's own argument names are the `arguments`: a new Spark version changes
data, not code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, Union

Value: TypeAlias = Union["Node", str, bool, tuple["Value", ...], None]


class NodeCategory(Enum):
    """What a node is part of."""

    OPERATOR = "p"
    EXPRESSION = "e"
    OBJECT = "o"


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One node; equal only to itself, because the same expression at two places is two expressions."""

    kind: str
    category: NodeCategory
    arguments: Mapping[str, Value]
    index: int = 0
    function: str = ""

    def get(self, name: str) -> Value:
        """The argument of that name, or None: versions of Spark differ in what they have."""
        return self.arguments.get(name)

    def node(self, name: str) -> Node:
        """The argument of that name, which is a node."""
        found = self.arguments[name]
        assert isinstance(found, Node)
        return found

    def optional(self, name: str) -> Node | None:
        """The argument of that name if it is a node."""
        found = self.arguments.get(name)
        return found if isinstance(found, Node) else None

    def nodes(self, name: str) -> tuple[Node, ...]:
        """Every node in the argument of that name, however it is nested in lists."""
        return _nodes(self.arguments.get(name))

    def text(self, name: str) -> str:
        """The argument of that name as text; empty when it is absent."""
        found = self.arguments.get(name)
        return found if isinstance(found, str) else ""

    def strings(self, name: str) -> tuple[str, ...]:
        """The strings in the argument of that name."""
        found = self.arguments.get(name)
        items = found if isinstance(found, tuple) else (found,)
        return tuple(item for item in items if isinstance(item, str))

    def pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        """The argument of that name as pairs of strings: a map of options."""
        found = self.arguments.get(name)
        items = found if isinstance(found, tuple) else ()
        return tuple((str(item[0]), str(item[1])) for item in items if isinstance(item, tuple) and len(item) == 2)

    @property
    def is_operator(self) -> bool:
        """Whether this is a relational operator or a command."""
        return self.category is NodeCategory.OPERATOR

    @property
    def is_expression(self) -> bool:
        """Whether this computes a value."""
        return self.category is NodeCategory.EXPRESSION

    def argument_nodes(self) -> Iterator[Node]:
        """The nodes directly in the arguments, in order."""
        for value in self.arguments.values():
            yield from _nodes(value)

    @property
    def children(self) -> tuple[Node, ...]:
        """The operators this operator reads. An expression's sub-query is not among them."""
        return _nodes_of_category(self.arguments.items(), NodeCategory.OPERATOR)

    @property
    def expressions(self) -> tuple[Node, ...]:
        """The expressions directly in the arguments; `output` names what comes out and is none."""
        return _nodes_of_category(self.arguments.items(), NodeCategory.EXPRESSION, except_name="output")

    def __repr__(self) -> str:
        return f"<{self.kind} @{self.index}>"


def _nodes_of_category(
    arguments: Iterable[tuple[str, Value]], category: NodeCategory, except_name: str = ""
) -> tuple[Node, ...]:
    """The nodes of one sort in the arguments. Asked for every node of a plan, so the common cases come first."""
    found: list[Node] = []
    for name, value in arguments:
        if isinstance(value, Node):
            if value.category is category and name != except_name:
                found.append(value)
        elif isinstance(value, tuple) and name != except_name:
            found += _nodes(value, category)
    return tuple(found)


def _nodes(value: Value, category: NodeCategory | None = None) -> tuple[Node, ...]:
    """The nodes in a value. A list holds nodes of one sort, so a long list of another sort is passed over at once."""
    if isinstance(value, Node):
        return (value,) if category is None or value.category is category else ()
    if not isinstance(value, tuple) or not value:
        return ()
    first = value[0]
    if isinstance(first, Node) and category is not None and first.category is not category:
        return ()
    if set(map(type, value)) == {Node}:
        return value  # type: ignore[return-value]  # every item was found to be a node
    return tuple(node for item in value for node in _nodes(item, category))
