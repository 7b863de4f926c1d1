"""An extension as a third party would ship it: a leaf, an expression, a masking function, and a rule that breaks."""

from __future__ import annotations

from colline.naming.dataset import NameContext, NamedDataset
from colline.plan import Node, Source, SourceKind
from colline.trace import DatasetName
from colline.trace.relation import Relation
from colline.trace.rule_plugins import Extension
from colline.trace.tracer import Trace


def register(extension: Extension) -> None:
    """The entry point `colline.rules`."""

    @extension.leaf("VectorScan")
    def scan(node: Node) -> Source:
        return Source(SourceKind.OTHER, provider="vectors", options=(("name", node.text("index")),))

    @extension.operator("VectorBroken")
    def raise_error(node: Node, trace: Trace) -> Relation:
        raise ValueError("not today")

    extension.masking("vector_token")


def name(source: Source, context: NameContext) -> NamedDataset | None:
    """The entry point `colline.datasets`."""
    if source.provider != "vectors":
        return None
    return NamedDataset(DatasetName("vectors://store", source.option("name") or ""))
