"""The values lineage is made of: datasets, columns, effects, dependencies. Frozen, ordered, comparable."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True, order=True)
class DatasetName:
    """OpenLineage's identity of a dataset."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True, order=True)
class ColumnRef:
    """One column of one dataset; `field` is a dotted path where a struct member was read."""

    dataset: DatasetName
    field: str


class Effect(Enum):
    """How an input column reaches an output: OpenLineage type and subtype."""

    IDENTITY = ("DIRECT", "IDENTITY")
    TRANSFORMATION = ("DIRECT", "TRANSFORMATION")
    AGGREGATION = ("DIRECT", "AGGREGATION")
    JOIN = ("INDIRECT", "JOIN")
    GROUP_BY = ("INDIRECT", "GROUP_BY")
    FILTER = ("INDIRECT", "FILTER")
    SORT = ("INDIRECT", "SORT")
    WINDOW = ("INDIRECT", "WINDOW")
    CONDITIONAL = ("INDIRECT", "CONDITIONAL")

    @property
    def is_direct(self) -> bool:
        """Whether the output value is derived from the input value."""
        return self.value[0] == "DIRECT"

    @property
    def type(self) -> str:
        """OpenLineage's `type`."""
        return self.value[0]

    @property
    def subtype(self) -> str:
        """OpenLineage's `subtype`."""
        return self.value[1]


_RANK = {effect: rank for rank, effect in enumerate(Effect)}


@dataclass(frozen=True, slots=True)
class Transformation:
    """One way an input reaches an output."""

    effect: Effect
    description: str = ""
    masking: bool = False

    def __lt__(self, other: Transformation) -> bool:
        return self._key() < other._key()

    def _key(self) -> tuple[int, str, bool]:
        return (_RANK[self.effect], self.description, self.masking)


@dataclass(frozen=True, slots=True)
class Dependency:
    """An input column with the set of ways it reaches one output, strongest first."""

    column: ColumnRef
    transformations: tuple[Transformation, ...]
