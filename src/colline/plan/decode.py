"""The tap's flat JSON → nodes. Children come first in the list, so one pass builds the whole plan without recursion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from colline.errors import PlanError
from colline.plan.node import Node, NodeCategory, Value


@dataclass(frozen=True, slots=True)
class Plan:
    """A decoded plan. `partial` says that it was too large or too deep and only its leaves were read."""

    root: Node
    nodes: tuple[Node, ...]
    is_partial: bool = False


def decode(data: Mapping[str, Any]) -> Plan:
    """The plan in `data`, which has `classes`, `nodes` and `root` as the tap writes them."""
    try:
        kinds = [
            (name, NodeCategory(category), tuple(fields), function or "")
            for name, category, fields, function in data["classes"]
        ]
        nodes: list[Node] = []
        for index, (kind, *arguments) in enumerate(data["nodes"]):
            name, category, fields, function = kinds[kind]
            values = {field: _value(item, nodes) for field, item in zip(fields, arguments, strict=True)}
            nodes.append(Node(name, category, MappingProxyType(values), index, function))
        return Plan(nodes[data["root"]], tuple(nodes), bool(data.get("partial")))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise PlanError(
            f"not a plan as the tap writes it: {error!r}", hint="record it again with this version of colline"
        ) from error


def _value(item: Any, nodes: Sequence[Node]) -> Value:
    if type(item) is int:
        return nodes[item]
    kind = type(item)
    if kind is str or kind is bool or item is None:
        return cast("Value", item)
    if kind is list:
        return tuple([_value(inner, nodes) for inner in item])
    raise PlanError(f"a plan holds a {kind.__name__}", hint="record it again with this version of colline")
