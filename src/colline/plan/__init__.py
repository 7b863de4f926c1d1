"""A Spark plan as frozen Python values, decoded from JSON. No Spark, no lineage."""

from colline.plan.decode import Plan, decode
from colline.plan.node import Node, NodeCategory, Value
from colline.plan.plan_text import format_plan
from colline.plan.source import Source, SourceKind

__all__ = ["Node", "NodeCategory", "Plan", "Source", "SourceKind", "Value", "decode", "format_plan"]
