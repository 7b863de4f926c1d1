"""`colline ingest`: brings landed events into the lake."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import click

from colline.cli.print_text import print_line
from colline.terminal_text import escape_control_characters

if TYPE_CHECKING:
    from colline.pipeline.ingest_report import IngestSummary, Progress
    from colline.pipeline.parsing.payloads import Options
    from colline.pipeline.user_rules import Rules


@click.command()
@click.option("--lake", envvar="COLLINE_LAKE", required=True, metavar="PATH", help="The lake (or COLLINE_LAKE).")
@click.option(
    "--from",
    "folders",
    multiple=True,
    metavar="ADDRESS",
    help="Landing folder, or kafka://broker/topic; default LAKE/landing.",
)
@click.option("--continuous", is_flag=True, help="Run until stopped.")
@click.option(
    "--every",
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="With --continuous: seconds between checks for new files.",
)
@click.option("--until-stdin-closes", is_flag=True, hidden=True)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(
    lake: str, folders: tuple[str, ...], continuous: bool, every: float, *, until_stdin_closes: bool, as_json: bool
) -> None:
    """Bring all landed events into the Delta tables of the lake, each exactly once."""
    from colline.pipeline.sources.pending import idle_summary

    # checked before the imports of an ingest, which take as long as the check
    if not continuous and (idle := idle_summary(lake, folders)) is not None:
        _print_summary(idle, as_json=as_json)
        return
    from colline.pipeline.ingest import ingest
    from colline.pipeline.ingest_report import IngestListener

    options, printer = pipeline_options(), ProgressPrinter(sys.stderr)
    watch = IngestListener(
        progress=printer.print_batch,
        wrote=printer.show_table,
        renamed=printer.print_unreadable,
        published=printer.print_published if continuous else lambda _: None,
    )
    if until_stdin_closes:
        threading.Thread(target=_interrupt_at_end_of_stdin, daemon=True).start()
    with _exit_when_stopped(printer):
        summary = ingest(lake, from_=folders, every=every if continuous else None, options=options, watch=watch)
    printer.clear_line()
    _print_summary(summary, as_json=as_json)


@contextmanager
def _exit_when_stopped(printer: ProgressPrinter) -> Iterator[None]:
    """Ends the program with exit code 130 on Ctrl-C, and on the SIGTERM of a service manager."""
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    except KeyboardInterrupt:
        printer.clear_line()
        click.echo("stopped; the next ingest resumes the unfinished batch", err=True)
        sys.exit(130)
    finally:
        signal.signal(signal.SIGTERM, before)


def _print_summary(summary: IngestSummary, *, as_json: bool) -> None:
    if summary.ignored:
        print_line(_ignored_files(summary.ignored), err=True)
    if as_json:
        click.echo(json.dumps(summary.to_dict()))
    else:
        print_line(_summary_line(summary))


def _interrupt_at_end_of_stdin() -> None:
    """End as by Ctrl-C when the process that started this one has ended or was killed."""
    while sys.stdin.buffer.read(4096):
        pass
    os.kill(os.getpid(), signal.SIGINT)


def pipeline_options() -> Options:
    """The pipeline's options from the settings in force."""
    from colline.config import settings_from
    from colline.pipeline.parsing.event_parsing import Limits
    from colline.pipeline.parsing.payloads import Options
    from colline.pipeline.user_rules import rules_of

    settings = settings_from()
    limits = Limits(bytes=settings.max_event_bytes, days_ahead=settings.max_days_ahead)
    return Options(limits=limits, rules=_with_default_layers(rules_of(settings.rules)))


def _with_default_layers(rules: Rules) -> Rules:
    """The rules, followed by the layer of imported semantic models; a rule of the user comes first."""
    from msgspec.structs import replace as with_values

    from colline.importers import PLATINUM_ADDRESSES
    from colline.pipeline.user_rules import DatasetRule

    return with_values(rules, datasets=(*rules.datasets, DatasetRule(pattern=PLATINUM_ADDRESSES, layer="platinum")))


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
        from colline.graph.answer import count_of

        per_second = progress.events / progress.seconds if progress.seconds else 0
        rate = f" ({per_second:,.0f}/s)" if per_second >= 1 else ""
        bad = f", {progress.quarantined} quarantined" if progress.quarantined else ""
        events = count_of(progress.events, "event")
        line = f"batch {progress.batch}: {events}{bad}, {progress.seconds:.1f} s{rate}"
        click.echo(f"{self._clear}{line}", file=self._stream)

    def print_published(self, snapshot: str | None) -> None:
        """Report the snapshot that queries use from now on; None if there is no newer one."""
        click.echo(f"{self._clear}{f'published {snapshot}' if snapshot else 'up to date'}", file=self._stream)

    def print_unreadable(self, unreadable: str) -> None:
        """Report a corrupt file that was renamed, at once: the ingest may be stopped before its summary."""
        line = escape_control_characters(f"{unreadable}; land a complete copy under another name")
        click.echo(f"{self._clear}{line}", file=self._stream)


def _ignored_files(files: tuple[str, ...]) -> str:
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    endings = "landed files end in .ndjson, .jsonl or .json, optionally with .gz or .zst"
    return f"ignored: {files[0]}{more}; {endings}"


def _summary_line(summary: IngestSummary) -> str:
    if not summary.batches:
        return f"nothing new in {summary.lake}"
    bad = f", {summary.quarantined} quarantined (colline quarantine list)" if summary.quarantined else ""
    from colline.graph.answer import count_of

    events, batches = count_of(summary.events, "event"), count_of(summary.batches, "batch", "batches")
    return f"{events} in {batches}, {summary.seconds:.1f} s{bad}"
