"""The flows through an opaque step: each of its outputs depends on each of its inputs.

Written out, these are inputs times outputs. Above a size, the step is a pseudo column: its outputs depend on the
step, and the step on its inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256

from colline.trace.columns import ColumnRef, DatasetName, Dependency, Effect, Transformation
from colline.trace.flow import UNCHANGED, Dependencies, Flow, apply_effect, dependency_entries, merge
from colline.trace.relation import Relation

MAX_EXPANDED_COLUMNS = 64
_STEP_NAMESPACE = "colline:step"


@dataclass(frozen=True, slots=True)
class StepColumn(ColumnRef):
    """The pseudo column of an opaque step. Its field is a digest of the step, so that equal steps are equal."""

    node: str = field(default="", compare=False)
    inputs: tuple[Dependency, ...] = field(default=(), compare=False)

    @property
    def function(self) -> str:
        """The name of the function that the step runs."""
        return self.dataset.name


def opaque_relation(output: tuple[str, ...], inputs: list[Relation], function: str, node: str = "") -> Relation:
    """Every column of the output from every column of the inputs."""
    dependencies = apply_effect(merge(each.all_dependencies for each in inputs), Effect.TRANSFORMATION)
    description = f"{function}(…)"
    if min(len(dependencies), len(output)) > MAX_EXPANDED_COLUMNS:
        dependencies = apply_effect({_step(dependencies, function, node): UNCHANGED}, Effect.TRANSFORMATION)
    flow = Flow(dependencies, text=function, description=description)
    return Relation(dict.fromkeys(output, flow), output, merge(each.row_dependencies for each in inputs))


def _step(dependencies: Dependencies, function: str, node: str) -> StepColumn:
    digest = sha256(f"{node} {function}".encode("utf-8", "surrogatepass"))
    for column in dependencies:
        parts = (column.dataset.namespace, column.dataset.name, column.field)
        digest.update(repr(parts).encode("utf-8", "surrogatepass"))
    name = DatasetName(_STEP_NAMESPACE, function)
    return StepColumn(name, digest.hexdigest()[:12], node, dependency_entries(dependencies, f"{function}(…)"))


def steps_of(entries: Iterable[Dependency]) -> tuple[StepColumn, ...]:
    """The opaque steps behind dependencies, each once, a step before those that it reads."""
    found: dict[StepColumn, None] = {}
    stack = list(entries)
    while stack:
        column = stack.pop().column
        if isinstance(column, StepColumn) and column not in found:
            found[column] = None
            stack.extend(column.inputs)
    return tuple(found)


def without_steps(entries: Iterable[Dependency]) -> tuple[Dependency, ...]:
    """The dependencies on source columns."""
    return tuple(entry for entry in entries if not isinstance(entry.column, StepColumn))


def through_steps(entries: Iterable[Dependency]) -> Iterator[Dependency]:
    """The dependencies on source columns, and those of the steps, each once."""
    found = list(entries)
    yield from without_steps(found)
    for step in steps_of(found):
        yield from without_steps(step.inputs)


def bounded_rows(entries: Iterable[Dependency]) -> tuple[Dependency, ...]:
    """The source columns behind the steps of any of these entries, as a transformation of the whole output."""
    columns = dict.fromkeys(entry.column for step in steps_of(entries) for entry in without_steps(step.inputs))
    return tuple(Dependency(column, (Transformation(Effect.TRANSFORMATION),)) for column in columns)
