"""`colline ingest`: brings landed events into the lake."""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

import click

from colline.cli.print_text import print_line
from colline.terminal_text import escape_control_characters

if TYPE_CHECKING:
    from colline.pipeline.ingest import Progress, Summary
    from colline.pipeline.reading import Options


@click.command()
@click.option("--lake", envvar="COLLINE_LAKE", required=True, metavar="PATH", help="The lake (or COLLINE_LAKE).")
@click.option("--from", "folders", multiple=True, metavar="LANDING", help="Landing folder; default LAKE/landing.")
@click.option("--continuous", is_flag=True, help="Run until stopped.")
@click.option(
    "--every",
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="With --continuous: seconds between checks for new files.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(lake: str, folders: tuple[str, ...], continuous: bool, every: float, as_json: bool) -> None:
    """Bring all landed events into the Delta tables of the lake, each exactly once."""
    from colline.pipeline.ingest import IngestListener, ingest

    options, printer = replace(pipeline_options(), brief=True), ProgressPrinter(sys.stderr)
    watch = IngestListener(progress=printer.print_batch, wrote=printer.show_table, aside=printer.print_unreadable)
    # a service manager sends SIGTERM: handled as Ctrl-C
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        summary = ingest(lake, folders=folders, every=every if continuous else None, options=options, watch=watch)
    except KeyboardInterrupt:
        printer.clear_line()
        click.echo("stopped; the next ingest resumes the unfinished batch", err=True)
        sys.exit(130)
    finally:
        signal.signal(signal.SIGTERM, before)
    printer.clear_line()
    for moved in summary.moved:
        print_line(f"{moved}; `colline rebuild` assigns earlier runs to the new location", err=True)
    if summary.unread:
        print_line(_ignored_files(summary.unread), err=True)
    if as_json:
        click.echo(json.dumps(summary.to_dict()))
    else:
        print_line(_summary_line(summary))


def pipeline_options() -> Options:
    """The pipeline's options from the settings in force."""
    from colline.config import settings_from
    from colline.pipeline.parse import Limits
    from colline.pipeline.reading import Options
    from colline.pipeline.user_rules import rules_of

    settings = settings_from()
    limits = Limits(bytes=settings.max_event_bytes, days_ahead=settings.max_days_ahead)
    return Options(limits=limits, rules=rules_of(settings.rules))


class ProgressPrinter:
    """Prints a line per batch and, on a terminal, the table that was written last."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._clear = "\r\x1b[K" if stream.isatty() else ""  # clears the current line

    def show_table(self, path: str) -> None:
        """Show the table that was just written, on a terminal only."""
        if self._clear:
            self._stream.write(f"{self._clear}{path} written ")
            self._stream.flush()

    def clear_line(self) -> None:
        """Clear what `show_table` wrote."""
        self._stream.write(self._clear)
        self._stream.flush()

    def print_batch(self, progress: Progress) -> None:
        """Print the size and duration of a finished batch."""
        rate = progress.events / progress.seconds if progress.seconds else 0
        bad = f", {progress.quarantined} quarantined" if progress.quarantined else ""
        line = f"batch {progress.batch}: {progress.events} events{bad}, {progress.seconds:.1f} s ({rate:.0f}/s)"
        click.echo(f"{self._clear}{line}", file=self._stream)

    def print_unreadable(self, unreadable: str) -> None:
        """Report a corrupt file that was renamed, at once: the ingest may be stopped before its summary."""
        line = escape_control_characters(f"{unreadable}; land a complete copy under another name")
        click.echo(f"{self._clear}{line}", file=self._stream)


def _ignored_files(files: tuple[str, ...]) -> str:
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    endings = "landed files end in .ndjson, .jsonl or .json, optionally with .gz or .zst"
    return f"ignored: {files[0]}{more}; {endings}"


def _summary_line(summary: Summary) -> str:
    if not summary.batches:
        return f"nothing new in {summary.lake}"
    bad = f", {summary.quarantined} quarantined (colline quarantine list)" if summary.quarantined else ""
    return f"{summary.events} events in {summary.batches} batches, {summary.seconds:.1f} s{bad}"
