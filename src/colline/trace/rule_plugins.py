"""What a plugin package can register: rules for its own nodes, scans, and masking functions.

```python
def register(extension):
    @extension.leaf("VectorScan")
    def scan(node):
        return Source(SourceKind.OTHER, provider="vectors", options=(("name", node.text("index")),))
```
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from colline.plan.node import Node
from colline.plan.source import Source
from colline.trace import rule_registry
from colline.trace.masking import PLUGIN_MASKING_FUNCTIONS
from colline.trace.relation import Relation
from colline.trace.rule_registry import CommandRule, ExpressionRule, OperatorRule, Registry
from colline.trace.tracer import Trace

Leaf = Callable[[Node], Source]


@dataclass(frozen=True)
class Extension:
    """The argument of a plugin's `register` function. A kind of node that already has a rule is refused."""

    operator: Registry[OperatorRule] = field(default_factory=lambda: rule_registry.operator)
    expression: Registry[ExpressionRule] = field(default_factory=lambda: rule_registry.expression)
    command: Registry[CommandRule] = field(default_factory=lambda: rule_registry.command)

    def leaf(self, *kinds: str) -> Callable[[Leaf], Leaf]:
        """A decorator for a function that returns what a leaf operator reads; the columns are those in `output`."""

        def register(function: Leaf) -> Leaf:
            def rule(node: Node, trace: Trace) -> Relation:
                return trace.scan(function(node), node.nodes("output"))

            for kind in kinds:
                self.operator.add(kind, rule)
            return function

        return register

    def masking(self, *functions: str) -> None:
        """Declare SQL functions, by name, whose result does not reveal their arguments."""
        PLUGIN_MASKING_FUNCTIONS.update(name.lower() for name in functions)
