"""Promises about lineage in a contract: their YAML form.

A table or a column has them in the custom property `lineagePromises`, a list:

    onlyFrom: [silver.orders, silver.payments]   each value passes through one of these
    neverFrom: [bronze.customers.email]          no value comes from these
    neverInClearFrom: ["tag:PII"]                as above, unless it is masked on the way
    masked                                       no value arrives without masking
    sameDefinitionAs: gold.revenue.total         the same sources, and the same transformations
    freshWithin: 1d                              a job wrote the table successfully in this time
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Any

from colline.contracts.contract_document import custom_property, line_of, properties_of
from colline.graph.rows import ColumnRow

PROMISES = "lineagePromises"
_TAG = "tag:"
_DURATION = re.compile(r"(\d{1,6})\s*(m|min|h|d|w)", re.ASCII)
_SECONDS = {"m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
# kind → what its value is
KINDS = {
    "onlyFrom": "patterns", "neverFrom": "patterns", "neverInClearFrom": "patterns", "masked": "flag",
    "sameDefinitionAs": "column", "freshWithin": "duration",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise. `column` is None if it holds for the whole table."""

    kind: str
    column: str | None
    line: int | None
    patterns: tuple[str, ...] = ()
    other: str = ""
    within: timedelta = timedelta()

    @property
    def text(self) -> str:
        """The promise as it is written."""
        value = {"patterns": ", ".join(self.patterns), "column": self.other, "duration": show_duration(self.within)}
        shown = value.get(KINDS[self.kind], "")
        return f"{self.kind}: {shown}" if shown else self.kind


@dataclass(frozen=True, slots=True)
class InvalidPromise:
    """A promise that cannot be read, and what is expected in its place."""

    column: str | None
    line: int | None
    problem: str
    hint: str


def read_promises(table: Any) -> list[Promise | InvalidPromise]:
    """The promises of a table and of its columns."""
    owners = [(None, table), *properties_of(table)]
    return [promise for column, owner in owners for promise in _promises_of(column, owner)]


def _promises_of(column: str | None, owner: Any) -> Iterator[Promise | InvalidPromise]:
    rows = custom_property(owner, PROMISES)
    line = line_of(owner, "customProperties")
    if rows is None:
        return
    if not isinstance(rows, list):
        yield InvalidPromise(column, line, f"{PROMISES} is not a list", f"write a list of {', '.join(KINDS)}")
        return
    for row in rows:
        if isinstance(row, str):
            yield _promise(column, row, True, line_of(rows) or line)
        elif hasattr(row, "items"):
            for kind, value in row.items():
                yield _promise(column, str(kind), value, line_of(row, kind) or line)
        else:
            yield InvalidPromise(column, line, f"{row!r} is not a promise", f"use one of {', '.join(KINDS)}")


def _promise(column: str | None, kind: str, value: Any, line: int | None) -> Promise | InvalidPromise:
    form = KINDS.get(kind)
    if form == "flag" and value is True:
        return Promise(kind, column, line)
    if form == "patterns":
        patterns = [value] if isinstance(value, str) else value
        if isinstance(patterns, list) and patterns and all(isinstance(each, str) and each for each in patterns):
            return Promise(kind, column, line, patterns=tuple(patterns))
    if form == "column" and isinstance(value, str) and value and column is not None:
        return Promise(kind, column, line, other=value)
    if form == "duration" and column is None and (within := parse_duration(value)):
        return Promise(kind, column, line, within=within)
    return InvalidPromise(column, line, f"{kind}: {value!r} is not a promise", _expected_form(form))


def _expected_form(form: str | None) -> str:
    expected = {
        "flag": "write `masked` alone",
        "patterns": "give a list of tables, columns, layers or `tag:NAME`",
        "column": "give a column, in the promises of a column",
        "duration": "give a time such as 90m, 36h or 1d, in the promises of the table",
    }
    return expected.get(form or "", f"use one of {', '.join(KINDS)}")


def parse_duration(value: Any) -> timedelta | None:
    """`36h` as a time span; None for anything else."""
    found = _DURATION.fullmatch(value.strip().lower()) if isinstance(value, str) else None
    return timedelta(seconds=int(found[1]) * _SECONDS[found[2]]) if found else None


def show_duration(span: timedelta) -> str:
    """The largest unit that divides the span: `36h`, `1d`."""
    seconds = int(span.total_seconds())
    unit = next(unit for unit in ("w", "d", "h", "m") if seconds % _SECONDS[unit] == 0 or unit == "m")
    return f"{seconds // _SECONDS[unit]}{unit}"


def matches(pattern: str, column: ColumnRow) -> bool:
    """Whether a pattern means this column: its name or table with `*`, its layer, or `tag:NAME`. Case is ignored."""
    wanted = pattern.lower()
    if wanted.startswith(_TAG):
        return wanted.removeprefix(_TAG) in (tag.lower() for tag in column.tags)
    label = column.label.lower()
    table = label.removesuffix(f".{column.field.lower()}")
    return wanted == (column.layer or "").lower() or any(fnmatchcase(text, wanted) for text in (label, table))
