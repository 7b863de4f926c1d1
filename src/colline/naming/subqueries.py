"""Columns of SQL text of another database: which table's column each output of a JDBC query is made of.

sqlglot reads the text. What it cannot tell apart, a bare column over two tables, is claimed of both.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from colline.naming.jdbc_queries import Fold, as_query, table_parts
from colline.trace import Effect

log = logging.getLogger("colline")

Table = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """One column of one table, and how it arrives."""

    table: Table
    column: str
    effect: Effect


@dataclass(frozen=True)
class Columns:
    """What a query's outputs are made of. `whole` are the tables whose every column comes out as it is (`select *`)."""

    outputs: dict[str, tuple[Origin, ...]] = field(default_factory=dict)
    rows: tuple[Origin, ...] = ()
    whole: tuple[Table, ...] = ()


@lru_cache(maxsize=256)
def columns_of(sql: str, dialect: str, fold: Fold) -> Columns | None:
    """The columns of a query, by lower-case output name; None where nobody can read it."""
    try:
        import sqlglot
        from sqlglot.errors import SqlglotError
        from sqlglot.optimizer.scope import build_scope
    except ImportError:
        return None
    try:
        root = build_scope(sqlglot.parse_one(as_query(sql), dialect=dialect or None))
        return _Reader(fold).read(root) if root is not None else None
    except (SqlglotError, RecursionError, ValueError, LookupError, AttributeError) as error:  # trees of any shape
        log.warning("cannot read the query of a JDBC source: %s", type(error).__name__)
        return None


_DIRECT = (Effect.IDENTITY, Effect.TRANSFORMATION, Effect.AGGREGATION)


# clause of a SELECT → how its columns decide the rows
_CLAUSES = (
    ("where", Effect.FILTER),
    ("having", Effect.FILTER),
    ("group", Effect.GROUP_BY),
    ("order", Effect.SORT),
)


def _after(inner: Effect, outer: Effect) -> Effect:
    """The effect of one step after another: an indirect step stays, of two direct ones the stronger."""
    if not inner.is_direct or not outer.is_direct:
        return outer if inner.is_direct else inner
    return _DIRECT[max(_DIRECT.index(inner), _DIRECT.index(outer))]


def _sources(scope: Any) -> dict[str, Any]:
    """What a SELECT reads from, by the name it goes by there."""
    return {alias: source for alias, (_, source) in scope.selected_sources.items()}


def _branches(scope: Any) -> list[Any]:
    """The two sides of a UNION and its kin; versions of sqlglot call them differently."""
    return list(getattr(scope, "set_operation_scopes", None) or getattr(scope, "union_scopes", None) or ())


class _Reader:
    """One walk over the scopes of a query."""

    def __init__(self, fold: Fold) -> None:
        from sqlglot import exp

        self._exp = exp
        self._fold = fold
        self._known: dict[int, Columns] = {}

    def read(self, scope: Any) -> Columns:
        """What comes out of a scope."""
        if id(scope) not in self._known:
            branches = _branches(scope)
            self._known[id(scope)] = self._union(branches) if branches else self._select(scope)
        return self._known[id(scope)]

    def _union(self, scopes: Iterable[Any]) -> Columns:
        """By position, under the names of the first branch."""
        branches = [self.read(branch) for branch in scopes]
        first = branches[0]
        lists = [list(branch.outputs.values()) for branch in branches]
        outputs = {
            name: tuple(dict.fromkeys(origin for one in lists if place < len(one) for origin in one[place]))
            for place, name in enumerate(first.outputs)
        }
        whole = tuple(dict.fromkeys(table for branch in branches for table in branch.whole))
        return Columns(outputs, tuple(origin for branch in branches for origin in branch.rows), whole)

    def _select(self, scope: Any) -> Columns:
        outputs: dict[str, tuple[Origin, ...]] = {}
        whole: list[Table] = []
        for item in scope.expression.selects:
            if item.is_star:
                for source in self._starred(item, scope):
                    if isinstance(source, self._exp.Table):
                        whole.append(table_parts(source, self._fold))
                    else:
                        outputs.update(self.read(source).outputs)
                        whole += self.read(source).whole
            else:
                outputs[item.alias_or_name.lower()] = tuple(self._origins(item, scope, self._effect(item)))
        return Columns(outputs, tuple(dict.fromkeys(self._rows(scope))), tuple(dict.fromkeys(whole)))

    def _starred(self, item: Any, scope: Any) -> Iterable[Any]:
        named = item.table if isinstance(item, self._exp.Column) else ""
        return [source for alias, source in _sources(scope).items() if not named or alias == named]

    def _effect(self, item: Any) -> Effect:
        value = item.unalias()
        if isinstance(value, self._exp.Column):
            return Effect.IDENTITY
        return Effect.AGGREGATION if value.find(self._exp.AggFunc) else Effect.TRANSFORMATION

    def _rows(self, scope: Any) -> Iterator[Origin]:
        select = scope.expression
        parts = [
            ("where", Effect.FILTER),
            ("having", Effect.FILTER),
            ("group", Effect.GROUP_BY),
            ("order", Effect.SORT),
        ]
        for name, effect in parts:
            if select.args.get(name):
                yield from self._origins(select.args[name], scope, effect)
        for join in select.args.get("joins") or ():
            yield from self._origins(join, scope, Effect.JOIN)
        for source in _sources(scope).values():
            if not isinstance(source, self._exp.Table):
                yield from self.read(source).rows

    def _origins(self, part: Any, scope: Any, effect: Effect) -> Iterator[Origin]:
        for column in part.find_all(self._exp.Column):
            if isinstance(column.this, self._exp.Star):
                continue
            sources = _sources(scope)
            source = sources.get(column.table)
            for each in [source] if source is not None else sources.values():
                yield from self._from(each, column, effect)

    def _from(self, source: Any, column: Any, effect: Effect) -> Iterator[Origin]:
        name = column.name if column.this.args.get("quoted") else self._fold(column.name)
        if isinstance(source, self._exp.Table):
            yield Origin(table_parts(source, self._fold), name, effect)
            return
        inner = self.read(source)
        for origin in inner.outputs.get(column.name.lower(), ()):
            yield Origin(origin.table, origin.column, _after(origin.effect, effect))
        if column.name.lower() not in inner.outputs:
            yield from (Origin(table, name, effect) for table in inner.whole)
