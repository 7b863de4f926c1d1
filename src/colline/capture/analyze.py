"""A plan as the tap tells it → a statement, with the names, settings and memory of one session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from colline.capture.udf_masking import masks
from colline.config.plugin_loader import load_rules
from colline.naming.dataset import NameContext
from colline.naming.rules import identify
from colline.naming.scan_datasets import makeup_of
from colline.plan.decode import decode
from colline.plan.source import Source
from colline.trace import Context, DatasetName, Statement, statement
from colline.trace.checkpoints import Memory, NoMemory
from colline.trace.scan_inputs import Makeup


def context_for(names: NameContext, masking: tuple[str, ...] = (), memory: Memory | None = None) -> Context:
    """What tracing needs to know of a session."""

    def name(source: Source) -> DatasetName:
        return identify(source, names).name

    load_rules()

    def makeup(source: Source) -> Makeup | None:
        return makeup_of(source, names)

    hiding = frozenset(word.lower() for word in masking)
    return Context(name, masks, hiding, memory or NoMemory(), makeup)


def analyser(context: Context) -> Callable[[Mapping[str, Any]], Statement]:
    """The function that turns a plan's JSON into what it reads and writes."""

    def analyse(plan: Mapping[str, Any]) -> Statement:
        return statement(decode(plan), context)

    return analyse
