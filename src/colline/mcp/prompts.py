"""Prompts that an agent's user can choose: the usual tasks, in the order in which the tools answer them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from colline.errors import SettingError

MAX_ARGUMENT_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class TaskPrompt:
    """A task with its arguments (name → help) and its text."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, str]
    text: str


PROMPTS = (
    TaskPrompt(
        "review_change", "Review a change of columns", "What a change breaks, and who must know.",
        {"columns": "The columns that change, separated by commas", "change": "drop, rename or type"},
        "Review this change: {change} of {columns}.\n"
        "1. Call `impact` with these columns and this change. List broken jobs and live readers first, with owners.\n"
        "2. Call `pii_reach` for the columns, and state whether personal data moves.\n"
        "3. Call `contract` for the tables, and compare the change with its promises.\n"
        "4. Conclude: safe, safe after steps, or unsafe. Name what is unknown, and how complete capture is.",
    ),
    TaskPrompt(
        "find_wrong_number", "Find the source of a wrong number", "Trace a metric to the step that broke it.",
        {"column": "The column with the wrong number", "since": "When it was last right, such as 2026-01-31"},
        "{column} is wrong since {since}.\n"
        "1. Call `who_writes` and `trace` (upstream, with expressions) for the column.\n"
        "2. Call `diff` from {since}, and look for changes on that path.\n"
        "3. Call `table` for the jobs on the path, and look for failed or missing runs.\n"
        "4. Follow conditions: call `trace` again with `indirect`.\n"
        "Name the most likely step with its evidence, and what could not be seen.",
    ),
    TaskPrompt(
        "plan_column_removal", "Plan the removal of a column", "Whether a column can go, and in which order.",
        {"column": "The column to remove"},
        "Plan the removal of {column}.\n"
        "1. Call `droppable`. If the verdict is yes, state the evidence and its limits.\n"
        "2. Otherwise call `impact` with change=drop, and `trace` downstream.\n"
        "3. Propose an order: last consumers first, the column itself at the end. Name the owner of each step.\n"
        "An unknown verdict is not a yes: name what must be checked outside of the lineage.",
    ),
)  # fmt: skip


def prompt_text(name: str, arguments: Mapping[str, str]) -> str:
    """The text of a prompt with its arguments."""
    prompt = next((each for each in PROMPTS if each.name == name), None)
    if prompt is None:
        known = ", ".join(each.name for each in PROMPTS)
        raise SettingError(f"no prompt is called {name[:80]!r}", hint=f"prompts: {known}")
    missing = [each for each in prompt.arguments if not arguments.get(each)]
    if missing:
        raise SettingError(f"{name} needs {', '.join(missing)}", hint=prompt.arguments[missing[0]])
    values = {each: arguments[each][:MAX_ARGUMENT_CHARACTERS] for each in prompt.arguments}
    text = prompt.text
    for each, value in values.items():
        text = text.replace(f"{{{each}}}", value)
    return text
