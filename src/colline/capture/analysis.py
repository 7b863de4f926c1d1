"""A plan as the tap tells it → a statement, with the names and settings of one session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from colline.events.dataset import NameContext
from colline.events.names import identify
from colline.plan.decode import decode
from colline.plan.source import Source
from colline.trace import DatasetName, Statement


def analyser(names: NameContext, masking: tuple[str, ...] = ()) -> Callable[[Mapping[str, Any]], Statement]:
    """The function that turns a plan's JSON into what it reads and writes."""
    trace = import_module("colline.trace")

    def name(source: Source) -> DatasetName:
        return identify(source, names).name

    def analyse(plan: Mapping[str, Any]) -> Statement:
        found: Statement = trace.statement(decode(dict(plan)), trace.Context(name, masking=frozenset(masking)))
        return found

    return analyse
