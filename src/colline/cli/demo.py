"""`colline demo`: a food-delivery platform on Delta, captured, ingested, and asked every question."""

from __future__ import annotations

from pathlib import Path

import click


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

    clear(lake)
    _say("starting Spark (the first time, it fetches Delta's jar)")
    spark = session.start((lake / "platform").resolve())
    try:
        _say("two days of a food-delivery platform, captured:")
        played = play(lake, spark, _say)
        _say(f"{played.events} events in {lake / 'landing'}")
    finally:
        spark.stop()


def _say(line: str) -> None:
    click.echo(line, err=True)
