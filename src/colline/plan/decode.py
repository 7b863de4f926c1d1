"""Decodes the JSON of a plan, as the Spark listener writes it, into nodes.

The JSON is a flat list of nodes, children before parents, so one pass builds the whole plan without recursion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from colline.errors import PlanError
from colline.plan.node import Node, NodeCategory, Value

_HINT = "record the plan again with this version of colline"


@dataclass(frozen=True, slots=True)
class Plan:
    """A decoded plan. It is partial if it was too large or too deep and only its leaves were read."""

    root: Node
    nodes: tuple[Node, ...]
    is_partial: bool = False


def decode(data: Mapping[str, Any]) -> Plan:
    """Decode a plan from its `classes`, `nodes` and `root`."""
    try:
        classes = [
            (name, NodeCategory(category), tuple(fields), function or "")
            for name, category, fields, function in data["classes"]
        ]
        nodes: list[Node] = []
        for index, (class_index, *arguments) in enumerate(data["nodes"]):
            kind, category, fields, function = classes[class_index]
            values = {field: _decode_value(item, nodes) for field, item in zip(fields, arguments, strict=True)}
            nodes.append(Node(kind, category, MappingProxyType(values), index, function))
        return Plan(nodes[data["root"]], tuple(nodes), bool(data.get("partial")))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise PlanError(f"cannot decode the plan: {error!r}", hint=_HINT) from error


def _decode_value(item: Any, nodes: Sequence[Node]) -> Value:
    """A number is the index of an earlier node; text, booleans, null and lists are values."""
    if type(item) is int:
        return nodes[item]
    json_type = type(item)
    if json_type is str or json_type is bool or item is None:
        return cast("Value", item)
    if json_type is list:
        return tuple([_decode_value(inner, nodes) for inner in item])
    raise PlanError(f"cannot decode the plan: unexpected value of type {json_type.__name__}", hint=_HINT)
