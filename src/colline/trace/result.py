"""The result of tracing: the `ColumnLineage` of a query, and a `Statement` with one `Write` per target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import Any

from colline.plan.source import Source
from colline.trace.columns import DatasetName, Dependency
from colline.trace.lineage_text import format_html, format_table


class Use(Enum):
    """What a query uses a column for."""

    VALUE = "value"
    JOIN = "join"
    FILTER = "filter"
    GROUP_BY = "group_by"
    SORT = "sort"
    WINDOW = "window"
    CONDITIONAL = "conditional"


@dataclass(frozen=True, slots=True)
class SchemaField:
    """One column of a schema, with the type as Spark writes it."""

    name: str
    type: str


def quoted_names(schema: Iterable[SchemaField]) -> dict[str, str]:
    """`a.b` → "`a.b`" where a is a struct: without quotes, this is the path of the member b of a."""
    columns = tuple(schema)
    structs = {column.name.lower() for column in columns if column.type.startswith("struct<")}
    dotted = [column.name for column in columns if "." in column.name]
    return {name: f"`{name}`" for name in dotted if any(name.lower().startswith(f"{each}.") for each in structs)}


def with_quoted_names(schema: Iterable[SchemaField]) -> tuple[SchemaField, ...]:
    """The schema with the names of `quoted_names`."""
    columns = tuple(schema)
    quoted = quoted_names(columns)
    return tuple(replace(each, name=quoted.get(each.name, each.name)) for each in columns)


@dataclass(frozen=True, slots=True)
class ColumnRead:
    """A column that a query reads, and what it uses the column for."""

    field: str
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class DatasetRead:
    """A dataset that a query reads: its name, Spark's description of it, its schema, and the columns the query uses."""

    name: DatasetName
    source: Source
    schema: tuple[SchemaField, ...] = ()
    reads: tuple[ColumnRead, ...] = ()


@dataclass(frozen=True, slots=True)
class OpaqueStep:
    """A step whose code cannot be analyzed. Every output column is assumed to depend on every input column."""

    node: str
    function: str = ""
    why: str = ""


@dataclass(frozen=True)
class ColumnLineage:
    """The input columns of each output column (`fields`), and those that decide which rows there are (`dataset`).

    `values` has the expressions of columns that depend on no column: `count(*)`, `current_timestamp()`.
    """

    fields: Mapping[str, tuple[Dependency, ...]] = field(default_factory=dict)
    dataset: tuple[Dependency, ...] = ()
    inputs: tuple[DatasetRead, ...] = ()
    opaque: tuple[OpaqueStep, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", MappingProxyType(dict(self.fields)))
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))

    def facet(self, *, legacy: bool = False) -> dict[str, Any]:
        """The content of the OpenLineage columnLineage facet, as plain JSON types.

        `legacy=True` appends the `dataset` entries to every field, for consumers that do not know `dataset`.
        """
        # A method of the public API that needs an upper layer: only events.lineage_facets knows the JSON of a facet.
        from colline.events.lineage_facets import plain_column_lineage

        return plain_column_lineage(self, legacy=legacy)

    def __str__(self) -> str:
        return format_table(self)

    def _repr_html_(self) -> str:
        return format_html(self)


class Lifecycle(Enum):
    """What a statement does to its target: OpenLineage's lifecycleStateChange."""

    ALTER = "ALTER"
    CREATE = "CREATE"
    DROP = "DROP"
    OVERWRITE = "OVERWRITE"
    RENAME = "RENAME"
    TRUNCATE = "TRUNCATE"


@dataclass(frozen=True)
class Write:
    """One target of a statement, and the lineage of its columns.

    `previous` is the old name of a renamed table. A conditional write is done only if its target exists.
    """

    name: DatasetName
    target: Source
    lineage: ColumnLineage
    schema: tuple[SchemaField, ...] = ()
    lifecycle: Lifecycle | None = None
    previous: DatasetName | None = None
    is_conditional: bool = False


@dataclass(frozen=True)
class Statement:
    """What one execution reads and writes. A query that writes nothing has no `writes`.

    Without `has_columns`, the datasets are known and the lineage of their columns is not.
    """

    writes: tuple[Write, ...]
    inputs: tuple[DatasetRead, ...]
    opaque: tuple[OpaqueStep, ...] = ()
    has_columns: bool = True
