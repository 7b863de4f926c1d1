"""`colline demo`: a food-delivery platform on Delta, captured, ingested, and asked every question."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--lake", default="demo-lake", show_default=True, metavar="PATH", type=click.Path(file_okay=False, path_type=Path),
    help="Folder to make; a second run starts clean.",
)  # fmt: skip
def command(lake: Path) -> None:
    """Run a food-delivery platform on Delta and ask every question about it."""
    from colline.demo.story import clear, play

    clear(lake)
    play(lake, lambda line: click.echo(line, err=True))
