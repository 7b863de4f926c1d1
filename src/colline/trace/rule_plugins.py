"""What third parties can add: rules for node kinds of their own, leaves, and functions that mask.

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
    """The registries, as a third party's `register` function sees them. A kind that has a rule is refused."""

    operator: Registry[OperatorRule] = field(default_factory=lambda: rule_registry.operator)
    expression: Registry[ExpressionRule] = field(default_factory=lambda: rule_registry.expression)
    command: Registry[CommandRule] = field(default_factory=lambda: rule_registry.command)

    def leaf(self, *kinds: str) -> Callable[[Leaf], Leaf]:
        """A decorator: the function says what a leaf operator reads, its `output` are that dataset's columns."""

        def register(function: Leaf) -> Leaf:
            def rule(node: Node, trace: Trace) -> Relation:
                return trace.scan(function(node), node.nodes("output"))

            for kind in kinds:
                self.operator.add(kind, rule)
            return function

        return register

    def masking(self, *functions: str) -> None:
        """Functions that hide their arguments, by the name SQL calls them."""
        PLUGIN_MASKING_FUNCTIONS.update(name.lower() for name in functions)
