"""What a scan is made of, where it is not one dataset: several folders, a query that another database runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from colline.trace.columns import ColumnRef, DatasetName, Effect, Transformation
from colline.trace.flow import Flow, Ways, merge

Made = tuple[tuple[ColumnRef, Effect], ...]


@dataclass(frozen=True)
class Makeup:
    """The datasets behind one scan. A column that is not in `columns` is one of every dataset in `whole`."""

    datasets: tuple[DatasetName, ...]
    whole: tuple[DatasetName, ...] = ()
    columns: Mapping[str, Made] = field(default_factory=dict)
    rows: Made = ()

    def flow(self, name: str) -> Flow:
        """What reaches the scan's column of that name."""
        made = self.columns.get(name.lower())
        if made is None:
            made = tuple((ColumnRef(dataset, name), Effect.IDENTITY) for dataset in self.whole)
        return Flow(ways(made), text=name)


def ways(made: Made) -> Ways:
    """The same as ways."""
    return merge({column: frozenset({Transformation(effect)})} for column, effect in made)
