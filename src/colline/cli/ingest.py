"""`colline ingest`: bring what has landed into the lake."""

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
@click.option("--continuous", is_flag=True, help="Go on until stopped.")
@click.option(
    "--every", default=30.0, show_default=True, metavar="SECONDS", help="With --continuous: how often to look."
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(lake: str, folders: tuple[str, ...], continuous: bool, every: float, as_json: bool) -> None:
    """Bring everything that has landed into the lake's Delta tables, each event once."""
    from colline.pipeline.ingest import Watch, ingest

    options, steps = replace(given_options(), brief=True), Steps(sys.stderr)
    watch = Watch(progress=steps.batch, wrote=steps.table, aside=steps.aside)
    # a service manager ends a program with SIGTERM: the same as Ctrl-C
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        summary = ingest(lake, folders=folders, every=every if continuous else None, options=options, watch=watch)
    except KeyboardInterrupt:
        steps.over()
        click.echo("stopped; what was not finished is taken up by the next ingest", err=True)
        sys.exit(130)
    finally:
        signal.signal(signal.SIGTERM, before)
    steps.over()
    for moved in summary.moved:
        print_line(f"{moved}; `colline rebuild` tells its earlier runs of where it is now", err=True)
    if summary.unread:
        print_line(_unread(summary.unread), err=True)
    if as_json:
        click.echo(json.dumps(summary.to_dict()))
    else:
        print_line(_text(summary))


def given_options() -> Options:
    """What the settings in force here say of the pipeline."""
    from colline.config import settings_from
    from colline.pipeline.parse import Limits
    from colline.pipeline.reading import Options
    from colline.pipeline.user_rules import rules_of

    settings = settings_from()
    limits = Limits(bytes=settings.max_event_bytes, days_ahead=settings.max_days_ahead)
    return Options(limits=limits, rules=rules_of(settings.rules))


class Steps:
    """What is told of an ingest at work: a line a batch, and on a terminal the table that was written last."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._again = "\r\x1b[K" if stream.isatty() else ""  # to write over what stands in this line

    def table(self, path: str) -> None:
        """A table is written; where nobody looks, that is not worth a line."""
        if self._again:
            self._stream.write(f"{self._again}{path} written ")
            self._stream.flush()

    def over(self) -> None:
        """Leave the line to others."""
        self._stream.write(self._again)
        self._stream.flush()

    def batch(self, progress: Progress) -> None:
        """A batch is in the lake."""
        rate = progress.events / progress.seconds if progress.seconds else 0
        bad = f", {progress.quarantined} quarantined" if progress.quarantined else ""
        told = f"batch {progress.batch}: {progress.events} events{bad}, {progress.seconds:.1f} s ({rate:.0f}/s)"
        click.echo(f"{self._again}{told}", file=self._stream)

    def aside(self, unreadable: str) -> None:
        """A broken file was set aside; told at once, since the ingest may be ended before its summary."""
        told = escape_control_characters(f"{unreadable}; land it whole under another name")
        click.echo(f"{self._again}{told}", file=self._stream)


def _unread(files: tuple[str, ...]) -> str:
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    ends = "names of landed files end in .ndjson, .jsonl or .json, packed also in .gz or .zst"
    return f"not read: {files[0]}{more}; {ends}"


def _text(summary: Summary) -> str:
    if not summary.batches:
        return f"nothing new in {summary.lake}"
    bad = f", {summary.quarantined} quarantined (colline quarantine list)" if summary.quarantined else ""
    return f"{summary.events} events in {summary.batches} batches, {summary.seconds:.1f} s{bad}"
