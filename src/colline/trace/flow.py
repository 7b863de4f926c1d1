"""The algebra of lineage: what reaches a value (`Flow`), and how one more step changes it.

`Ways` maps each source column to the set of ways it arrives. A DIRECT way carries no text of its own: the expression of
the output column describes it. An INDIRECT way keeps the text of the condition that made it indirect.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

from colline.trace.columns import ColumnRef, Dependency, Effect, Transformation

Dependencies: TypeAlias = Mapping[ColumnRef, frozenset[Transformation]]

NO_DEPENDENCIES: Dependencies = MappingProxyType({})
AS_IS = frozenset({Transformation(Effect.IDENTITY)})
MAX_DESCRIPTION_CHARS = 500
MAX_INLINE_CHARS = 120

# the stronger of two direct steps
_STRENGTH = {Effect.IDENTITY: 0, Effect.TRANSFORMATION: 1, Effect.AGGREGATION: 2}


@dataclass(frozen=True, slots=True)
class Flow:
    """What reaches one value. `text` is how a later expression refers to it, `description` how it was made.

    `members` are the flows of a struct's members where they are known apart, and `rest` are the structs, one or the
    other, that every other member is read off. `column` is the source column that this value is, taken as is.
    """

    dependencies: Dependencies = field(default_factory=lambda: NO_DEPENDENCIES)
    text: str = ""
    description: str = ""
    members: Mapping[str, Flow] | None = None
    column: ColumnRef | None = None
    bases: tuple[Flow, ...] = ()

    def with_text(self, text: str) -> Flow:
        """The same value, referred to by `text`."""
        return replace(self, text=text)


EMPTY_FLOW = Flow()


def column_flow(column: ColumnRef) -> Flow:
    """A column of a dataset, as it is read."""
    return Flow({column: AS_IS}, text=column.field, column=column)


def qualify(flow: Flow) -> Flow:
    """The same value, referred to with the short name of its dataset: where columns of several meet."""
    if flow.column is None:
        return flow
    short = flow.column.dataset.name.rstrip("/").replace(".", "/").rsplit("/", 1)[-1]
    return flow.with_text(f"{short}.{flow.text}")


def apply_effect(dependencies: Dependencies, effect: Effect, *, masking: bool = False, text: str = "") -> Dependencies:
    """What `ways` become when one more step with `effect` is taken after them.

    `a IDENTITY` through AGGREGATION → `a AGGREGATION`; anything through FILTER → FILTER; a CONDITIONAL stays one.
    """
    if effect is Effect.IDENTITY and not masking:
        return dependencies
    if effect.is_direct:
        return {column: _apply_direct(found, effect, masking) for column, found in dependencies.items()}
    return {column: _apply_indirect(found, effect, masking, text) for column, found in dependencies.items()}


@lru_cache(maxsize=4096)
def _apply_direct(found: frozenset[Transformation], effect: Effect, masking: bool) -> frozenset[Transformation]:
    return frozenset(_apply_direct_once(transformation, effect, masking) for transformation in found)


def _apply_direct_once(transformation: Transformation, effect: Effect, masking: bool) -> Transformation:
    if effect is Effect.IDENTITY or not transformation.effect.is_direct:
        return Transformation(transformation.effect, transformation.description, transformation.masking or masking)
    return Transformation(_stronger(transformation.effect, effect), "", transformation.masking or masking)


@lru_cache(maxsize=4096)
def _apply_indirect(
    found: frozenset[Transformation], effect: Effect, masking: bool, text: str
) -> frozenset[Transformation]:
    return frozenset(
        Transformation(effect, truncate(text), transformation.masking or masking) for transformation in found
    )


def _stronger(inner: Effect, outer: Effect) -> Effect:
    return inner if _STRENGTH[inner] >= _STRENGTH[outer] else outer


def merge(parts: Iterable[Dependencies]) -> Dependencies:
    """All ways of all parts; a column that occurs in several has the union of its ways, in order of appearance."""
    present = [part for part in parts if part]
    if len(present) <= 1:
        return present[0] if present else NO_DEPENDENCIES
    merged: dict[ColumnRef, frozenset[Transformation]] = dict(present[0])
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


def read_member(flow: Flow, name: str) -> Flow:
    """The member `name` of a struct: of its own making, of a source column, or else a transformation of the whole."""
    text = f"{flow.text}.{name}"
    if flow.members is not None and name in flow.members:
        return flow.members[name]
    if flow.bases:
        return merge_flows([read_member(whole, name) for whole in flow.bases])
    if flow.column is not None:
        part = ColumnRef(flow.column.dataset, f"{flow.column.field}.{name}")
        return Flow({part: flow.dependencies[flow.column]}, text=text, column=part)
    return Flow(apply_effect(flow.dependencies, Effect.TRANSFORMATION), text=text, description=text)


def merge_flows(flows: list[Flow]) -> Flow:
    """One of several values: the ways of all of them, each described by its own branch."""
    distinct = list({id(flow): flow for flow in flows if flow.dependencies}.values())
    if len(distinct) == 1:
        return distinct[0]
    if not distinct:
        return flows[0] if flows else EMPTY_FLOW
    return Flow(
        merge(describe_dependencies(flow) for flow in distinct),
        text=distinct[0].text,
        description=distinct[0].description,
    )


def merge_structs(flows: list[Flow]) -> Flow:
    """One of several structs: their members are still known apart."""
    found = merge_flows(flows)
    if any(found is flow for flow in flows):
        return found
    known = [flow.bases if flow.bases and not flow.members else (flow,) for flow in flows]
    return replace(found, bases=tuple({id(flow): flow for part in known for flow in part}.values()))


def dependency_entries(dependencies: Dependencies, description: str = "") -> tuple[Dependency, ...]:
    """The entries of one output: each source column once, its ways strongest first, direct ones described."""
    return tuple(
        Dependency(column, tuple(sorted(_describe(transformation, description) for transformation in found)))
        for column, found in dependencies.items()
    )


def describe_dependencies(flow: Flow) -> Dependencies:
    """The ways of a flow, its description written into the direct ones before they meet another branch's."""
    return {
        column: frozenset(_describe(transformation, flow.description) for transformation in found)
        for column, found in flow.dependencies.items()
    }


def _describe(transformation: Transformation, description: str) -> Transformation:
    if not transformation.effect.is_direct or transformation.effect is Effect.IDENTITY or transformation.description:
        return transformation
    return Transformation(transformation.effect, truncate(description), transformation.masking)


def truncate(text: str) -> str:
    """`text`, or its beginning and an honest mark where it is longer than a description may be."""
    return text if len(text) <= MAX_DESCRIPTION_CHARS else text[: MAX_DESCRIPTION_CHARS - 1] + "…"
