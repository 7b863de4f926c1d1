"""Checks the promises of a contract on the lineage of a lake, and shows the path that breaks a promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from colline.contracts.findings import Finding, Severity
from colline.contracts.promises import Promise, matches, show_duration
from colline.contracts.table_facts import TableFacts
from colline.contracts.value_paths import ValuePaths, read_value_paths
from colline.errors import ColumnError
from colline.graph.lineage import Lineage
from colline.graph.rows import ColumnRow


@dataclass(frozen=True)
class PromiseContext:
    """What a promise is checked on: the lake at a time, and the facts of the table."""

    lineage: Lineage
    facts: TableFacts
    as_of: str | None
    now: datetime
    value_paths: Callable[[str], ValuePaths] | None = None  # by default those of the lake


def check_promise(promise: Promise, context: PromiseContext) -> Iterator[Finding]:
    """The findings of one promise; none if it holds."""
    if promise.kind == "freshWithin":
        yield from _check_freshness(promise, context)
        return
    known = [column.name for column in context.facts.columns]
    if promise.column is not None and promise.column not in known:
        return  # the schema check reports the missing column
    for column in known if promise.column is None else [promise.column]:
        if promise.kind == "sameDefinitionAs":
            yield from _check_definition(promise, column, context)
        else:
            yield from _check_sources(promise, column, context)


def _check_sources(promise: Promise, column: str, context: PromiseContext) -> Iterator[Finding]:
    paths = _value_paths(context, column)
    wanted = promise.patterns

    def is_wanted(row: ColumnRow) -> bool:
        return any(matches(pattern, row) for pattern in wanted)

    def is_never_wanted(_row: ColumnRow) -> bool:
        return False

    if promise.kind == "onlyFrom":
        found = paths.search(is_wanted, lambda _row, is_root: is_root, through_masks=True)
    elif promise.kind == "masked":
        found = paths.search(is_never_wanted, lambda _row, is_root: is_root, through_masks=False)
    else:
        is_masked_allowed = promise.kind == "neverInClearFrom"
        found = paths.search(is_never_wanted, lambda row, _root: is_wanted(row), through_masks=not is_masked_allowed)
    if found:
        yield _broken_promise(promise, column, context, f"{column} comes from {found[0]}", path=found)
    elif paths.gaps:
        yield _unproven_promise(promise, column, context, paths.gaps[0])


def _check_definition(promise: Promise, column: str, context: PromiseContext) -> Iterator[Finding]:
    one = _value_paths(context, column)
    try:
        two = _paths_of(context, promise.other)
    except ColumnError as error:
        yield _broken_promise(promise, column, context, f"{promise.other} cannot be found: {error.message}", path=())
        return
    if one.definition() != two.definition():
        message = f"{column} is {one.first_step()}, {promise.other} is {two.first_step()}"
        yield _broken_promise(promise, column, context, message, path=())
    elif gaps := one.gaps or two.gaps:
        yield _unproven_promise(promise, column, context, gaps[0])


def _value_paths(context: PromiseContext, column: str) -> ValuePaths:
    name = f"{context.facts.namespace}/{context.facts.name}.{column}"
    return _paths_of(context, name)


def _paths_of(context: PromiseContext, name: str) -> ValuePaths:
    if context.value_paths is not None:
        return context.value_paths(name)
    return read_value_paths(context.lineage, name, context.as_of)


def _check_freshness(promise: Promise, context: PromiseContext) -> Iterator[Finding]:
    last = _last_success(context)
    if last is None:
        yield _broken_promise(promise, None, context, "no successful write is known", path=())
    elif (age := context.now - last) > promise.within:
        hours = int(age.total_seconds() // 3600)
        message = f"last written {hours} hours ago, promised within {show_duration(promise.within)}"
        yield _broken_promise(promise, None, context, message, path=())


def _last_success(context: PromiseContext) -> datetime | None:
    """When a job last wrote the table successfully, at the time of the check."""
    if context.as_of is None:
        text = context.facts.last_written
        return datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None
    ends = []
    for job in context.facts.writers:
        rows = context.lineage.runs(job=job, state="COMPLETE", limit=0).rows
        ends += [datetime.fromisoformat(row.ended.replace("Z", "+00:00")) for row in rows if row.ended]
    return max((end for end in ends if end <= context.now), default=None)


def _broken_promise(
    promise: Promise, column: str | None, context: PromiseContext, message: str, *, path: tuple[str, ...]
) -> Finding:
    text = f"{message}, against the promise `{promise.text}`"
    hint = "change the job, or the promise in the contract"
    return Finding("promise-broken", Severity.ERROR, context.facts.label, column, text, hint, promise.line, path)


def _unproven_promise(promise: Promise, column: str, context: PromiseContext, gap: str) -> Finding:
    text = f"unknown whether the promise `{promise.text}` holds: lineage is missing ({gap})"
    hint = "`colline coverage` lists where lineage is missing"
    return Finding("promise-unknown", Severity.WARNING, context.facts.label, column, text, hint, promise.line)
