"""The names that an expression of a query can use: columns of its sources, of outer queries, and its own aliases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import Dialect

from colline.sql_lineage.named_relation import NamedRelation
from colline.sql_lineage.table_schema import TableLookup, TableParts
from colline.trace import DatasetName
from colline.trace.flow import EMPTY_FLOW, Flow, merge_flows, read_member

Relations = Mapping[str, NamedRelation]
Fold = Callable[[str], str]  # how a database stores a name without quotes
# by sqlglot's strategy; other databases keep names as they are written
_FOLDS: dict[str, Fold] = {"LOWERCASE": str.lower, "UPPERCASE": str.upper}


@dataclass
class StatementContext:
    """What is the same everywhere in a statement, and what its lineage collects: tables read and open questions."""

    tables: TableLookup
    dialect: str
    temporary: Relations = field(default_factory=dict)  # temporary tables of the script, by lower-case name
    fold: Fold | None = None
    has_variables: bool = False  # SELECT INTO assigns variables, as in the procedures of most databases
    inputs: dict[DatasetName, None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.fold is None:
            strategy = Dialect.get_or_raise(self.dialect or None).normalization_strategy
            self.fold = _FOLDS.get(strategy.value, str)

    def parts(self, name: Any) -> TableParts:
        """The parts of a name as the database stores them: Snowflake `orders` → ORDERS, `"orders"` → orders."""
        assert self.fold is not None
        parts = [part for part in name.parts if part.name]
        return tuple(part.name if part.args.get("quoted") else self.fold(part.name) for part in parts)

    def sql(self, node: Any) -> str:
        """The text of a part of the statement."""
        try:
            return str(node.sql(dialect=self.dialect or None, comments=False))
        except (ValueError, RecursionError, AttributeError):  # sqlglot's generator does not know every node
            return ""


@dataclass(frozen=True)
class SqlScope:
    """The sources of a SELECT by lower-case alias, its common table expressions, and the scope around it."""

    context: StatementContext
    sources: Relations = field(default_factory=dict)
    ctes: Relations = field(default_factory=dict)
    aliases: Mapping[str, Flow] = field(default_factory=dict)
    outer: SqlScope | None = None
    lambda_names: frozenset[str] = frozenset()
    windows: Mapping[str, Any] = field(default_factory=dict)  # named windows of the SELECT
    read_query: Callable[[Any, SqlScope], NamedRelation] | None = None

    def subquery(self, node: Any) -> NamedRelation:
        """The relation of a query inside an expression."""
        assert self.read_query is not None
        return self.read_query(node, SqlScope(self.context, ctes=self.ctes, outer=self, read_query=self.read_query))

    def with_aliases(self, aliases: Mapping[str, Flow]) -> SqlScope:
        """The scope of GROUP BY, HAVING and ORDER BY, which may use the names of the SELECT list."""
        return replace(self, aliases=aliases)

    def column(self, parts: Sequence[str]) -> Flow:
        """The flow of `a`, `t.a` or `schema.t.a`, or of a member of a struct; a name that nothing has is reported."""
        found = self._column(tuple(parts))
        if found is not None:
            return found
        self.context.problems.append(f"no source has a column `{'.'.join(parts)}`")
        return EMPTY_FLOW

    def _column(self, parts: tuple[str, ...]) -> Flow | None:
        """The innermost scope decides; in it a source's name comes before the name of a struct."""
        for at in range(len(parts) - 1, 0, -1):  # `t.a.member`, `schema.t.a`
            source = self.sources.get(parts[at - 1].lower())
            flow = source.find(parts[at]) if source is not None else None
            if flow is not None:
                return _member(flow, parts[at + 1 :])
        flow = self._find_listed(parts[0]) or self.aliases.get(parts[0].lower())
        if flow is None and len(parts) == 1:
            flow = self._of_open_source(parts[0])
        if flow is None and self.outer is not None:
            return self.outer._column(parts)
        flow = flow or self._of_open_source(parts[0])
        return _member(flow, parts[1:]) if flow is not None else None

    def _find_listed(self, name: str) -> Flow | None:
        flows = [flow for source in self.sources.values() if (flow := source.listed_flow(name)) is not None]
        return merge_flows(flows) if flows else None

    def _of_open_source(self, name: str) -> Flow | None:
        """Every source whose columns are not known may have it."""
        flows = [flow for each in self.sources.values() if each.is_open and (flow := each.find(name)) is not None]
        return merge_flows(flows) if flows else None


def _member(flow: Flow, names: Sequence[str]) -> Flow:
    for name in names:
        flow = read_member(flow, name)
    return flow
