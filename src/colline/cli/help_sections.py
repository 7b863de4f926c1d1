"""How `colline --help` groups the commands, and which command a guess such as `ls` means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from colline.graph.queries.registry import QUESTIONS


@dataclass(frozen=True, slots=True)
class Section:
    """A group of commands with an example. The last section takes every command that no other one names."""

    title: str
    example: str
    commands: tuple[str, ...] = ()


SECTIONS = (
    Section(
        "Capture",
        "colline run --lake /data/lake job.py",
        ("run", "explain", "import", "connect-server", "demo"),
    ),
    Section(
        "Operate",
        "colline ingest --lake /data/lake && colline serve --lake /data/lake",
        (
            *("ingest", "serve", "token", "quarantine", "maintain", "rebuild", "reconcile"),
            *("contract", "mcp", "doctor", "settings"),
        ),
    ),
)
QUESTION_SECTION = Section("Ask", "colline upstream gold.daily_revenue.revenue --lake /data/lake")

CLOSE, VERY_CLOSE = 0.6, 0.8  # how similar a name must be to be suggested: alone, and next to a known guess

# command → its example in `--help`. Those of questions are in the registry; other commands have one in their text
EXAMPLES = {
    "ingest": "ingest",
    "serve": "serve --port 8080",
    "import": "import models",
    "graph": "graph gold.daily_revenue.revenue -o lineage.svg",
    "review": "review --base main",
    "reconcile": "reconcile --history spark-events",
    "contract": "contract export gold.daily_revenue",
    "quarantine": "quarantine list",
    "maintain": "maintain",
    "rebuild": "rebuild",
    "token": "token create --scope read",
    "mcp": "mcp",
    "doctor": "doctor",
    "demo": "demo",
    **{question.name: question.examples[0] for question in QUESTIONS if question.is_command},
}

# what people type → the command that does it
GUESSES = {
    **dict.fromkeys(("ls", "list", "datasets", "catalog"), "tables"),
    **dict.fromkeys(("search", "grep", "lookup", "query"), "find"),
    **dict.fromkeys(("lineage", "up", "parents", "sources", "origin", "trace"), "upstream"),
    **dict.fromkeys(("down", "children", "consumers", "usages", "dependents"), "downstream"),
    **dict.fromkeys(("describe", "desc", "info", "table", "dataset", "schema", "job", "cat", "get"), "show"),
    **dict.fromkeys(("fields", "attributes"), "columns"),
    **dict.fromkeys(("who", "owner", "producers"), "writers"),
    **dict.fromkeys(("readers", "breaks", "affected"), "impact"),
    **dict.fromkeys(("path", "why", "between"), "paths"),
    **dict.fromkeys(("history", "log", "logs"), "runs"),
    **dict.fromkeys(("drop", "delete", "remove"), "droppable"),
    **dict.fromkeys(("dead", "stale"), "unused"),
    **dict.fromkeys(("gdpr", "personal", "sensitive"), "pii"),
    **dict.fromkeys(("changes", "changed"), "diff"),
    **dict.fromkeys(("gaps", "missing"), "coverage"),
    **dict.fromkeys(("draw", "plot", "picture", "diagram", "svg"), "graph"),
    **dict.fromkeys(("server", "start", "ui", "web", "page", "open"), "serve"),
    **dict.fromkeys(("load", "sync", "update", "refresh", "process"), "ingest"),
    **dict.fromkeys(("check", "status", "health", "version", "versions"), "doctor"),
    **dict.fromkeys(("config", "configure", "env"), "settings"),
    **dict.fromkeys(("compact", "vacuum", "optimize", "clean"), "maintain"),
    **dict.fromkeys(("sql", "parse", "analyze"), "explain"),
    **dict.fromkeys(("submit", "spark-submit", "capture", "attach", "exec"), "run"),
    **dict.fromkeys(("example", "quickstart", "tutorial", "init"), "demo"),
}


def example(name: str) -> str | None:
    """The last line of the help of a command."""
    return f"example: colline {EXAMPLES[name]} --lake /data/lake" if name in EXAMPLES else None


def sections(commands: Iterable[str]) -> list[tuple[Section, list[str]]]:
    """Each section with its commands, in the order of help. Commands without a section are questions."""
    known = list(commands)
    placed = {name for section in SECTIONS for name in section.commands}
    questions = [name for name in known if name not in placed]
    return [
        (QUESTION_SECTION, questions),
        *((each, [name for name in each.commands if name in known]) for each in SECTIONS),
    ]


def suggestions(name: str, commands: Iterable[str]) -> list[str]:
    """The commands that an unknown name may mean, best first."""
    from difflib import get_close_matches

    known = list(commands)
    meant = name.lower() if name.lower() in known else GUESSES.get(name.lower())
    if meant == name.lower():
        return [meant]
    close = get_close_matches(name.lower(), known, 2, cutoff=CLOSE if meant is None else VERY_CLOSE)
    return list(dict.fromkeys([*([meant] if meant in known else []), *close]))[:2]
