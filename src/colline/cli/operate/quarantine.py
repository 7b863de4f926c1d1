"""`colline quarantine list|show|replay`: landed lines that are not valid events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from colline.cli.options import limit_option
from colline.cli.print_text import print_line, print_table
from colline.errors import CollineError

if TYPE_CHECKING:
    from colline.pipeline.upkeep.quarantine import QuarantinedLine

LAKE = click.option("--lake", envvar="COLLINE_LAKE", required=True, metavar="PATH", help="The lake (or COLLINE_LAKE).")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(name="quarantine")
def command() -> None:
    """Landed lines that are not valid events: list them with the reason, show one, or try them again."""


@command.command("list")
@LAKE
@JSON
@click.option("--reason", metavar="WORD", help="Only lines with this reason.")
@limit_option(50, "Maximum number of lines; 0 for all.")
@click.option("--replayed", is_flag=True, help="Include replayed lines.")
def list_lines(lake: str, as_json: bool, reason: str | None, limit: int, *, replayed: bool) -> None:
    """List the lines in quarantine, oldest first."""
    from colline.pipeline.upkeep.quarantine import entries

    found = entries(lake, reason=reason, replayed=replayed)
    if reason and not found:
        _check_reason(reason)
    shown = found[: limit or None]
    if as_json:
        click.echo(json.dumps([entry.to_dict() for entry in shown]))
    elif shown:
        print_table(("id", "reason", "place", "line"), map(_cells, shown))
    if hidden := len(found) - len(shown):
        click.echo(f"{hidden} more {'line' if hidden == 1 else 'lines'}; use --limit 0 to list all", err=True)
    if not found and not as_json:
        click.echo("Quarantine is empty.")


@command.command()
@LAKE
@JSON
@click.argument("entry_id", metavar="ID")
def show(lake: str, as_json: bool, entry_id: str) -> None:
    """Show one line completely; ID is the beginning of its id."""
    from colline.pipeline.upkeep.quarantine import entries

    found = {entry.id: entry for entry in entries(lake, replayed=True) if entry.id.startswith(entry_id)}
    if len(found) != 1:
        what = "no line in quarantine has" if not found else f"{len(found)} lines in quarantine have"
        raise CollineError(f"{what} an id that begins with {entry_id}", hint="see `colline quarantine list`")
    (entry,) = found.values()
    if as_json:
        click.echo(json.dumps(entry.to_dict()))
        return
    print_line("  ".join(_cells(entry)))
    print_line(entry.line)


@command.command()
@LAKE
@JSON
def replay(lake: str, as_json: bool) -> None:
    """Validate the lines again: ingest those that are valid now, and report the reasons of the others."""
    from colline.cli.operate.ingest import pipeline_options
    from colline.graph.answer import count_of
    from colline.pipeline.ingest import ingest
    from colline.pipeline.upkeep.quarantine import replay as land_again

    options = pipeline_options()
    done = land_again(lake, limits=options.limits)
    if done.replayed:
        ingest(lake, options=options)
    click.echo(json.dumps(done.to_dict()) if as_json else f"{count_of(done.replayed, 'line')} replayed")
    if done.left:
        reasons = ", ".join(f"{count} {reason}" for reason, count in done.left.items())
        click.echo(f"still not valid: {reasons}; see `colline quarantine list`", err=True)


def _check_reason(reason: str) -> None:
    """Raise an error for an unknown reason."""
    from colline.pipeline.parsing.event_parsing import REASONS

    if reason not in REASONS:
        raise click.BadParameter(f"unknown reason {reason!r}; reasons are {', '.join(REASONS)}")


def _cells(entry: QuarantinedLine) -> tuple[str, str, str, str]:
    """The id, the reason, the file with the number of the line, and the beginning of the line."""
    detail = f" ({entry.detail})" if entry.detail else ""
    text = entry.line if len(entry.line) <= 60 else f"{entry.line[:60]}…"
    return entry.id[:12], f"{entry.reason}{detail}", f"{entry.file}:{entry.position + 1}", text
