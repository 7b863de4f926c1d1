"""The values that lineage consists of: datasets, columns, effects and dependencies. Frozen and comparable."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True, order=True)
class DatasetName:
    """The identity of a dataset in OpenLineage."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True, order=True)
class ColumnRef:
    """One column of one dataset. For a struct member, `field` is its dotted path: `address.zip`."""

    dataset: DatasetName
    field: str


class Effect(Enum):
    """How an input column affects an output: OpenLineage's type and subtype."""

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
    """One effect of an input column on an output, with the SQL text of its expression."""

    effect: Effect
    description: str = ""
    masking: bool = False

    def __lt__(self, other: Transformation) -> bool:
        return self._key() < other._key()

    def _key(self) -> tuple[int, str, bool]:
        return (_RANK[self.effect], self.description, self.masking)


@dataclass(frozen=True, slots=True)
class Dependency:
    """An input column of one output, with every effect it has there: direct ones first."""

    column: ColumnRef
    transformations: tuple[Transformation, ...]
