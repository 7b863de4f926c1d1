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

Ways: TypeAlias = Mapping[ColumnRef, frozenset[Transformation]]

NO_WAYS: Ways = MappingProxyType({})
TAKEN = frozenset({Transformation(Effect.IDENTITY)})
TEXT_LIMIT = 500
SHORT = 120

# the stronger of two direct steps
_STRENGTH = {Effect.IDENTITY: 0, Effect.TRANSFORMATION: 1, Effect.AGGREGATION: 2}


@dataclass(frozen=True, slots=True)
class Flow:
    """What reaches one value. `text` is how a later expression refers to it, `description` how it was made.

    `members` are the flows of a struct's members where they are known apart, and `rest` are the structs, one or the
    other, that every other member is read off. `column` is the source column that this value is, taken as is.
    """

    ways: Ways = field(default_factory=lambda: NO_WAYS)
    text: str = ""
    description: str = ""
    members: Mapping[str, Flow] | None = None
    column: ColumnRef | None = None
    rest: tuple[Flow, ...] = ()

    def with_text(self, text: str) -> Flow:
        """The same value, referred to by `text`."""
        return replace(self, text=text)


EMPTY = Flow()


def source(column: ColumnRef) -> Flow:
    """A column of a dataset, as it is read."""
    return Flow({column: TAKEN}, text=column.field, column=column)


def qualified(flow: Flow) -> Flow:
    """The same value, referred to with the short name of its dataset: where columns of several meet."""
    if flow.column is None:
        return flow
    short = flow.column.dataset.name.rstrip("/").replace(".", "/").rsplit("/", 1)[-1]
    return flow.with_text(f"{short}.{flow.text}")


def through(ways: Ways, effect: Effect, *, masking: bool = False, text: str = "") -> Ways:
    """What `ways` become when one more step with `effect` is taken after them.

    `a IDENTITY` through AGGREGATION → `a AGGREGATION`; anything through FILTER → FILTER; a CONDITIONAL stays one.
    """
    if effect is Effect.IDENTITY and not masking:
        return ways
    if effect.is_direct:
        return {column: _direct(found, effect, masking) for column, found in ways.items()}
    return {column: _indirect(found, effect, masking, text) for column, found in ways.items()}


@lru_cache(maxsize=4096)
def _direct(found: frozenset[Transformation], effect: Effect, masking: bool) -> frozenset[Transformation]:
    return frozenset(_one_more(way, effect, masking) for way in found)


def _one_more(way: Transformation, effect: Effect, masking: bool) -> Transformation:
    if effect is Effect.IDENTITY or not way.effect.is_direct:
        return Transformation(way.effect, way.description, way.masking or masking)
    return Transformation(_stronger(way.effect, effect), "", way.masking or masking)


@lru_cache(maxsize=4096)
def _indirect(found: frozenset[Transformation], effect: Effect, masking: bool, text: str) -> frozenset[Transformation]:
    return frozenset(Transformation(effect, cut(text), way.masking or masking) for way in found)


def _stronger(inner: Effect, outer: Effect) -> Effect:
    return inner if _STRENGTH[inner] >= _STRENGTH[outer] else outer


def merge(parts: Iterable[Ways]) -> Ways:
    """All ways of all parts; a column that occurs in several has the union of its ways, in order of appearance."""
    present = [part for part in parts if part]
    if len(present) <= 1:
        return present[0] if present else NO_WAYS
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


def member(flow: Flow, name: str) -> Flow:
    """The member `name` of a struct: of its own making, of a source column, or else a transformation of the whole."""
    text = f"{flow.text}.{name}"
    if flow.members is not None and name in flow.members:
        return flow.members[name]
    if flow.rest:
        return either([member(whole, name) for whole in flow.rest])
    if flow.column is not None:
        part = ColumnRef(flow.column.dataset, f"{flow.column.field}.{name}")
        return Flow({part: flow.ways[flow.column]}, text=text, column=part)
    return Flow(through(flow.ways, Effect.TRANSFORMATION), text=text, description=text)


def either(flows: list[Flow]) -> Flow:
    """One of several values: the ways of all of them, each described by its own branch."""
    distinct = list({id(flow): flow for flow in flows if flow.ways}.values())
    if len(distinct) == 1:
        return distinct[0]
    if not distinct:
        return flows[0] if flows else EMPTY
    return Flow(merge(described(flow) for flow in distinct), text=distinct[0].text, description=distinct[0].description)


def one_struct(flows: list[Flow]) -> Flow:
    """One of several structs: their members are still known apart."""
    found = either(flows)
    if any(found is flow for flow in flows):
        return found
    known = [flow.rest if flow.rest and not flow.members else (flow,) for flow in flows]
    return replace(found, rest=tuple({id(flow): flow for part in known for flow in part}.values()))


def dependencies(ways: Ways, description: str = "") -> tuple[Dependency, ...]:
    """The entries of one output: each source column once, its ways strongest first, direct ones described."""
    return tuple(
        Dependency(column, tuple(sorted(_described(way, description) for way in found)))
        for column, found in ways.items()
    )


def described(flow: Flow) -> Ways:
    """The ways of a flow, its description written into the direct ones before they meet another branch's."""
    return {
        column: frozenset(_described(way, flow.description) for way in found) for column, found in flow.ways.items()
    }


def _described(way: Transformation, description: str) -> Transformation:
    if not way.effect.is_direct or way.effect is Effect.IDENTITY or way.description:
        return way
    return Transformation(way.effect, cut(description), way.masking)


def cut(text: str) -> str:
    """`text`, or its beginning and an honest mark where it is longer than a description may be."""
    return text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT - 1] + "…"
