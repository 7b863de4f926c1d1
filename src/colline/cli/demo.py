"""`colline demo`: a food-delivery platform on Delta, captured, ingested, and asked every question."""

from __future__ import annotations

import shlex
import time
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
    from colline.demo import session
    from colline.demo.story import clear, play

    start = time.monotonic()
    clear(lake)
    _say("starting Spark (the first time, it fetches Delta's jar)")
    spark = session.start((lake / "platform").resolve())
    try:
        _say("two days of a food-delivery platform, captured:")
        played = play(lake, spark, _say)
        _say(f"{played.events} events in {lake / 'landing'}")
        _run(["ingest", "--lake", str(lake)])
    finally:
        spark.stop()
    _ask_all(lake, played.between.isoformat(timespec="milliseconds"))
    _say(f"\n{time.monotonic() - start:.0f} seconds in all. The lake is yours to play with:")
    _say(f"  colline find email --lake {lake}\n  colline serve --lake {lake}    # then open the page it names")


def _ask_all(lake: Path, between: str) -> None:
    from colline.demo.questions import QUESTIONS

    for question in QUESTIONS:
        click.echo(f"\n{question.title}\n  {question.why}")
        _run([*question.arguments(between), "--lake", str(lake)])


def _run(arguments: list[str]) -> None:
    """Run a command of ours as the user would, after showing it; its "no" is an answer, its error ends the demo."""
    click.echo(f"$ colline {shlex.join(arguments)}")
    try:
        cli.main(arguments, prog_name="colline", standalone_mode=False)
    except SystemExit as end:
        if end.code not in (None, 0, 1):
            raise CollineError(f"`colline {shlex.join(arguments)}` ended with {end.code}") from end


def _say(line: str) -> None:
    click.echo(line, err=True)
