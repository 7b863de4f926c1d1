"""Finds the table or job that a name stands for."""

from __future__ import annotations

from typing import Literal, NamedTuple

from colline.errors import AmbiguousNameError, ColumnError
from colline.graph.traversal.job_lookup import find_jobs, job_named
from colline.graph.traversal.records import View
from colline.graph.traversal.typed_name import parse


class NamedObject(NamedTuple):
    """A table or job, and its position in the snapshot."""

    kind: Literal["table", "job"]
    place: int


def resolve(view: View, text: str, kind: str | None, namespace: str | None) -> NamedObject:
    """The table or job with this name. With a namespace, `text` is the whole name of the table."""
    if kind == "job":
        return NamedObject("job", job_named(view, text, namespace))
    if namespace is not None:
        return NamedObject("table", view.names.exact_dataset(namespace, text))
    tables = view.names.datasets(parse(text).parts)
    found_jobs = [] if kind == "table" else find_jobs(view, text)
    names = view.arrays.strings("job.name")
    exact = [job for job in found_jobs if names[job] == text]
    if len(tables) and exact:
        labels = (*(view.names.labels[int(place)] for place in tables[:5]), *(f"job {names[job]}" for job in exact))
        raise AmbiguousNameError(
            f"{text!r} is the name of a table and of a job", hint="give --kind table or --kind job", candidates=labels
        )
    if len(tables) or (kind == "table") or not found_jobs:
        return NamedObject("table", _table(view, text, kind))
    return NamedObject("job", job_named(view, text))


def _table(view: View, text: str, kind: str | None) -> int:
    """The one table with this name; if it is a column, the error names its table."""
    try:
        return view.names.dataset(parse(text).parts, text)
    except AmbiguousNameError:
        raise
    except ColumnError as error:
        columns = view.names.matches(parse(text))
        if len(columns):
            label = view.names.label(int(columns[0]))
            table = view.names.labels[int(view.arrays["node.dataset"][columns[0]])]
            hint = f"`colline upstream {label}` or `colline show {table}`"
            raise ColumnError(f"{text!r} is a column", hint=hint, candidates=(table,)) from error
        if kind == "table" or error.candidates:
            raise
        hint = "`colline tables` and `colline jobs` list the names"
        raise ColumnError(f"no table or job is called {text!r}", hint=hint) from error
