"""`colline demo`: a food-delivery platform on Delta, captured, ingested, and asked every question."""

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
    help="Folder to make; a second run starts clean.",
)
def command(lake: Path) -> None:
    """Run a food-delivery platform on Delta and ask every question about it."""
    start = time.monotonic()
    between = _play(lake)
    _ask_all(lake, between)
    _say(f"\n{time.monotonic() - start:.0f} seconds in all. The lake is yours to play with:")
    program = sys.argv[0] if Path(sys.argv[0]).name == "colline" else "colline"
    asked, where = shlex.quote(program), shlex.quote(str(lake))
    _say(f"  {asked} find email --lake {where}\n  {asked} serve --lake {where}    # then open the page it names")


def _play(lake: Path) -> str:
    """Two days captured, one job that was not, all of it ingested and held against Spark's own history."""
    from colline.demo.runner import clear, platform_of, play, play_unwatched, write_settings
    from colline.demo.session import event_logs, started

    clear(lake)
    settings = write_settings(lake)
    root = platform_of(lake).root
    _say("starting Spark (the first time, it fetches Delta's jar)")
    with started(root, "food delivery") as spark:
        _say("two days of a food-delivery platform, captured:")
        played = play(lake, spark, _say)
        _say(f"{played.events} events in {lake / 'landing'}")
    with started(root, "refund report") as spark:
        play_unwatched(lake, spark, _say)
    with started(root, "colline", history=False):
        _run(["ingest", "--lake", str(lake)], settings)
        click.echo(
            "\nDid every job tell its lineage?\n  What was not captured cannot be answered for. Spark's event logs know"
        )
        click.echo("  what ran: one application told nothing.")
        _run(["reconcile", "--history", str(event_logs(root)), "--lake", str(lake)])
    return played.between.isoformat(timespec="milliseconds")


def _ask_all(lake: Path, between: str) -> None:
    from colline.demo.questions import QUESTIONS

    for question in QUESTIONS:
        click.echo(f"\n{question.title}\n  {question.why}")
        _run([*question.arguments(between), "--lake", str(lake)])


def _run(arguments: list[str], settings: Path | None = None) -> None:
    """Run a command of ours as the user would, after showing it; its "no" is an answer, its error ends the demo."""
    named = "" if settings is None else f"COLLINE_CONFIG={shlex.quote(str(settings))} "
    click.echo(f"$ {named}colline {shlex.join(arguments)}")
    try:
        with _with_settings(settings):
            cli.main(arguments, prog_name="colline", standalone_mode=False)
    except SystemExit as end:
        if end.code not in (None, 0, 1):
            hint = "what it said is above; `colline doctor` tells what this computer lacks"
            raise CollineError(f"`colline {shlex.join(arguments)}` ended with {end.code}", hint=hint) from end


@contextmanager
def _with_settings(file: Path | None) -> Iterator[None]:
    """The file as the one that holds the settings, for as long as this lasts."""
    before = os.environ.get("COLLINE_CONFIG")
    if file is not None:
        os.environ["COLLINE_CONFIG"] = str(file)
    try:
        yield
    finally:
        if file is not None:
            os.environ.pop("COLLINE_CONFIG")
            os.environ.update({} if before is None else {"COLLINE_CONFIG": before})


def _say(line: str) -> None:
    click.echo(line, err=True)
