"""M functions with lineage of their own: sources, table steps, lists. `FUNCTIONS` maps each name to its rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from colline.semantic_models.power_query.m_values import (
    FunctionValue,
    ListValue,
    MValue,
    ScalarValue,
    TableValue,
    text_of,
)

if TYPE_CHECKING:
    from colline.semantic_models.power_query.m_evaluation import MEvaluator

LIST_AGGREGATES = frozenset((
    "List.Sum", "List.Average", "List.Max", "List.Min", "List.Count", "List.NonNullCount", "List.Median", "List.Mode",
    "List.Product", "List.StandardDeviation", "List.Percentile", "List.First", "List.Last", "List.Accumulate",
    "Text.Combine", "List.Covariance", "List.AllTrue", "List.AnyTrue", "List.IsEmpty",
))  # fmt: skip
LIST_COUNTS = frozenset(("List.Count", "List.NonNullCount", "List.IsEmpty"))


class OpaqueStepError(Exception):
    """A step whose arguments are not known before it runs."""


@dataclass(frozen=True)
class MCallArguments:
    """The evaluated arguments of a call."""

    function: str
    values: tuple[MValue, ...]
    evaluator: MEvaluator

    def value(self, position: int) -> MValue:
        """An argument; an omitted one is unknown."""
        return self.values[position] if position < len(self.values) else ScalarValue()

    def table(self, position: int = 0) -> TableValue:
        """An argument that is a table."""
        return self.evaluator.as_table(self.value(position))

    def text(self, position: int) -> str:
        """An argument that is a known text."""
        found = text_of(self.value(position))
        if found is None:
            raise OpaqueStepError("a name is computed when the query runs")
        return found

    def names(self, position: int) -> list[str]:
        """A name, or a list of names."""
        value = self.value(position)
        texts = [text_of(item) for item in value.items] if isinstance(value, ListValue) else [text_of(value)]
        if None in texts:
            raise OpaqueStepError("names of columns are computed when the query runs")
        return [text for text in texts if text is not None]

    def rows_of_list(self, position: int) -> Iterator[tuple[MValue, ...]]:
        """A list of lists, or one list alone: `{{"a", "b"}, {"c", "d"}}`, `{"a", "b"}`."""
        value = self.value(position)
        items = value.items if isinstance(value, ListValue) else ()
        if items and not isinstance(items[0], ListValue):
            yield items
            return
        for item in items:
            if isinstance(item, ListValue) and item.items:
                yield item.items

    def has(self, position: int) -> bool:
        """Whether an argument is given."""
        return position < len(self.values)

    def function_at(self, position: int) -> FunctionValue | None:
        """An argument that is a function."""
        value = self.value(position)
        return value if isinstance(value, FunctionValue) else None


MRule = Callable[[MCallArguments], MValue]
FUNCTIONS: dict[str, MRule] = {}


def m_rule(*names: str) -> Callable[[MRule], MRule]:
    """Registers a rule for M functions; a second rule for a name is an error."""

    def register(function: MRule) -> MRule:
        register_all(names, function)
        return function

    return register


def register_all(names: Iterable[str], function: MRule) -> None:
    """Registers one rule for many names."""
    for name in names:
        assert name not in FUNCTIONS, f"two rules for {name}"
        FUNCTIONS[name] = function
