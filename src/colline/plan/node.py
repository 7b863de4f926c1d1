"""The node of a plan: an operator, an expression, or another object such as a catalog table. Frozen, without behavior.

`kind` is the name of Spark's class and `arguments` has Spark's names of its constructor arguments. A new Spark version
therefore changes data, not code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, Union

Value: TypeAlias = Union["Node", str, bool, tuple["Value", ...], None]


class NodeCategory(Enum):
    """Which of Spark's class families a node belongs to."""

    OPERATOR = "p"
    EXPRESSION = "e"
    OBJECT = "o"


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One node of a plan. It equals only itself, because the same expression in two places is two expressions.

    `index` is the position in `Plan.nodes`. `function` is the SQL name of an expression that is a function.
    """

    kind: str
    category: NodeCategory
    arguments: Mapping[str, Value]
    index: int = 0
    function: str = ""

    def get(self, name: str) -> Value:
        """The argument `name`, or None: not every Spark version has every argument."""
        return self.arguments.get(name)

    def node(self, name: str) -> Node:
        """The argument `name`, which must be a node."""
        found = self.arguments[name]
        assert isinstance(found, Node)
        return found

    def optional(self, name: str) -> Node | None:
        """The argument `name` if it is a node, else None."""
        found = self.arguments.get(name)
        return found if isinstance(found, Node) else None

    def nodes(self, name: str) -> tuple[Node, ...]:
        """Every node in the argument `name`, including those in nested lists."""
        return _nodes(self.arguments.get(name))

    def text(self, name: str) -> str:
        """The argument `name` as text; empty if it is absent."""
        found = self.arguments.get(name)
        return found if isinstance(found, str) else ""

    def strings(self, name: str) -> tuple[str, ...]:
        """The strings in the argument `name`."""
        found = self.arguments.get(name)
        items = found if isinstance(found, tuple) else (found,)
        return tuple(item for item in items if isinstance(item, str))

    def pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        """The argument `name` as pairs of strings, such as the options of a source."""
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
        """The operators this operator reads, without the subqueries of its expressions."""
        return _nodes_of_category(self.arguments.items(), NodeCategory.OPERATOR)

    @property
    def expressions(self) -> tuple[Node, ...]:
        """The expressions directly in the arguments, except for `output`, which lists result columns."""
        return _nodes_of_category(self.arguments.items(), NodeCategory.EXPRESSION, skip="output")

    def __repr__(self) -> str:
        return f"<{self.kind} @{self.index}>"


def _nodes_of_category(
    arguments: Iterable[tuple[str, Value]], category: NodeCategory, skip: str = ""
) -> tuple[Node, ...]:
    """The nodes of one category in the arguments. Called for every node of a plan, so common cases come first."""
    found: list[Node] = []
    for name, value in arguments:
        if isinstance(value, Node):
            if value.category is category and name != skip:
                found.append(value)
        elif isinstance(value, tuple) and name != skip:
            found += _nodes(value, category)
    return tuple(found)


def _nodes(value: Value, category: NodeCategory | None = None) -> tuple[Node, ...]:
    """The nodes in a value. All nodes of a list have one category, so a list of another category is skipped."""
    if isinstance(value, Node):
        return (value,) if category is None or value.category is category else ()
    if not isinstance(value, tuple) or not value:
        return ()
    first = value[0]
    if isinstance(first, Node) and category is not None and first.category is not category:
        return ()
    if set(map(type, value)) == {Node}:
        return value  # type: ignore[return-value]  # the line above checks that every item is a node
    return tuple(node for item in value for node in _nodes(item, category))
