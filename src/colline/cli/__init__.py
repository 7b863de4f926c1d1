"""The command line: the same questions in other words, no query logic of its own.

`COMMANDS` is the whole list. A command's module is imported only when that command is run or asked for help.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from colline import __version__
from colline.cli.run import Handover
from colline.cli.usage_errors import usage_told
from colline.errors import CollineError, SettingError

# command → (module that holds a click command named `command`, one-line help shown by `colline --help`)
COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("colline.cli.run", "Run a PySpark script with capture on, without changing it."),
    "explain": ("colline.cli.explain", "Print the lineage of SQL text, without data."),
    "demo": ("colline.cli.demo", "Run a food-delivery platform on Delta and ask every question about it."),
    "ingest": ("colline.cli.ingest", "Bring what has landed into the lake's Delta tables, each event once."),
    "quarantine": ("colline.cli.quarantine", "List, show or replay lines that were no events."),
    "rebuild": ("colline.cli.rebuild", "Make silver and gold again from bronze, with the same ids."),
    "maintain": ("colline.cli.maintain", "Compact, cluster and vacuum the lake; take away what is old."),
    "reconcile": ("colline.cli.reconcile", "Compare with job history: which runs left no lineage?"),
    "doctor": ("colline.cli.doctor", "Say what this computer lacks and how to get it."),
    "settings": ("colline.cli.settings", "Show the settings in force, and where each one comes from."),
    "serve": ("colline.cli.serve", "Receive events, answer over REST, show the page."),
    "mcp": ("colline.cli.mcp", "Answer an agent's questions over the Model Context Protocol."),
    "token": ("colline.cli.token", "Make, list and revoke the server's tokens."),
    "find": ("colline.cli.find", "Which columns are called like this?"),
    "upstream": ("colline.cli.upstream", "What feeds this column?"),
    "downstream": ("colline.cli.downstream", "What is built on this column?"),
    "paths": ("colline.cli.paths", "How exactly are two columns connected?"),
    "impact": ("colline.cli.impact", "What breaks if a column changes?"),
    "pii": ("colline.cli.pii", "Where does a personal datum end up?"),
    "droppable": ("colline.cli.droppable", "May I drop this column?"),
    "unused": ("colline.cli.unused", "Which columns does nobody read?"),
    "writers": ("colline.cli.writers", "Who writes a column, and how?"),
    "compare": ("colline.cli.compare", "Do two metrics share a derivation?"),
    "diff": ("colline.cli.diff", "What changed between two times, jobs or lakes?"),
    "coverage": ("colline.cli.coverage", "Where is lineage missing?"),
    "roots": ("colline.cli.roots", "Which columns does nothing feed?"),
    "leaves": ("colline.cli.leaves", "Which columns is nothing built on?"),
    "graph": ("colline.cli.graph", "Draw a column's lineage."),
    "hubs": ("colline.cli.hubs", "Which columns have the most neighbours?"),
}


class Lazy(click.Group):
    """A group that knows its commands by name and imports one when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table, which is the order of a user's day."""
        return [*COMMANDS, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        command = import_module(COMMANDS[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of that name; where there is none, the nearest are told."""
        name = args[0]
        if not name.startswith("-") and not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            from difflib import get_close_matches

            near = " or ".join(get_close_matches(name, COMMANDS, 2))
            hint = f"did you mean {near}?" if near else "`colline --help` lists them"
            raise SettingError(f"there is no command {name!r}", hint=hint)
        return super().resolve_command(ctx, args)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The group's own options, read."""
        with usage_told():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """The command's result; Ctrl-C ends with 130 as everywhere, for click's 1 would be a verdict."""
        try:
            with usage_told():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
            sys.exit(130)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table itself, so that `--help` imports nothing."""
        rows = [(name, COMMANDS[name][1]) for name in self.list_commands(ctx) if name in COMMANDS]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="colline")
def cli() -> None:
    """Column-level lineage for Spark: what feeds a column, what it feeds, and since when."""


def main() -> None:
    """Run the command line; an error of ours becomes two lines on stderr and its documented exit code."""
    work = None
    try:
        cli(prog_name="colline", standalone_mode=True)
    except CollineError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    except Handover as handover:
        work = handover.work
    if work is not None:
        work()
