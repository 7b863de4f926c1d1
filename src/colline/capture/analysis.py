"""A plan as the tap tells it → a statement, with the names and settings of one session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from colline.capture.functions import masks
from colline.events.dataset import NameContext
from colline.events.names import identify
from colline.plan.decode import decode
from colline.plan.source import Source
from colline.trace import Context, DatasetName, Statement, statement


def analyser(names: NameContext, masking: tuple[str, ...] = ()) -> Callable[[Mapping[str, Any]], Statement]:
    """The function that turns a plan's JSON into what it reads and writes."""

    def name(source: Source) -> DatasetName:
        return identify(source, names).name

    context = Context(name, masks, frozenset(masking))
    return lambda plan: statement(decode(dict(plan)), context)
