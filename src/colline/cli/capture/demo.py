"""`colline demo`: runs an example platform on Delta, captures and ingests its lineage, and queries it."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from colline.cli import cli
from colline.errors import CollineError


@click.command()
@click.option(
    "--lake",
    default="demo-lake",
    show_default=True,
    metavar="PATH",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to create. The demo empties it on every run.",
)
def command(lake: Path) -> None:
    """Run an example platform on Delta and every query command on its lineage."""
    start = time.monotonic()
    between = _run_platform(lake)
    _run_questions(lake, between)
    _report(f"\nFinished in {time.monotonic() - start:.0f} seconds. Try it yourself:")
    program = sys.argv[0] if Path(sys.argv[0]).name == "colline" else "colline"
    colline, path = shlex.quote(program), shlex.quote(str(lake))
    _report(f"  {colline} find email --lake {path}\n  {colline} serve --lake {path}    # then open the URL it prints")


def _run_platform(lake: Path) -> str:
    """Run and ingest two captured days, and compare with Spark's event logs. Returns the time between the days."""
    from colline.demo.runner import (
        clear,
        demo_session,
        event_log_folder,
        platform_of,
        run_days,
        run_without_capture,
        write_settings,
    )
    from colline.graph.answer import count_of

    clear(lake)
    settings = write_settings(lake)
    platform = platform_of(lake)
    _report("starting Spark (the first start downloads the Delta jar)")
    with demo_session(platform, "food delivery") as spark:
        _report("running two days of a food-delivery platform, with capture:")
        captured = run_days(lake, spark, _report)
        _report(f"{count_of(captured.events, 'event')} written to {lake / 'landing'}")
    with demo_session(platform, "refund report") as spark:
        run_without_capture(lake, spark, _report)
    with demo_session(platform, "colline", has_event_log=False):
        _run_command(["ingest", "--lake", str(lake)], settings)
        click.echo("\nDid every application send its lineage?")
        click.echo("  Spark's event logs list all applications. One of them, the refund report, sent no lineage.")
        _run_command(["reconcile", "--history", str(event_log_folder(platform)), "--lake", str(lake)])
    return captured.between.isoformat(timespec="milliseconds")


def _run_questions(lake: Path, between: str) -> None:
    from colline.demo.questions import QUESTIONS

    for question in QUESTIONS:
        click.echo(f"\n{question.title}\n  {question.why}")
        _run_command([*question.arguments(between), "--lake", str(lake)])


def _run_command(arguments: list[str], settings: Path | None = None) -> None:
    """Print a colline command and run it. Exit code 1 means "no" and is fine; a higher one ends the demo."""
    variable = "" if settings is None else f"COLLINE_CONFIG={shlex.quote(str(settings))} "
    click.echo(f"$ {variable}colline {shlex.join(arguments)}")
    try:
        with _config_file(settings):
            cli.main(arguments, prog_name="colline", standalone_mode=False)
    except SystemExit as end:
        if end.code not in (None, 0, 1):
            hint = "see the error above, or run `colline doctor` to see what is missing"
            raise CollineError(f"`colline {shlex.join(arguments)}` ended with {end.code}", hint=hint) from end


@contextmanager
def _config_file(file: Path | None) -> Iterator[None]:
    """Set COLLINE_CONFIG to the file inside the block."""
    before = os.environ.get("COLLINE_CONFIG")
    if file is not None:
        os.environ["COLLINE_CONFIG"] = str(file)
    try:
        yield
    finally:
        if file is not None:
            os.environ.pop("COLLINE_CONFIG")
            os.environ.update({} if before is None else {"COLLINE_CONFIG": before})


def _report(line: str) -> None:
    click.echo(line, err=True)
