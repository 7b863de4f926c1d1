"""The datasets behind one scan that is not simply one dataset: several folders, or a query that a database runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from colline.trace.columns import ColumnRef, DatasetName, Effect, Transformation
from colline.trace.flow import Dependencies, Flow, merge

ColumnEffects = tuple[tuple[ColumnRef, Effect], ...]


@dataclass(frozen=True)
class ScanInputs:
    """The datasets of one scan and the source columns of its columns.

    A column that is not in `columns` is read from each of `default_datasets` under the same name. `row_effects` are the
    source columns that decide which rows the scan returns.
    """

    datasets: tuple[DatasetName, ...]
    default_datasets: tuple[DatasetName, ...] = ()
    columns: Mapping[str, ColumnEffects] = field(default_factory=dict)
    row_effects: ColumnEffects = ()

    def flow(self, name: str) -> Flow:
        """The flow of the scan's column `name`."""
        effects = self.columns.get(name.lower())
        if effects is None:
            effects = tuple((ColumnRef(dataset, name), Effect.IDENTITY) for dataset in self.default_datasets)
        return Flow(to_dependencies(effects), text=name)


def to_dependencies(effects: ColumnEffects) -> Dependencies:
    """Source columns and their effects as dependencies."""
    return merge({column: frozenset({Transformation(effect)})} for column, effect in effects)
