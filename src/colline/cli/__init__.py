"""The command line. `COMMANDS` lists every command; its module is imported only when it runs or prints its help."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from colline import __version__
from colline.cli.capture.run import RunOutsideClick
from colline.cli.print_text import print_lines, replaced_characters
from colline.cli.usage_errors import report_usage_errors
from colline.errors import CollineError, SettingError
from colline.graph.queries.registry import QUESTIONS

_QUESTIONS = "colline.cli.ask.questions"

# command → (module with its click command, one-line help shown by `colline --help`)
COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("colline.cli.capture.run", "Run a PySpark script with lineage capture, without changing it."),
    "connect-server": ("colline.cli.capture.connect_server", "Start a Spark Connect server with lineage capture."),
    "explain": ("colline.cli.capture.explain", "Print the lineage of SQL text, without data."),
    "demo": ("colline.cli.capture.demo", "Run an example platform on Delta and every query command on its lineage."),
    "import": (
        "colline.cli.capture.import_files",
        "Import Power BI models, dbt projects, SQL files, Unity Catalog lineage.",
    ),
    "ingest": ("colline.cli.operate.ingest", "Load landed events into the lake's Delta tables, each event once."),
    "quarantine": ("colline.cli.operate.quarantine", "List, show or replay lines that could not be ingested."),
    "rebuild": ("colline.cli.operate.rebuild", "Rebuild silver and gold from bronze, keeping ids."),
    "maintain": ("colline.cli.operate.maintain", "Compact, cluster and vacuum the lake, and delete old data."),
    "contract": ("colline.cli.operate.contract", "Write, check and compare data contracts with lineage."),
    "reconcile": ("colline.cli.operate.reconcile", "Find runs without lineage by comparing with job history."),
    "doctor": ("colline.cli.operate.doctor", "Check what this machine lacks, and how to get it."),
    "settings": ("colline.cli.operate.settings", "Show the effective settings, and where each one comes from."),
    "serve": ("colline.cli.operate.serve", "Receive events, serve the REST API and the web page."),
    "mcp": ("colline.cli.operate.mcp", "Answer an agent's questions over the Model Context Protocol."),
    "token": ("colline.cli.operate.token", "Create, list and revoke tokens of the server."),
    **{question.name: (_QUESTIONS, question.summary) for question in QUESTIONS if question.is_command},
    "graph": ("colline.cli.ask.graph", "Draw the lineage of a column."),
    "review": ("colline.cli.ask.review", "Review what a change of SQL files or contracts does to lineage."),
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
        from colline.cli.help_sections import example

        last_line = example(cmd_name)
        if last_line is not None and last_line not in (command.epilog or ""):
            command.epilog = "\n\n".join(filter(None, [command.epilog, last_line]))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command with this name; the error for an unknown name suggests similar ones."""
        name = args[0]
        if not name.startswith("-") and not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            from colline.cli.help_sections import suggestions

            similar = " or ".join(suggestions(name, COMMANDS))
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
        from colline.cli.help_sections import sections

        for section, names in sections(self.list_commands(ctx)):
            with formatter.section(section.title):
                formatter.write_dl([(name, COMMANDS[name][1]) for name in names if name in COMMANDS])
                formatter.write(f"\n{'':>{formatter.current_indent}}example: {section.example}\n")


def _use_lake(ctx: click.Context, _: click.Parameter, lake: str | None) -> None:
    """The lake for the command that follows, as if COLLINE_LAKE were set."""
    if lake is None:
        return
    before = os.environ.get("COLLINE_LAKE")

    def restore() -> None:
        del os.environ["COLLINE_LAKE"]
        if before is not None:
            os.environ["COLLINE_LAKE"] = before

    os.environ["COLLINE_LAKE"] = lake
    ctx.call_on_close(restore)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--lake", metavar="PATH", callback=_use_lake, expose_value=False, help="Lake of the command.")
@click.version_option(__version__, prog_name="colline")
def cli() -> None:
    """Column-level lineage for Spark: what feeds a column, what it feeds, and since when."""


def report_error(error: CollineError) -> NoReturn:
    """Print an error with its hint on stderr, and exit with its code."""
    print_lines(f"error: {error}", err=True)
    sys.exit(error.exit_code)


def main() -> None:
    """Run the command line. A CollineError is printed on stderr, with its hint, and sets the exit code."""
    script = None
    with replaced_characters():
        try:
            cli(prog_name="colline", standalone_mode=True)
        except CollineError as error:
            report_error(error)
        except ModuleNotFoundError as error:
            from colline.environment.extras import missing_extra

            found = missing_extra(error)
            if found is None:
                raise
            report_error(found)
        except RunOutsideClick as request:
            script = request.call
    if script is not None:
        script()
