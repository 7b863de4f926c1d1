"""The lineage of one DAX expression: a measure, a calculated column or table, a calculation item, a role's filter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from colline.semantic_models.dax.dax_scope import DaxFindings, DaxScope, DaxTable
from colline.semantic_models.dax.dax_syntax import parse_dax
from colline.semantic_models.dax.dax_tokens import DaxError, DaxToken, dax_tokens, without_comments
from colline.semantic_models.dax.dax_values import evaluate, scalar
from colline.semantic_models.semantic_model import Expression, FilePosition, ModelProblem
from colline.sql_lineage.named_relation import NamedRelation
from colline.trace import Effect
from colline.trace.flow import NO_DEPENDENCIES, UNCHANGED, Dependencies, Flow, apply_effect, merge, truncate


@dataclass(frozen=True)
class DaxLineage:
    """What an expression depends on, references that could not be resolved, and parts that could not be analyzed."""

    dependencies: Dependencies
    unresolved: tuple[ModelProblem, ...] = ()
    opaque: tuple[ModelProblem, ...] = ()
    table: DaxTable | None = None


def value_lineage(expression: Expression, scope: DaxScope) -> DaxLineage:
    """The lineage of a scalar expression."""
    findings = DaxFindings()
    try:
        found = scalar(parse_dax(expression.text), replace(scope, findings=findings))
    except DaxError as error:
        return _lineage_of_references(expression, scope, error)
    return DaxLineage(_describe_conditions(found, expression.text), *_problems(expression, findings))


def table_lineage(expression: Expression, scope: DaxScope) -> DaxLineage:
    """The lineage of a table expression."""
    findings = DaxFindings()
    try:
        value = evaluate(parse_dax(expression.text), replace(scope, findings=findings))
    except DaxError as error:
        found = _lineage_of_references(expression, scope, error)
        return replace(found, table=DaxTable(NamedRelation(fallback=Flow(found.dependencies))))
    table = value if isinstance(value, DaxTable) else DaxTable(NamedRelation(fallback=Flow(value)))
    return DaxLineage(NO_DEPENDENCIES, *_problems(expression, findings), table=table)


def _lineage_of_references(expression: Expression, scope: DaxScope, error: DaxError) -> DaxLineage:
    """An expression that cannot be parsed may depend on everything that it names."""
    problem = ModelProblem(_position(expression, error.line), f"DAX that could not be read: {error.message}")
    try:
        tokens = dax_tokens(expression.text)
    except DaxError:
        return DaxLineage(NO_DEPENDENCIES, opaque=(problem,))
    found: list[Dependencies] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.kind is DaxToken.BRACKETS:
            has_table = before is not None and before.kind in (DaxToken.TABLE, DaxToken.NAME)
            table = before.text if before is not None and has_table else ""
            column = scope.names.field(table, token.text) if table else scope.names.measure(token.text)
            column = column or scope.names.field(scope.home, token.text)
            found += [{column: UNCHANGED}] if column is not None else []
    return DaxLineage(apply_effect(merge(found), Effect.TRANSFORMATION), opaque=(problem,))


def _problems(
    expression: Expression, findings: DaxFindings
) -> tuple[tuple[ModelProblem, ...], tuple[ModelProblem, ...]]:
    unresolved = _problems_at_lines(expression, "the model has no {}", findings.unresolved.items())
    opaque = _problems_at_lines(expression, "{} cannot be analyzed", findings.opaque.items())
    return tuple(unresolved), tuple(opaque)


def _problems_at_lines(
    expression: Expression, message: str, found: Iterable[tuple[str, int]]
) -> Iterable[ModelProblem]:
    return (ModelProblem(_position(expression, line), message.format(what)) for what, line in found)


def _position(expression: Expression, line: int) -> FilePosition:
    return replace(expression.position, line=expression.position.line + line - 1)


def _describe_conditions(dependencies: Dependencies, text: str) -> Dependencies:
    """Indirect dependencies have the expression as their text; direct ones get it with the output column."""
    short = truncate(without_comments(text))
    return {
        column: frozenset(
            each if each.effect.is_direct or each.description else replace(each, description=short) for each in found
        )
        for column, found in dependencies.items()
    }


def bracketed_names(text: str) -> list[str]:
    """The names in brackets of an expression; none if it cannot be read."""
    try:
        return [token.text for token in dax_tokens(text) if token.kind is DaxToken.BRACKETS]
    except DaxError:
        return []
