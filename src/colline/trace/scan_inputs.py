"""What a scan is made of, where it is not one dataset: several folders, a query that another database runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from colline.trace.columns import ColumnRef, DatasetName, Effect, Transformation
from colline.trace.flow import Dependencies, Flow, merge

ColumnEffects = tuple[tuple[ColumnRef, Effect], ...]


@dataclass(frozen=True)
class ScanInputs:
    """The datasets behind one scan. A column that is not in `columns` is one of every dataset in `whole`."""

    datasets: tuple[DatasetName, ...]
    default_datasets: tuple[DatasetName, ...] = ()
    columns: Mapping[str, ColumnEffects] = field(default_factory=dict)
    row_effects: ColumnEffects = ()

    def flow(self, name: str) -> Flow:
        """What reaches the scan's column of that name."""
        effects = self.columns.get(name.lower())
        if effects is None:
            effects = tuple((ColumnRef(dataset, name), Effect.IDENTITY) for dataset in self.default_datasets)
        return Flow(to_dependencies(effects), text=name)


def to_dependencies(effects: ColumnEffects) -> Dependencies:
    """The same as ways."""
    return merge({column: frozenset({Transformation(effect)})} for column, effect in effects)
