"""Column lineage of a decoded plan: pure functions, one rule per kind of node."""

from colline.trace.columns import ColumnRef, DatasetName, Dependency, Effect, Transformation
from colline.trace.result import (
    ColumnLineage,
    ColumnRead,
    DatasetRead,
    Lifecycle,
    OpaqueStep,
    SchemaField,
    Statement,
    Use,
    Write,
)
from colline.trace.statement import lineage, statement
from colline.trace.tracer import Context

__all__ = [
    "ColumnLineage",
    "ColumnRead",
    "ColumnRef",
    "Context",
    "DatasetName",
    "DatasetRead",
    "Dependency",
    "Effect",
    "Lifecycle",
    "OpaqueStep",
    "SchemaField",
    "Statement",
    "Transformation",
    "Use",
    "Write",
    "lineage",
    "statement",
]
