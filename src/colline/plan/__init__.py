"""What a Spark plan is: frozen nodes and expressions decoded from the tap's JSON. No Spark, no lineage."""

from colline.plan.decode import Plan, decode
from colline.plan.node import Node, Sort, Value
from colline.plan.plan_text import show
from colline.plan.source import Source, SourceKind

__all__ = ["Node", "Plan", "Sort", "Source", "SourceKind", "Value", "decode", "show"]
