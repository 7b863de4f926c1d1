"""The command line. `COMMANDS` lists every command; its module is imported only when it runs or prints its help."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from colline import __version__
from colline.cli.print_text import print_lines
from colline.cli.run import RunOutsideClick
from colline.cli.usage_errors import report_usage_errors
from colline.errors import CollineError, SettingError
from colline.graph.queries.registry import QUESTIONS

_QUESTIONS = "colline.cli.questions"

# command → (module with its click command, one-line help shown by `colline --help`)
COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("colline.cli.run", "Run a PySpark script with lineage capture, without changing it."),
    "explain": ("colline.cli.explain", "Print the lineage of SQL text, without data."),
    "demo": ("colline.cli.demo", "Run an example platform on Delta and every query command on its lineage."),
    "ingest": ("colline.cli.ingest", "Load landed events into the lake's Delta tables, each event once."),
    "quarantine": ("colline.cli.quarantine", "List, show or replay lines that could not be ingested."),
    "rebuild": ("colline.cli.rebuild", "Rebuild silver and gold from bronze, keeping ids."),
    "maintain": ("colline.cli.maintain", "Compact, cluster and vacuum the lake, and delete old data."),
    "reconcile": ("colline.cli.reconcile", "Find runs without lineage by comparing with job history."),
    "doctor": ("colline.cli.doctor", "Check what this machine lacks, and how to get it."),
    "settings": ("colline.cli.settings", "Show the effective settings, and where each one comes from."),
    "serve": ("colline.cli.serve", "Receive events, serve the REST API and the web page."),
    "mcp": ("colline.cli.mcp", "Answer an agent's questions over the Model Context Protocol."),
    "token": ("colline.cli.token", "Create, list and revoke tokens of the server."),
    **{question.name: (_QUESTIONS, question.summary) for question in QUESTIONS if question.is_command},
    "graph": ("colline.cli.graph", "Draw the lineage of a column."),
}


class LazyGroup(click.Group):
    """A group that imports the module of a command only when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order of the table."""
        return [*COMMANDS, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command with this name; imports its module."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module = import_module(COMMANDS[cmd_name][0])
        command = module.build_command(cmd_name) if module.__name__ == _QUESTIONS else module.command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command with this name; the error for an unknown name suggests similar ones."""
        name = args[0]
        if not name.startswith("-") and not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            from difflib import get_close_matches

            similar = " or ".join(get_close_matches(name, COMMANDS, 2))
            hint = f"did you mean {similar}?" if similar else "`colline --help` lists all commands"
            raise SettingError(f"there is no command {name!r}", hint=hint)
        return super().resolve_command(ctx, args)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parses the options of the group."""
        with report_usage_errors():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command. Ctrl-C exits with 130, because exit code 1 (click's choice) is a negative verdict."""
        try:
            with report_usage_errors():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
            sys.exit(130)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands from the table, so that `--help` does not import their modules."""
        rows = [(name, COMMANDS[name][1]) for name in self.list_commands(ctx) if name in COMMANDS]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="colline")
def cli() -> None:
    """Column-level lineage for Spark: what feeds a column, what it feeds, and since when."""


def main() -> None:
    """Run the command line. A CollineError is printed on stderr, with its hint, and sets the exit code."""
    script = None
    try:
        cli(prog_name="colline", standalone_mode=True)
    except CollineError as error:
        print_lines(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    except RunOutsideClick as request:
        script = request.call
    if script is not None:
        script()
