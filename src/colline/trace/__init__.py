"""Plan → which column depends on which, and how. Pure functions over frozen plans, one rule per node family."""

from colline.trace.columns import ColumnRef, DatasetName, Dependency, Effect, Transformation
from colline.trace.lineage import (
    ColumnLineage,
    ColumnRead,
    InputDataset,
    Lifecycle,
    OpaqueStep,
    SchemaField,
    Statement,
    Use,
    Write,
)

__all__ = [
    "ColumnLineage",
    "ColumnRead",
    "ColumnRef",
    "DatasetName",
    "Dependency",
    "Effect",
    "InputDataset",
    "Lifecycle",
    "OpaqueStep",
    "SchemaField",
    "Statement",
    "Transformation",
    "Use",
    "Write",
]
