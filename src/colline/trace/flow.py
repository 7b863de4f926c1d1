"""Which source columns a value depends on (`Flow`), and how another step of the query changes that.

`Dependencies` maps each source column to the transformations on its path. A DIRECT transformation has no description of
its own until the output column is known, because the expression of that column describes it. An INDIRECT one keeps the
text of the condition that made it indirect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

from colline.trace.columns import ColumnRef, Dependency, Effect, Transformation

Transformations: TypeAlias = frozenset[Transformation]
Dependencies: TypeAlias = Mapping[ColumnRef, Transformations]

NO_DEPENDENCIES: Dependencies = MappingProxyType({})
UNCHANGED: Transformations = frozenset({Transformation(Effect.IDENTITY)})
MAX_DESCRIPTION_CHARS = 500
MAX_INLINE_CHARS = 120  # a longer expression is referred to by its alias

# of two direct effects on one path the stronger one counts
_STRENGTH = {Effect.IDENTITY: 0, Effect.TRANSFORMATION: 1, Effect.AGGREGATION: 2}


@dataclass(frozen=True, slots=True)
class Flow:
    """The dependencies of one value.

    `text` is how a later expression refers to the value and `description` is the expression that computes it. `column`
    is set if the value is a source column without change. For a struct, `members` has the flows of the members that are
    known separately; every other member is read from `bases`.
    """

    dependencies: Dependencies = field(default_factory=lambda: NO_DEPENDENCIES)
    text: str = ""
    description: str = ""
    members: Mapping[str, Flow] | None = None
    column: ColumnRef | None = None
    bases: tuple[Flow, ...] = ()

    def with_text(self, text: str) -> Flow:
        """The same value, referred to as `text`."""
        return replace(self, text=text)


EMPTY_FLOW = Flow()
SEVERAL_VALUES = "…"  # the text of a value that is a different constant in each branch
COUNT_OF_ROWS = "count(1)"  # the text of `count(*)` in a plan
# Text with an argument may name columns of local data. Literals are left out: a date that changes with every run is
# not a change of lineage
_CALL_WITHOUT_ARGUMENTS = re.compile(r"\w+\(\)")


def values_without_inputs(columns: Mapping[str, Flow]) -> dict[str, str]:
    """The expressions of columns that depend on no column: `select count(*) as n, now() as t` → n, t."""
    found = {name: flow.description for name, flow in columns.items() if not flow.dependencies}
    return {
        name: "count(*)" if text == COUNT_OF_ROWS else text
        for name, text in found.items()
        if text == COUNT_OF_ROWS or _CALL_WITHOUT_ARGUMENTS.fullmatch(text)
    }


def column_flow(column: ColumnRef) -> Flow:
    """The flow of a source column that is read without change."""
    return Flow({column: UNCHANGED}, text=column.field, column=column)


def qualify(flow: Flow) -> Flow:
    """Refer to a source column as `table.column`, for expressions over several datasets."""
    if flow.column is None:
        return flow
    table = flow.column.dataset.name.rstrip("/").replace(".", "/").rsplit("/", 1)[-1]
    return flow.with_text(f"{table}.{flow.text}")


def apply_effect(dependencies: Dependencies, effect: Effect, *, masking: bool = False, text: str = "") -> Dependencies:
    """The dependencies after one more step.

    IDENTITY, then AGGREGATION → AGGREGATION; anything, then FILTER → FILTER; CONDITIONAL, then AGGREGATION →
    CONDITIONAL.
    """
    if effect is Effect.IDENTITY and not masking:
        return dependencies
    if effect.is_direct:
        return {column: _apply_direct(found, effect, masking) for column, found in dependencies.items()}
    return {column: _apply_indirect(found, effect, masking, text) for column, found in dependencies.items()}


@lru_cache(maxsize=4096)
def _apply_direct(transformations: Transformations, effect: Effect, masking: bool) -> Transformations:
    return frozenset(_apply_direct_to(each, effect, masking) for each in transformations)


def _apply_direct_to(transformation: Transformation, effect: Effect, masking: bool) -> Transformation:
    masks = transformation.masking or masking
    if effect is Effect.IDENTITY or not transformation.effect.is_direct:
        return Transformation(transformation.effect, transformation.description, masks)
    return Transformation(_stronger_effect(transformation.effect, effect), "", masks)


@lru_cache(maxsize=4096)
def _apply_indirect(transformations: Transformations, effect: Effect, masking: bool, text: str) -> Transformations:
    return frozenset(Transformation(effect, truncate(text), each.masking or masking) for each in transformations)


def _stronger_effect(inner: Effect, outer: Effect) -> Effect:
    return inner if _STRENGTH[inner] >= _STRENGTH[outer] else outer


def merge(parts: Iterable[Dependencies]) -> Dependencies:
    """The union of several dependencies, in order of appearance."""
    present = [part for part in parts if part]
    if len(present) <= 1:
        return present[0] if present else NO_DEPENDENCIES
    merged: dict[ColumnRef, Transformations] = dict(present[0])
    for part in present[1:]:
        if part is present[0]:
            continue
        for column, found in part.items():
            known = merged.get(column)
            if known is None:
                merged[column] = found
            elif known is not found:
                merged[column] = known | found
    return merged


def clear_masking(dependencies: Dependencies) -> Dependencies:
    """The dependencies after a step that restores the clear values."""
    return {
        column: frozenset(replace(each, masking=False) for each in transformations)
        for column, transformations in dependencies.items()
    }


def read_member(flow: Flow, name: str) -> Flow:
    """The member `name` of a struct.

    `struct(a as x).x` → a; `address.zip` of a source column → address.zip; `from_json(a, …).x` → a, TRANSFORMATION.
    """
    text = f"{flow.text}.{name}"
    if flow.members is not None and name in flow.members:
        return flow.members[name]
    if flow.bases:
        return merge_flows([read_member(base, name) for base in flow.bases])
    if flow.column is not None:
        column = ColumnRef(flow.column.dataset, f"{flow.column.field}.{name}")
        return Flow({column: flow.dependencies[flow.column]}, text=text, column=column)
    return Flow(apply_effect(flow.dependencies, Effect.TRANSFORMATION), text=text, description=text)


def merge_flows(flows: list[Flow]) -> Flow:
    """A value that comes from one of several branches, such as those of a UNION; each keeps its own description."""
    distinct = list({id(flow): flow for flow in flows if flow.dependencies}.values())
    if len(distinct) == 1:
        return distinct[0]
    if not distinct:
        return _merge_constants(flows) if flows else EMPTY_FLOW
    first = distinct[0]
    return Flow(merge(describe_dependencies(flow) for flow in distinct), text=first.text, description=first.description)


def _merge_constants(flows: list[Flow]) -> Flow:
    """`select 1 union all select 2` → a value without inputs that is neither 1 nor 2."""
    is_same = len({flow.description or flow.text for flow in flows}) == 1
    return flows[0] if is_same else replace(flows[0], text=SEVERAL_VALUES, description="")


def merge_structs(flows: list[Flow]) -> Flow:
    """Like `merge_flows`, for structs: their members can still be read separately."""
    merged = merge_flows(flows)
    if any(merged is flow for flow in flows):
        return merged
    bases = [flow.bases if flow.bases and not flow.members else (flow,) for flow in flows]
    return replace(merged, bases=tuple({id(flow): flow for part in bases for flow in part}.values()))


def dependency_entries(dependencies: Dependencies, description: str = "") -> tuple[Dependency, ...]:
    """The lineage of one output: one entry per source column, with `description` on its direct transformations."""
    return tuple(
        Dependency(column, tuple(sorted(_describe(each, description) for each in transformations)))
        for column, transformations in dependencies.items()
    )


def describe_dependencies(flow: Flow) -> Dependencies:
    """The dependencies of a flow with its description on the direct ones, so that it survives a merge."""
    return {
        column: frozenset(_describe(each, flow.description) for each in transformations)
        for column, transformations in flow.dependencies.items()
    }


def _describe(transformation: Transformation, description: str) -> Transformation:
    effect = transformation.effect
    if not effect.is_direct or effect is Effect.IDENTITY or transformation.description:
        return transformation
    return Transformation(effect, truncate(description), transformation.masking)


def truncate(text: str) -> str:
    """`text`, shortened with `…` to the maximum length of a description."""
    return text if len(text) <= MAX_DESCRIPTION_CHARS else text[: MAX_DESCRIPTION_CHARS - 1] + "…"
