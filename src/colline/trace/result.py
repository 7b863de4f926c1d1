"""What tracing a plan gives: `ColumnLineage` of a query, and a `Statement` with one `Write` per output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any

from colline.plan.source import Source
from colline.trace.columns import DatasetName, Dependency, Transformation
from colline.trace.lineage_text import format_html, format_table


class Use(Enum):
    """What a query did with a column it read."""

    VALUE = "value"
    JOIN = "join"
    FILTER = "filter"
    GROUP_BY = "group_by"
    SORT = "sort"
    WINDOW = "window"
    CONDITIONAL = "conditional"


@dataclass(frozen=True, slots=True)
class SchemaField:
    """One column of a dataset's schema, with Spark's name of its type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class ColumnRead:
    """A column that was read, and what for."""

    field: str
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class DatasetRead:
    """A dataset a query reads: its name, how Spark described it, its schema, the columns read."""

    name: DatasetName
    source: Source
    schema: tuple[SchemaField, ...] = ()
    reads: tuple[ColumnRead, ...] = ()


@dataclass(frozen=True, slots=True)
class OpaqueStep:
    """A step that cannot be seen into: every output column of it is claimed to need every input column."""

    node: str
    function: str = ""
    why: str = ""


@dataclass(frozen=True)
class ColumnLineage:
    """Which input columns each output column depends on (`fields`), and which ones decide the rows (`dataset`)."""

    fields: Mapping[str, tuple[Dependency, ...]] = field(default_factory=dict)
    dataset: tuple[Dependency, ...] = ()
    inputs: tuple[DatasetRead, ...] = ()
    opaque: tuple[OpaqueStep, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", MappingProxyType(dict(self.fields)))

    def facet(self, *, legacy: bool = False) -> dict[str, Any]:
        """The OpenLineage columnLineage facet in plain JSON types.

        `legacy=True` appends the `dataset` entries to every field, as producers without dataset lineage print it.
        """
        shared = [_entry(dependency) for dependency in self.dataset]
        extra = shared if legacy else []
        fields = {name: {"inputFields": [_entry(d) for d in found] + extra} for name, found in self.fields.items()}
        return {"fields": fields, "dataset": [] if legacy else shared}

    def __str__(self) -> str:
        return format_table(self)

    def _repr_html_(self) -> str:
        return format_html(self)


class Lifecycle(Enum):
    """OpenLineage's lifecycleStateChange of a target."""

    ALTER = "ALTER"
    CREATE = "CREATE"
    DROP = "DROP"
    OVERWRITE = "OVERWRITE"
    RENAME = "RENAME"
    TRUNCATE = "TRUNCATE"


@dataclass(frozen=True)
class Write:
    """One target of a statement, with the lineage of its columns in the target's own names."""

    name: DatasetName
    target: Source
    lineage: ColumnLineage
    schema: tuple[SchemaField, ...] = ()
    lifecycle: Lifecycle | None = None
    previous: DatasetName | None = None


@dataclass(frozen=True)
class Statement:
    """What one execution did: its writes, and everything it read."""

    writes: tuple[Write, ...]
    inputs: tuple[DatasetRead, ...]
    opaque: tuple[OpaqueStep, ...] = ()


def _entry(dependency: Dependency) -> dict[str, Any]:
    column = dependency.column
    return {
        "namespace": column.dataset.namespace,
        "name": column.dataset.name,
        "field": column.field,
        "transformations": [_transformation(t) for t in dependency.transformations],
    }


def _transformation(transformation: Transformation) -> dict[str, Any]:
    return {
        "type": transformation.effect.type,
        "subtype": transformation.effect.subtype,
        "description": transformation.description,
        "masking": transformation.masking,
    }
