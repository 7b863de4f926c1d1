"""A semantic model as frozen values, the same for TMDL and for model.bim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class FilePosition:
    """A line of a file."""

    file: str = ""
    line: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else f"line {self.line}"


NOWHERE = FilePosition()
POLICY_RANGE = "policyrange"  # the kind of a partition that the refresh policy of its table defines
# further expressions of a measure, and those of its KPI
MEASURE_DETAILS = ("formatStringDefinition", "detailRowsDefinition")
KPI_EXPRESSIONS = ("targetExpression", "statusExpression", "trendExpression")


@dataclass(frozen=True, slots=True)
class ModelProblem:
    """Something in a file that could not be read, and what was expected there."""

    position: FilePosition
    message: str


@dataclass(frozen=True, slots=True)
class Expression:
    """The text of a DAX, M or SQL expression, and where it begins."""

    text: str
    position: FilePosition = NOWHERE


@dataclass(frozen=True, slots=True)
class ModelColumn:
    """A column. It comes from the table's source (`source_column`), or is calculated by `expression`."""

    name: str
    data_type: str = ""
    source_column: str = ""
    expression: Expression | None = None
    description: str = ""
    sort_by: str = ""
    is_hidden: bool = False
    position: FilePosition = NOWHERE


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of a table. `details` decide how its value is shown: format, KPI, detail rows."""

    name: str
    expression: Expression
    description: str = ""
    is_hidden: bool = False
    details: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class CalculationItem:
    """An item of a calculation group: it changes every measure that it is applied to."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A hierarchy with the columns of its levels, outermost first."""

    name: str
    columns: tuple[str, ...]
    description: str = ""
    position: FilePosition = NOWHERE


@dataclass(frozen=True, slots=True)
class EntitySource:
    """The table of a lakehouse or warehouse that a Direct Lake partition reads, and the expression that connects."""

    entity: str
    schema: str = ""
    expression_name: str = ""


@dataclass(frozen=True, slots=True)
class Partition:
    """Where the rows of a table come from: an M expression, DAX, a SQL query, or an entity."""

    name: str
    kind: str  # m, calculated, entity, query, policyRange, none, …
    mode: str = ""  # import, directQuery, directLake, dual
    expression: Expression | None = None
    entity: EntitySource | None = None
    data_source: str = ""
    position: FilePosition = NOWHERE


@dataclass(frozen=True, slots=True)
class ModelTable:
    """A table with its columns, measures, hierarchies and partitions."""

    name: str
    columns: tuple[ModelColumn, ...] = ()
    measures: tuple[Measure, ...] = ()
    hierarchies: tuple[Hierarchy, ...] = ()
    partitions: tuple[Partition, ...] = ()
    calculation_items: tuple[CalculationItem, ...] = ()
    description: str = ""
    is_calculation_group: bool = False
    is_hidden: bool = False
    position: FilePosition = NOWHERE


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship from the many side to the one side."""

    from_table: str
    from_column: str
    to_table: str
    to_column: str
    is_active: bool = True
    position: FilePosition = NOWHERE


@dataclass(frozen=True, slots=True)
class RoleFilter:
    """The rows of a table that a role may read."""

    role: str
    table: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class DataSource:
    """A connection of an older model, which query partitions name."""

    name: str
    connection: str = ""
    properties: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class SemanticModel:
    """A model. `expressions` are shared M expressions and parameters, `functions` are user-defined DAX functions."""

    name: str
    tables: tuple[ModelTable, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    role_filters: tuple[RoleFilter, ...] = ()
    expressions: Mapping[str, Expression] = field(default_factory=lambda: MappingProxyType({}))
    functions: Mapping[str, Expression] = field(default_factory=lambda: MappingProxyType({}))
    data_sources: Mapping[str, DataSource] = field(default_factory=lambda: MappingProxyType({}))
    description: str = ""
    position: FilePosition = NOWHERE
