"""The rules by kind of node: operators, expressions, commands. A second rule for a kind is refused.

A node without a rule is not ignored: an operator becomes an opaque step, an expression transforms its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from colline.errors import CollineError

if TYPE_CHECKING:
    from colline.plan.node import Node
    from colline.trace.flow import Flow
    from colline.trace.relation import Relation
    from colline.trace.result import Write
    from colline.trace.tracer import Scope, Trace

RuleT = TypeVar("RuleT")

OperatorRule = Callable[["Node", "Trace"], "Relation"]
ExpressionRule = Callable[["Node", "Scope"], "Flow"]
CommandRule = Callable[["Node", "Trace"], "tuple[Write, ...]"]


class RuleError(CollineError):
    """Two rules were registered for one kind of node."""


@dataclass
class Registry(Generic[RuleT]):
    """Rules by the kind of node they apply to."""

    category: str
    rules: dict[str, RuleT] = field(default_factory=dict)

    def __call__(self, *kinds: str) -> Callable[[RuleT], RuleT]:
        """A decorator that registers a function as the rule for `kinds`."""

        def register(function: RuleT) -> RuleT:
            for kind in kinds:
                self.add(kind, function)
            return function

        return register

    def add(self, kind: str, function: RuleT) -> None:
        """Register one rule."""
        if kind in self.rules:
            raise RuleError(f"`{kind}` already has a rule for {self.category}s", hint="remove one of the two rules")
        self.rules[kind] = function

    def find(self, kind: str) -> RuleT | None:
        """The rule for a kind, if there is one."""
        return self.rules.get(kind)

    @property
    def kinds(self) -> Mapping[str, RuleT]:
        """The kinds that have a rule."""
        return self.rules


operator: Registry[OperatorRule] = Registry("operator")
expression: Registry[ExpressionRule] = Registry("expression")
command: Registry[CommandRule] = Registry("command")
